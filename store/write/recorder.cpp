#include "store/write/recorder.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "protocol/events/loss.h"
#include "protocol/events/text.h"
#include "protocol/utc_time.h"
#include "store/sqlite/text_table.h"
#include "store/write/ballast.h"
#include "store/write/counters.h"
#include "store/write/device_clocks.h"
#include "store/write/participants.h"
#include "store/write/writer.h"

namespace wicprof::store {

namespace {

constexpr TimeNs kBatchAge = 20 * kMillisecond;
constexpr std::uint64_t kBatchRows = 20'000;
constexpr std::uint64_t kRowBytes = 80;              // a wait, including its share of the page
constexpr std::uint64_t kLastRowsBytes = 256 << 10;  // space for the counters beyond a limit on the trace's size

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

Stat stat_of(LossSource source) {
  switch (source) {
    case LossSource::ring:
      return Stat::ring_dropped;
    case LossSource::device_ring:
      return Stat::device_ring_dropped;
    case LossSource::cupti:
      return Stat::cupti_dropped;
    case LossSource::clock:
      return Stat::clock_lost;
    case LossSource::pc_sampling:
      return Stat::pc_samples_dropped;
    case LossSource::store:
      break;
  }
  return Stat::store_lost;
}

std::string device_detail(DeviceId device) {
  return device == kHostDevice ? "host" : "device " + std::to_string(device);
}

// What the columns of one event need: the texts of its ring and the clock of its device.
class RowLookup final : public Lookup {
 public:
  RowLookup(const TextTable& texts, Participants& participants, std::size_t ring, const ClockConverter* clock)
      : texts_(texts), participants_(participants), ring_(ring), clock_(clock) {}

  Value process() const override {
    const std::uint32_t pid = participants_.process(ring_);
    return number_or_null(pid, 0u);
  }
  Value device(DeviceId id) const override { return number(participants_.device(ring_, id)); }
  Value site(SiteId id) const override { return number_or_null(participants_.site(ring_, id), SiteId{0}); }

  Value text(TextId id) const override {
    if (id == 0) return kNull;
    if (const TextTable::Entry* entry = texts_.find(ring_, id)) return number(entry->second);
    ++missing_texts_;
    return kNull;
  }

  Value host_time(std::uint64_t device_ns) const override {
    if (clock_ == nullptr) return number(device_ns);
    const HostTime host = clock_->convert(device_ns);
    worst_error_ns_ = std::max(worst_error_ns_, host.error_ns);
    return number(host.ns);
  }

  std::uint64_t missing_texts() const { return missing_texts_; }
  TimeNs worst_error_ns() const { return worst_error_ns_; }

 private:
  const TextTable& texts_;
  Participants& participants_;
  std::size_t ring_;
  const ClockConverter* clock_;
  mutable std::uint64_t missing_texts_ = 0;
  mutable TimeNs worst_error_ns_ = 0;
};

}  // namespace

struct Recorder::State {
  State(const RecorderOptions& options, Writer open_writer, Ballast held_ballast)
      : path(options.path),
        max_bytes(options.max_bytes),
        writer(std::move(open_writer)),
        ballast(std::move(held_ballast)),
        retention(options.retention) {
    // The log and the open batch fit into the space that the ballast frees, so that the log can be folded even on a
    // full disk.
    writer.set_log_bytes(ballast.bytes() / 2);
    batch_limit = std::min(kBatchRows, ballast.bytes() / 4 / kRowBytes);
    if (max_bytes != 0) writer.set_max_bytes(max_bytes);
    batch_begin = now_ns();
  }

  void add(std::size_t ring, const EventHeader& header);
  void add_sass(const SassRow& row);
  void commit();
  void remove_some();
  void forget_ring(std::size_t ring);
  Result<> finish();
  std::uint64_t lost() const { return counters.lost(); }

  void set_meta(const std::string& key, const std::string& value) {
    meta[key] = valid_utf8(value);
    changed_meta.insert(key);
  }

  std::string path;
  std::uint64_t max_bytes;
  Writer writer;
  Ballast ballast;
  TextTable texts;
  DeviceClocks clocks;
  Participants participants;
  Counters counters;
  Retention retention;
  std::uint64_t left_out = 0;  // rows, by retention
  std::map<std::string, std::string> meta;
  std::set<std::string> changed_meta;
  struct RingCounts {
    std::uint64_t dropped = 0, corrupt = 0;                  // as last seen
    std::uint64_t earlier_dropped = 0, earlier_corrupt = 0;  // of the ring's earlier producers
  };
  std::vector<RingCounts> rings;
  std::set<std::pair<std::uint64_t, const TextTable::Entry*>> sampled;  // modules and symbols

