#include "store/write/trace_output.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_set>
#include <utility>

#include "protocol/file_size_limit.h"
#include "protocol/limit_words.h"
#include "protocol/strategy.h"
#include "store/write/summary_aside.h"

namespace wicprof::store {

namespace {

// A live reader sees rows at most this late (Recorder::tick).
constexpr TimeNs kBatchAge = 20 * kMillisecond;
constexpr std::uint64_t kBatchRows = 20'000;
// From so many events on, summaries are read while the trace is matched and indexed. Not calibrated: that takes 0.1 s.
constexpr std::uint64_t kManyEvents = 100'000;
constexpr std::uint64_t kSpareFiles = 4;
constexpr std::uint64_t kRowBytes = 80;  // a wait, including its share of the page
// Texts are forgotten, or removed from the trace, from these numbers on, and again when as many have been added as were
// left. Not calibrated: a usual program has some thousand texts of about a hundred bytes.
constexpr std::size_t kManyTexts = 1'000'000;
constexpr std::size_t kManyTextBytes = std::size_t{256} << 20;
constexpr std::size_t kManyWrittenTexts = 50'000;
constexpr std::size_t kManyWrittenTextBytes = std::size_t{8} << 20;
constexpr std::uint64_t kLastRowsBytes = 256 << 10;  // space for the counters beyond a limit on the trace's size

// The system's limit on file sizes is a limit on the trace's size: SQLite meets its own limit with less trouble than a
// failing write. 0 = no limit.
std::uint64_t within_file_size_limit(std::uint64_t max_bytes) {
  const std::optional<std::uint64_t> limit = file_size_limit();
  if (!limit) return max_bytes;
  const std::uint64_t most = *limit > 3 * kLastRowsBytes ? *limit - 2 * kLastRowsBytes : kLastRowsBytes;
  return max_bytes == 0 ? most : std::min(max_bytes, most);
}

}  // namespace

TraceOutput::TraceOutput(std::string path, std::uint64_t max_bytes, Writer writer, Ballast ballast,
                         DeviceClocks& clocks)
    : path_(std::move(path)),
      max_bytes_(within_file_size_limit(max_bytes)),
      limited_by_system_(max_bytes_ != max_bytes),
      writer_(std::move(writer)),
      ballast_(std::move(ballast)),
      clocks_(&clocks),
      texts_limit_(kManyTexts),
      text_bytes_limit_(kManyTextBytes),
      written_texts_limit_(kManyWrittenTexts),
      written_text_bytes_limit_(kManyWrittenTextBytes),
      // The log and the open batch fit into the space that the ballast frees, so that the log can be folded even on a
      // full disk.
      batch_limit_(std::min(kBatchRows, ballast_.bytes() / 4 / kRowBytes)),
      batch_begin_(now_ns()) {
  writer_.set_log_bytes(ballast_.bytes() / 2);
  if (max_bytes_ != 0) writer_.set_max_bytes(max_bytes_);
}

void TraceOutput::bind_text(std::size_t ring, TextId number, const std::string& text) {
  texts_.bind(ring, number, texts_.intern(valid_utf8(text)), text.size());
  bound_texts();
}

// Bounds the memory. A text that comes again gets a second row.
void TraceOutput::bound_texts() {
  if (texts_.size() < texts_limit_ && texts_.bytes() < text_bytes_limit_) return;
  texts_.forget_unbound();
  texts_limit_ = std::max(kManyTexts, 2 * texts_.size());
  text_bytes_limit_ = std::max(kManyTextBytes, 2 * texts_.bytes());
}

int TraceOutput::write_text(const TextTable::Entry& text) {
  ++written_texts_;
  written_text_bytes_ += text.first.size();
  return writer_.insert_string(text.second, text.first);
}

void TraceOutput::write_texts(const std::vector<const TextTable::Entry*>& texts) {
  for (const TextTable::Entry* text : texts) {
    if (stopped()) return;
    if (write_text(*text) != 0) stop();
  }
}

void TraceOutput::remove_unused_texts() {
  if (stopped() || (written_texts_ < written_texts_limit_ && written_text_bytes_ < written_text_bytes_limit_)) return;
  transaction([&](Writer& writer) {
    std::unordered_set<std::int64_t> used;
    if (const int code = writer.each_used_text([&](std::int64_t id) { used.insert(id); }); code != 0) return code;
    std::size_t kept_bytes = 0;
    const int code = writer.remove_texts([&](std::int64_t id) { return !used.contains(id); }, kept_bytes);
    texts_.forget_ids_but(used);
    written_texts_ = written_text_bytes_ = 0;
    written_texts_limit_ = std::max(kManyWrittenTexts, used.size());
    written_text_bytes_limit_ = std::max(kManyWrittenTextBytes, kept_bytes);
    return code;
  });
}

bool TraceOutput::lose_row() {
  counters_.add(Stat::store_lost, "", 1);
  return false;
}

bool TraceOutput::count_row(int code, bool wait) {
  ++events_;
  ++batch_events_;
  waits_ += wait ? 1 : 0;
  batch_waits_ += wait ? 1 : 0;
  if (code != 0) stop();
  return code == 0;
}

void TraceOutput::insert(const SassRow& row) {
  if (stopped()) {
    lose_row();
    return;
  }
  std::int64_t symbol = 0, text = 0, file = 0;
  int code = intern(valid_utf8(row.symbol), symbol);
  if (code == 0) code = intern(valid_utf8(row.text), text);
  if (code == 0 && !row.file.empty()) code = intern(valid_utf8(row.file), file);
  const Value target = row.target ? number(*row.target) : kNull;
  if (code == 0) {
    code = writer_.put_sass({number(row.module).integer, symbol, number(row.offset).integer, text, target,
                             number_or_null(file, std::int64_t{0}), number_or_null(row.line, 0u)});
  }
  if (count_row(code, false)) commit_if_full();
}

bool TraceOutput::commit_if_old(TimeNs now) {
  if (stopped() || now - batch_begin_ < kBatchAge) return false;
  if (batch_events_ != 0 || counters_.changed() || !meta_.changed().empty()) commit();
  return true;
}

void TraceOutput::commit() {
  batch_begin_ = now_ns();
  const Place place = look_at_place();
  if (place == Place::emptied || place == Place::log_cut || write_state() != 0) return stop();
  batch_events_ = batch_waits_ = 0;
}

void TraceOutput::transaction(const std::function<int(Writer&)>& work) {
  int code = writer_.begin();
  if (code == 0) code = work(writer_);
  if (code == 0) code = writer_.commit();
  if (code != 0) stop();
}

int TraceOutput::intern(const std::string& text, std::int64_t& id) {
  TextTable::Entry& entry = texts_.intern(text);
  const bool is_new = texts_.give_id(entry);
  id = entry.second;
  return is_new ? write_text(entry) : 0;
}

int TraceOutput::write_counters() {
  for (std::size_t i = 0; i < counters_.all().size(); ++i) {
    const Counter& counter = counters_.all()[i];
    if (!counter.changed) continue;
    const StatInfo& info = stat_info(counter.stat);
    std::int64_t name = 0, detail = 0;
    if (const int code = intern(std::string(info.name), name); code != 0) return code;
    if (!counter.detail.empty()) {
      if (const int code = intern(counter.detail, detail); code != 0) return code;
    }
    const int code = writer_.put_stat(static_cast<std::int64_t>(i) + 1, name, detail,
                                      static_cast<std::int64_t>(info.severity), counter.value);
    if (code != 0) return code;
  }
  return 0;
}

// Writes everything but the events' rows, and commits.
int TraceOutput::write_state() {
  counters_.set(Stat::events, "", events_);
  counters_.set(Stat::waits, "", waits_);
  if (unknown_ != 0) counters_.set(Stat::unknown_records, "", unknown_);
  if (left_out_ != 0) counters_.set(Stat::rows_left_out, "", left_out_);
  if (const int code = write_counters(); code != 0) return code;
  for (auto& [device, clock] : clocks_->all()) {
    if (!clock.error_changed || !clock.converter.ready()) continue;
    if (const int code = writer_.put_clock_error(device, clock.worst_error_ns); code != 0) return code;
  }
  for (const MetaKey key : meta_.changed()) {
    if (const int code = writer_.put_meta(std::string(name_of(key)), *meta_.find(key)); code != 0) return code;
  }
  if (const int code = writer_.commit(); code != 0) return code;
  counters_.mark_written();
  for (auto& [device, clock] : clocks_->all()) clock.error_changed = false;
  meta_.mark_written();
  return 0;
}

Place TraceOutput::look_at_place() {
  const Place place = writer_.place().look();
  switch (place) {
    case Place::there:
    case Place::emptied:
    case Place::log_cut:
      news_.clear();
      break;
    case Place::moved:
      news_ = path_ + " was moved to " + writer_.place().name_now() + " while it is recorded; recording goes on there";
      break;
    case Place::removed:
      news_ = path_ + " was removed while it is recorded; recording goes on, and writes it again at the end";
      break;
    case Place::replaced:
      news_ = "another file took the name " + path_ +
              " while the trace is recorded; recording goes on, and writes the trace beside it at the end";
      break;
  }
  if (place == Place::removed || place == Place::replaced) writer_.place().remove_log_names();
  return place;
}

// The open batch's rows are lost, and counted so.
void TraceOutput::lose_batch(const std::string& reason) {
  writer_.roll_back();
  texts_.forget_ids();  // some of their rows were rolled back
  counters_.mark_all_changed();
  meta_.mark_all_changed();
  for (auto& [device, clock] : clocks_->all()) clock.error_changed = true;
  events_ -= batch_events_;
  waits_ -= batch_waits_;
  counters_.add(Stat::store_lost, reason, batch_events_);
  batch_events_ = batch_waits_ = 0;
}

// The rows since the log was last folded.
void TraceOutput::lose_log() {
  std::uint64_t kept = 0;
  if (writer_.restart_without_log() == 0) {
    kept = static_cast<std::uint64_t>(
        writer_.integer("SELECT t.value FROM stat t JOIN string n ON n.id = t.name_id WHERE n.value = 'events'"));
    waits_ = static_cast<std::uint64_t>(
        writer_.integer("SELECT t.value FROM stat t JOIN string n ON n.id = t.name_id WHERE n.value = 'waits'"));
  }
  counters_.add(Stat::store_lost, "", events_ - std::min(events_, kept));
  events_ = std::min(events_, kept);
}

std::string TraceOutput::cure() const {
  switch (writer_.fault()) {
    case Fault::no_memory:
      return memory_cure();
    case Fault::no_room:
      if (limited_by_system_) return "raise ulimit -f";
      if (max_bytes_ != 0) return "it may not grow beyond " + std::to_string(max_bytes_) + " bytes";
      return "free some space, or write the trace elsewhere with -o";
    case Fault::busy:
      if (!writer_.holder().empty()) return "end that program, or write the trace elsewhere with -o";
      [[fallthrough]];
    default:
      return "check that disk, or write the trace elsewhere with -o";
  }
}

void TraceOutput::stop() {
  const bool first = !stopped();
  const Place place = writer_.place().look();
  if (first && place == Place::there && writer_.lost_index()) return lose_batch("the index of its log was cut");
  const bool damaged = place == Place::emptied || place == Place::log_cut;
  const std::string reason = place == Place::emptied   ? "others emptied the file"
                             : place == Place::log_cut ? "others cut its log"
                                                       : writer_.message();
  const std::string then = damaged ? "keep others from its files" : cure();
  lose_batch("");
  if (!first) return;  // the counters did not fit either; close() tries once more
  if (place == Place::log_cut) lose_log();

  stopped_ = "writing to " + path_ + " stopped (" + reason + "); " + then;
  counters_.set(Stat::store_stopped, reason, 1);
  ballast_.release();
  if (place == Place::emptied) return;
  if (max_bytes_ != 0) writer_.set_max_bytes(max_bytes_ + kLastRowsBytes);
  if (write_state() != 0) return stop();
  writer_.empty_log();
}

// A reader keeps SQLite from using the log's space again, so that the log takes what is written meanwhile: about as
// much as the file.
bool TraceOutput::may_read_aside() {
  return !stopped() && writer_.place().look() == Place::there && events_ >= kManyEvents && max_bytes_ == 0 &&
         std::thread::hardware_concurrency() > 1 && free_beside(path_) > kSpareFiles * writer_.file_bytes();
}

void TraceOutput::derive(const FinishWatch& watch) {
  bool given_up = false;
  const auto goes_on = [&](FinishStep step, std::optional<double> part) {
    given_up = given_up || (watch && !watch(step, part));
    return !given_up;
  };
  const auto begin = [&](FinishStep step) {
    given_up = false;
    writer_.set_watch([&goes_on, step] { return goes_on(step, std::nullopt); });
  };
  const auto missing = [&](Stat stat) { counters_.set(stat, given_up ? "given up: it took too long" : "", 1); };
  const std::unique_ptr<SummaryAside> aside = may_read_aside() ? SummaryAside::begin(path_) : nullptr;
  begin(FinishStep::matching);
  if ((stopped() || writer_.match_waits() != 0) && waits_ != 0) missing(Stat::not_matched);
  begin(FinishStep::indexing);
  if (stopped() || writer_.in_transaction(create_indexes_sql()) != 0) missing(Stat::not_indexed);
  begin(FinishStep::summarising);
  const auto look = [&](double part) { return goes_on(FinishStep::summarising, part); };
  std::optional<Summary> summary = aside ? aside->finish(look) : std::nullopt;
  const auto summarise = [&] { return summary ? writer_.put_summaries(*summary, look) : writer_.make_summaries(look); };
  if (stopped() || given_up || summarise() != 0) missing(Stat::not_summarised);
  writer_.set_watch({});
}

Result<> TraceOutput::continue_from(TraceOutput& earlier) {
  std::int64_t mode = -1;
  if (earlier.look_at_place() != Place::there) {
    return unavailable("cannot copy the declarations of " + earlier.path_ + " to " + path_ +
                       ": it is not there any more");
  }
  if (writer_.copy_lasting_rows(earlier.path_, mode) != 0) {
    return unavailable("cannot copy the declarations of " + earlier.path_ + " to " + path_ + ": " + writer_.message());
  }
  texts_ = std::exchange(earlier.texts_, TextTable());
  earlier.texts_.start_at(texts_.next());
  texts_.forget_ids();
  texts_.forget_unbound();  // this trace has no row of theirs, and no record refers to them
  counters_ = earlier.counters_.next_segment();
  meta_ = earlier.meta_;
  if (mode == static_cast<std::int64_t>(Mode::poll) || mode == static_cast<std::int64_t>(Mode::park)) {
    meta_.set(MetaKey::mode, std::string(mode_name(static_cast<Mode>(mode))));
  }
  for (const MetaKey ended :
       {MetaKey::ended_ns, MetaKey::state, MetaKey::dump_rule, MetaKey::dump_why, MetaKey::dump_at_ns,
        MetaKey::dump_at_utc, MetaKey::dump_value_ns, MetaKey::dump_limit_ns, MetaKey::dump_suppressed}) {
    meta_.remove(ended);
  }
  meta_.mark_all_changed();
  return ok();
}

Result<> TraceOutput::close(bool shrink) {
  Place before = look_at_place();
  if (before == Place::log_cut && !stopped()) {
    stop();
    before = look_at_place();
  }
  if (before == Place::emptied) {
    if (!stopped()) stop();
    writer_.leave_log();
    writer_.place().remove_log_names();
    writer_.close();
    lost_ = true;
    return unavailable(path_ + " was emptied while it was recorded");
  }
  if (write_state() != 0) {
    stop();  // frees the ballast and tries again
    if (!meta_.changed().empty() && write_state() != 0) writer_.roll_back();
  }
  const bool written = meta_.changed().empty();
  ballast_.release();
  writer_.place().expect_shrinking();
  if (written && shrink) writer_.give_free_pages_back();
  Fault folded = Fault::none;
  if (before == Place::there || before == Place::moved) {
    folded = fault_of(writer_.fold());
  } else {
    // SQLite removes the log by its name, which may be another trace's by now.
    writer_.empty_log();
    writer_.leave_log();
  }
  const std::string reason = writer_.message();
  const Result<> placed = settle();
  writer_.close();
  // Beside readers, too, the log stays; they put it into the trace.
  if (placed && !stopped() && (folded == Fault::input_output || folded == Fault::no_room)) {
    return unavailable(path_ + " still needs its log " + path_ + "-wal, which could not be put into it (" + reason +
                       "); keep both together: the next command that reads them tries again");
  }
  if (!placed || !stopped()) return placed;
  const std::string lost = counters_.lost() == 0 ? "" : ". " + std::to_string(counters_.lost()) + " events are lost";
  return unavailable(stopped_ + lost + "; " + path_ + " has what was written before" +
                     (written ? "" : ", and does not record the loss"));
}

// The folded trace's name: gives it back, or says where the trace is.
Result<> TraceOutput::settle() {
  const Place place = look_at_place();
  if (place == Place::moved) {
    const std::string name = writer_.place().name_now();
    news_ = path_ + " was moved to " + name + " while it was recorded";
    path_ = name;
  }
  if (place != Place::removed && place != Place::replaced) return ok();
  news_.clear();
  const std::string what = place == Place::removed ? path_ + " was removed while it was recorded"
                                                   : "another file took the name " + path_ + " while it was recorded";
  const Result<std::string> again = writer_.place().write_again();
  if (again && *again == path_) {
    news_ = what + ", and is written again";
    return ok();
  }
  lost_ = true;
  if (!again) return unavailable(what + "; " + again.error().message);
  path_ = *again;
  return unavailable(what + "; what was recorded is in " + path_);
}

}  // namespace wicprof::store