  std::uint64_t events = 0, waits = 0;  // rows written, including the open batch
  std::uint64_t unknown = 0;
  std::uint64_t batch_events = 0, batch_waits = 0, batch_limit = kBatchRows;
  TimeNs batch_begin = 0;
  std::string stopped;
  bool finished = false;

 private:
  template <class Event, class Take>
  bool take_if(const EventHeader& header, Take&& take);
  void take(std::size_t ring, const TextEvent& event);
  void take(std::size_t ring, const LossEvent& event);
  void take(std::size_t ring, const NvtxOpenEvent& event);
  template <class Table>
  void take_row(std::size_t ring, const typename Table::Event& event);
  template <class Table>
  void take_device_time(std::size_t ring, const typename Table::Event& event);

  // What an event means besides its row.
  template <class Event>
  void note(std::size_t, const Event&) {}
  void note(std::size_t ring, const DeviceEvent& event);
  void note(std::size_t ring, const SiteEvent& event);
  void note(std::size_t ring, const PcSampleEvent& event);
  void note(std::size_t ring, const NvtxEvent& event);
  void note(std::size_t ring, const ClockEvent& event);

  std::string text(std::size_t ring, TextId id) const {
    const TextTable::Entry* entry = texts.find(ring, id);
    return entry == nullptr ? std::string() : entry->first;
  }

  template <class Table>
  void insert(const typename Table::Event& event, std::size_t ring, DeviceClock* clock);

  int intern(const std::string& text, std::int64_t& id);
  int write_state();
  void stop();
};

void Recorder::State::add(std::size_t ring, const EventHeader& header) {
  if (finished || header.kind == EventKind::padding) return;
  const auto row = [&]<class... Tables>(const std::tuple<Tables...>*) {
    return (take_if<typename Tables::Event>(header, [&](const auto& event) { take_row<Tables>(ring, event); }) || ...);
  };
  const auto rowless = [&]<class... Events>(const std::tuple<Events...>*) {
    return (take_if<Events>(header, [&](const auto& event) { take(ring, event); }) || ...);
  };
  const bool known =
      row(static_cast<const EventTables*>(nullptr)) || rowless(static_cast<const RowlessEvents*>(nullptr));
  if (!known) ++unknown;
}

// Whether the record is of that kind; one that is too short for its kind is only counted.
template <class Event, class Take>
bool Recorder::State::take_if(const EventHeader& header, Take&& take) {
  if (header.kind != Event::kKind) return false;
  if (const auto* event = event_cast<Event>(header)) {
    take(*event);
  } else {
    counters.add(Stat::damaged_records, "", 1);
  }
  return true;
}

void Recorder::State::take(std::size_t ring, const TextEvent& event) {
  if (!stopped.empty()) return;
  bool is_new = false;
  const TextTable::Entry& entry = texts.intern(valid_utf8(text_of(event)), is_new);
  texts.bind(ring, event.id, entry);
  if (is_new && writer.insert_string(entry.second, entry.first) != 0) stop();
}

void Recorder::State::take(std::size_t ring, const LossEvent& event) {
  std::string detail = device_detail(participants.device(ring, event.device));
  if (const TextTable::Entry* reason = texts.find(ring, event.reason)) detail += ": " + reason->first;
  counters.add(stat_of(event.source), detail, event.count);
}

void Recorder::State::take(std::size_t ring, const NvtxOpenEvent& event) {
  retention.range_opened(ring, event.thread, text(ring, event.name), text(ring, event.domain), event.start_ns);
}

template <class Table>
void Recorder::State::take_row(std::size_t ring, const typename Table::Event& event) {
  if constexpr (has_device_time<Table>()) {
    take_device_time<Table>(ring, event);
  } else {
    note(ring, event);
    insert<Table>(event, ring, nullptr);
  }
}

template <class Table>
void Recorder::State::take_device_time(std::size_t ring, const typename Table::Event& event) {
  if (event.device == kHostDevice) return insert<Table>(event, ring, nullptr);
  const DeviceId device = participants.device(ring, event.device);
  DeviceClock& clock = clocks.of(device);
  if (clock.converter.ready()) return insert<Table>(event, ring, &clock);
  if (!clock.hold({ring, event})) counters.add(Stat::clock_lost, device_detail(device), 1);
}

void Recorder::State::note(std::size_t ring, const DeviceEvent& event) {
  participants.add_device(ring, event.device, text(ring, event.uuid));
  // The row may be new: what is known about its clock has yet to be written to it.
  clocks.of(participants.device(ring, event.device)).error_changed = true;
}

void Recorder::State::note(std::size_t ring, const SiteEvent& event) {
  participants.add_site(ring, event.site, text(ring, event.name));
}

void Recorder::State::note(std::size_t ring, const PcSampleEvent& event) {
  if (const TextTable::Entry* symbol = texts.find(ring, event.symbol)) sampled.insert({event.module, symbol});
}

void Recorder::State::note(std::size_t ring, const NvtxEvent& event) {
  if (event.kind != NvtxKind::range || retention.plan().ranges.empty()) return;
  retention.range_ended(ring, event.thread, text(ring, event.name), text(ring, event.domain), event.start_ns,
                        event.end_ns);
}

void Recorder::State::note(std::size_t ring, const ClockEvent& event) {
  const DeviceId device = participants.device(ring, event.device);
  DeviceClock& clock = clocks.of(device);
  if (!clock.converter.add({event.device_ns, event.host_ns, TimeNs{event.error_ns}})) {
    counters.add(Stat::clock_refused, device_detail(device), 1);
  }
  clock.error_changed = true;
  const std::vector<HeldEvent> held = std::exchange(clock.held, {});
  for (const HeldEvent& one : held) {
    for_each_table<DeviceTimeTables>([&]<class Table>(Type<Table>) {
      if (const auto* timed = std::get_if<typename Table::Event>(&one.event)) insert<Table>(*timed, one.ring, &clock);
    });
  }
}

template <class Table>
void Recorder::State::insert(const typename Table::Event& event, std::size_t ring, DeviceClock* clock) {
  if (!stopped.empty()) return counters.add(Stat::store_lost, "", 1);
  const RowLookup lookup(texts, participants, ring, clock == nullptr ? nullptr : &clock->converter);
  if (retention.plan().fixed() && retention.outside<Table>(event, lookup)) {
    ++left_out;
    return;
  }
  const int code = writer.insert<Table>(event, lookup);
  ++events;
  ++batch_events;
  if constexpr (std::is_same_v<Table, WaitTable>) {
    ++waits;
    ++batch_waits;
  }
  if (code != 0) return stop();
  if (lookup.missing_texts() != 0) counters.add(Stat::missing_texts, "", lookup.missing_texts());
  if (clock != nullptr && lookup.worst_error_ns() > clock->worst_error_ns) {
    clock->worst_error_ns = lookup.worst_error_ns();
    clock->error_changed = true;
  }
  if (batch_events >= batch_limit) commit();
}

void Recorder::State::add_sass(const SassRow& row) {
  if (finished) return;
  if (!stopped.empty()) return counters.add(Stat::store_lost, "", 1);
  std::int64_t symbol = 0, text = 0, file = 0;
  int code = intern(valid_utf8(row.symbol), symbol);
  if (code == 0) code = intern(valid_utf8(row.text), text);
  if (code == 0 && !row.file.empty()) code = intern(valid_utf8(row.file), file);
  const Value target = row.target ? number(*row.target) : kNull;
  if (code == 0) {
    code = writer.put_sass({number(row.module).integer, symbol, number(row.offset).integer, text, target,
                            number_or_null(file, std::int64_t{0}), number_or_null(row.line, 0u)});
  }
  ++events;
  ++batch_events;
  if (code != 0) return stop();
  if (batch_events >= batch_limit) commit();
}

int Recorder::State::intern(const std::string& text, std::int64_t& id) {
  bool is_new = false;
  id = texts.intern(text, is_new).second;
  return is_new ? writer.insert_string(id, text) : 0;
}

// Writes everything but the events' rows, and commits.
int Recorder::State::write_state() {
  counters.set(Stat::events, "", events);
  counters.set(Stat::waits, "", waits);
  if (unknown != 0) counters.set(Stat::unknown_records, "", unknown);
  if (left_out != 0) counters.set(Stat::rows_left_out, "", left_out);
  for (std::size_t i = 0; i < counters.all().size(); ++i) {
    Counter& counter = counters.all()[i];
    if (!counter.changed) continue;
    const StatInfo& info = stat_info(counter.stat);
    std::int64_t name = 0, detail = 0;
    if (const int code = intern(std::string(info.name), name); code != 0) return code;
    if (!counter.detail.empty()) {
      if (const int code = intern(counter.detail, detail); code != 0) return code;
    }
    const int code = writer.put_stat(static_cast<std::int64_t>(i) + 1, name, detail,
                                     static_cast<std::int64_t>(info.severity), counter.value);
    if (code != 0) return code;
  }
  for (auto& [device, clock] : clocks.all()) {
    if (!clock.error_changed || !clock.converter.ready()) continue;
    if (const int code = writer.put_clock_error(device, clock.worst_error_ns); code != 0) return code;
  }
  for (const std::string& key : changed_meta) {
    if (const int code = writer.put_meta(key, meta[key]); code != 0) return code;
  }
  if (const int code = writer.commit(); code != 0) return code;
  for (Counter& counter : counters.all()) counter.changed = false;
  for (auto& [device, clock] : clocks.all()) clock.error_changed = false;
  changed_meta.clear();
  return 0;
}

void Recorder::State::commit() {
  batch_begin = now_ns();
  if (write_state() != 0) return stop();
  batch_events = batch_waits = 0;
}

void Recorder::State::remove_some() {
  if (!stopped.empty() || !retention.due(now_ns())) return;
  int code = writer.begin();
  if (code == 0) code = retention.remove_some(writer, now_ns(), left_out);
  if (code == 0) code = writer.commit();
  if (code != 0) stop();
}

void Recorder::State::forget_ring(std::size_t ring) {
  texts.forget_ring(ring);
  participants.forget_ring(ring);
  retention.forget_producer(ring, now_ns());
  if (ring < rings.size()) {
    RingCounts& counts = rings[ring];
    counts.earlier_dropped += std::exchange(counts.dropped, 0);
    counts.earlier_corrupt += std::exchange(counts.corrupt, 0);
  }
  // The held events' process is unknown once the ring has another producer.
  for (auto& [device, clock] : clocks.all()) {
    const auto of_it = [ring](const HeldEvent& held) { return held.ring == ring; };
    counters.add(Stat::clock_lost, device_detail(device), std::erase_if(clock.held, of_it));
  }
}

// Writing has failed, usually because the disk is full: the open batch and every later event are lost. The ballast's
// space takes the counters.
void Recorder::State::stop() {
  const bool first = stopped.empty();
  const std::string reason = writer.message();
  writer.roll_back();
  texts.clear(writer.next_string_id());
  sampled.clear();  // its pointers went with the texts
  counters.mark_all_changed();
  for (const auto& [key, value] : meta) changed_meta.insert(key);
  for (auto& [device, clock] : clocks.all()) clock.error_changed = true;
  if (!first) return;  // the counters did not fit either; finish() tries once more

  stopped = "writing to " + path + " stopped (" + reason + "); ";
  stopped += max_bytes == 0 ? "free some room, or write the trace elsewhere with -o"
                            : "it may not grow beyond " + std::to_string(max_bytes) + " bytes";
  events -= batch_events;
  waits -= batch_waits;
  counters.add(Stat::store_lost, "", batch_events);
  counters.set(Stat::store_stopped, reason, 1);
  batch_events = batch_waits = 0;
  ballast.release();
  if (max_bytes != 0) writer.set_max_bytes(max_bytes + kLastRowsBytes);
  if (write_state() != 0) return stop();
  writer.empty_log();
}

Result<> Recorder::State::finish() {
  if (finished) return ok();
  finished = true;
  for (auto& [device, clock] : clocks.all()) {
    counters.add(Stat::clock_lost, device_detail(device), clock.held.size());
    clock.held.clear();
  }
  if (stopped.empty()) commit();
  if (stopped.empty() && retention.plan().removes()) {
    const TimeNs end = meta.contains("ended_ns") ? std::strtoll(meta["ended_ns"].c_str(), nullptr, 10) : now_ns();
    int code = writer.begin();
    if (code == 0) code = retention.remove_rest(writer, end, left_out);
    if (code == 0) code = writer.commit();
    if (code != 0) stop();
    if (!retention.plan().ranges.empty()) set_meta("capture_windows", std::to_string(retention.windows()));
  }
  const auto complete = [&](const std::string& sql) { return stopped.empty() && writer.in_transaction(sql) == 0; };
  if (!complete(create_signal_index_sql()) || !complete(match_signals_sql())) {
    if (waits != 0) counters.set(Stat::not_matched, "", 1);
  }
  if (!complete(create_indexes_sql())) counters.set(Stat::not_indexed, "", 1);
  if (!stopped.empty() || writer.make_summaries() != 0) counters.set(Stat::not_summarised, "", 1);

  if (!meta.contains("ended_ns")) set_meta("ended_ns", std::to_string(now_ns()));
  set_meta("state", "complete");
  if (write_state() != 0) {
    stop();  // frees the ballast and tries again
    if (!changed_meta.empty() && write_state() != 0) writer.roll_back();
  }
  const bool written = changed_meta.empty();
  ballast.release();
  if (written && retention.plan().removes()) writer.give_free_pages_back();
  writer.fold();
  writer.close();
  if (!stopped.empty()) {
    return unavailable(stopped + ". " + std::to_string(counters.lost()) +
                       " events are lost; what was written before is in " + path +
                       (written ? "" : ", which does not say so"));
  }
  return ok();
}

Result<Recorder> Recorder::create(const RecorderOptions& options) {
  Result<Writer> writer = Writer::open(options.path, options.overwrite);
  if (!writer) return writer.error();
  Result<Ballast> ballast = Ballast::take(options.path);
  if (!ballast) {
    writer->close();
    unlink(options.path.c_str());
    return ballast.error();
  }
  auto state = std::make_unique<State>(options, std::move(*writer), std::move(*ballast));
  state->set_meta("started_ns", std::to_string(now_ns()));
  state->set_meta("started_utc", utc_time());
  state->set_meta("host", host_name());
  state->set_meta("wic_prof_version", WIC_PROF_VERSION);
  for (const auto& [key, value] : options.meta) state->set_meta(key, value);
  state->set_meta("state", "recording");
  state->commit();
  if (!state->stopped.empty()) {
    Error error = unavailable(state->stopped);
    state->writer.close();
    unlink(options.path.c_str());
    return error;
  }
  return Recorder(std::move(state));
}

Recorder::Recorder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&&) noexcept = default;

Recorder::~Recorder() {
  // Without finish() the trace keeps its rows and stays marked as incomplete.
  if (state_ != nullptr && !state_->finished && state_->stopped.empty()) state_->commit();
}

void Recorder::add(std::size_t ring, const EventHeader& event) { state_->add(ring, event); }

void Recorder::set_ring_dropped(std::size_t ring, std::uint64_t dropped, std::uint64_t corrupt) {
  if (ring >= state_->rings.size()) state_->rings.resize(ring + 1);
  State::RingCounts& counts = state_->rings[ring];
  if (counts.dropped == dropped && counts.corrupt == corrupt) return;
  counts.dropped = dropped;
  counts.corrupt = corrupt;
  const std::string detail = "ring " + std::to_string(ring);
  if (dropped != 0) state_->counters.set(Stat::ring_dropped, detail, counts.earlier_dropped + dropped);
  if (corrupt != 0) state_->counters.set(Stat::ring_corrupt, detail, counts.earlier_corrupt + corrupt);
}

void Recorder::set_ring_process(std::size_t ring, std::uint32_t pid) { state_->participants.set_process(ring, pid); }

void Recorder::forget_ring(std::size_t ring) { state_->forget_ring(ring); }

void Recorder::set_capture_window(TimeNs from, TimeNs until) { state_->retention.set_fixed(from, until); }

void Recorder::set_stat(Stat stat, const std::string& detail, std::uint64_t value) {
  state_->counters.set(stat, detail, value);
}

void Recorder::tick() {
  State& state = *state_;
  if (!state.stopped.empty() || state.finished) return;
  if (now_ns() - state.batch_begin < kBatchAge) return;
  if (state.batch_events != 0 || state.counters.changed() || !state.changed_meta.empty()) state.commit();
  state.remove_some();
}

void Recorder::set_meta(const std::string& key, const std::string& value) { state_->set_meta(key, value); }

SampledFunctions Recorder::sampled_functions() const {
  SampledFunctions functions;
  for (const auto& [module, symbol] : state_->sampled) functions[module].insert(symbol->first);
  return functions;
}

void Recorder::add_sass(const SassRow& row) { state_->add_sass(row); }

Result<> Recorder::finish() { return state_->finish(); }

RecorderProgress Recorder::progress() const {
  const State& state = *state_;
  return {state.events, state.waits, state.lost(), state.unknown, state.stopped};
}

}  // namespace wicprof::store
