#include "store/write/recorder.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "protocol/utc_time.h"
#include "store/format/trace_file.h"
#include "store/write/ballast.h"
#include "store/write/device_clocks.h"
#include "store/write/event_intake.h"
#include "store/write/ring_losses.h"
#include "store/write/trace_output.h"
#include "store/write/writer.h"

namespace wicprof::store {

namespace {

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

struct Recorder::State {
  State(RecorderOptions of, Writer writer, Ballast ballast)
      : options(std::move(of)),
        output(std::make_unique<TraceOutput>(options.path, options.max_bytes, std::move(writer), std::move(ballast),
                                             clocks)),
        retention(options.retention) {}
  /// Of an ended segment.
  State(RecorderOptions of, std::unique_ptr<TraceOutput> ended, Retention kept, SampledFunctions sampled)
      : options(std::move(of)),
        output(std::move(ended)),
        retention(std::move(kept)),
        functions(std::move(sampled)),
        is_ended(true) {
    output->use_clocks(clocks);
  }

  void remove_some();
  void expect_times();
  Result<Recorder> next_segment(const std::string& path);
  Result<> finish(const FinishWatch& watch);

  RecorderOptions options;
  DeviceClocks clocks;
  std::unique_ptr<TraceOutput> output;
  Retention retention;
  EventIntake intake{*output, clocks, retention, options.tally};
  RingLosses ring_losses;
  SampledFunctions functions;  // of an ended segment
  bool is_ended = false;       // takes no more events
  bool finished = false;
  RecorderProgress earlier;  // of the segments before this one
  std::map<Stat, std::uint64_t> earlier_losses;
};

void Recorder::State::remove_some() {
  const TimeNs now = options.clock();
  if (output->stopped() || !retention.due(now)) return;
  output->transaction([&](Writer& writer) {
    std::uint64_t removed = 0;
    const int code = retention.remove_some(writer, now, removed);
    output->count_left_out(removed);
    return code;
  });
  output->remove_unused_texts();
}

void Recorder::State::expect_times() {
  if (options.began != 0) intake.expect_times(PlausibleTimes::between(options.began, options.clock()));
}

Result<> Recorder::State::finish(const FinishWatch& watch) {
  if (finished) return ok();
  finished = true;
  intake.lose_held();
  if (!output->stopped()) output->commit();
  TraceMeta& meta = output->meta();
  if (!output->stopped() && retention.plan().removes()) {
    const std::string* ended = meta.find(MetaKey::ended_ns);
    const TimeNs end = ended != nullptr ? std::strtoll(ended->c_str(), nullptr, 10) : options.clock();
    output->transaction([&](Writer& writer) {
      std::uint64_t removed = 0;
      const int code = retention.remove_rest(writer, end, removed);
      output->count_left_out(removed);
      return code;
    });
    if (retention.plan().keep_last != 0) {
      TimeNs from = retention.kept_from(end);
      for (const MetaKey key : {MetaKey::started_ns, MetaKey::capture_from_ns}) {
        if (const std::string* begin = meta.find(key))
          from = std::max(from, TimeNs{std::strtoll(begin->c_str(), nullptr, 10)});
      }
      meta.set(MetaKey::capture_from_ns, std::to_string(from));
    }
    if (!retention.plan().ranges.empty()) meta.set(MetaKey::capture_windows, std::to_string(retention.windows()));
  }
  output->derive(watch);
  if (meta.find(MetaKey::ended_ns) == nullptr) meta.set(MetaKey::ended_ns, std::to_string(options.clock()));
  meta.set(MetaKey::state, "complete");
  return output->close(retention.plan().removes());
}

namespace {

struct NewFile {
  Writer writer;
  Ballast ballast;
};

Result<NewFile> make_file(const std::string& path, const RecorderOptions& options) {
  NewTrace made(path);
  Result<Writer> writer = Writer::open(path, options.overwrite, options.patience);
  if (!writer) return writer.error();
  made.made();
  Result<Ballast> ballast = Ballast::take(path);
  if (!ballast) return ballast.error();
  NewFile file{std::move(*writer), std::move(*ballast)};
  made.keep();
  return Result<NewFile>(std::move(file));
}

void begin_meta(TraceMeta& meta, TimeNs now) {
  meta.set(MetaKey::started_ns, std::to_string(now));
  meta.set(MetaKey::started_utc, utc_time());
  meta.set(MetaKey::state, "recording");
}

}  // namespace

Result<Recorder> Recorder::create(const RecorderOptions& options) {
  NewTrace made(options.path);
  Result<NewFile> file = make_file(options.path, options);
  if (!file) return file.error();
  made.made();
  auto state = std::make_unique<State>(options, std::move(file->writer), std::move(file->ballast));
  TraceMeta& meta = state->output->meta();
  begin_meta(meta, options.clock());
  meta.set(MetaKey::host, host_name());
  meta.set(MetaKey::wic_prof_version, WIC_PROF_VERSION);
  for (const auto& [key, value] : options.meta) meta.set(key, value);
  state->expect_times();
  state->output->commit();
  if (state->output->stopped()) {
    Error error = unavailable(state->output->why_stopped());
    state->output->abandon();
    return error;
  }
  made.keep();
  return Recorder(std::move(state));
}

Result<Recorder> Recorder::State::next_segment(const std::string& path) {
  NewTrace made(path);
  Result<NewFile> file = make_file(path, options);
  if (!file) return file.error();
  made.made();
  auto next =
      std::make_unique<TraceOutput>(path, options.max_bytes, std::move(file->writer), std::move(file->ballast), clocks);
  if (!output->stopped()) output->commit();
  if (const Result<> continued = next->continue_from(*output); !continued) {
    next->abandon();
    return continued.error();
  }
  begin_meta(next->meta(), options.clock());
  earlier.events += output->events();
  earlier.waits += output->waits();
  earlier.lost += output->counters().lost();
  for (const auto& [stat, lost] : output->counters().losses()) earlier_losses[stat] += lost;
  earlier.unknown += output->unknown();
  output->meta().set(MetaKey::ended_ns, std::to_string(options.clock()));
  made.keep();
  std::swap(output, next);  // `next` is the ended segment's from here on
  SampledFunctions sampled = intake.continue_in(*output);
  RecorderOptions ended = options;
  ended.path = next->path();
  Retention kept = std::exchange(retention, Retention(retention.plan()));
  output->commit();
  return Recorder(std::make_unique<State>(std::move(ended), std::move(next), std::move(kept), std::move(sampled)));
}

Recorder::Recorder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&&) noexcept = default;

Recorder::~Recorder() {
  // Without finish() the trace keeps its rows and stays marked as incomplete.
  if (state_ != nullptr && !state_->finished && !state_->output->stopped()) state_->output->commit();
}

void Recorder::add(std::size_t ring, const EventHeader& event) {
  if (!state_->finished && !state_->is_ended) state_->intake.add(ring, event);
}

std::string Recorder::text(std::size_t ring, TextId id) const { return state_->intake.text(ring, id); }

std::string Recorder::site_name(std::size_t ring, SiteId id) const { return state_->intake.site_name(ring, id); }

void Recorder::set_ring_dropped(std::size_t ring, std::uint64_t dropped, std::uint64_t corrupt) {
  state_->ring_losses.set(ring, dropped, corrupt, state_->output->counters());
}

void Recorder::set_ring_process(std::size_t ring, std::uint32_t pid) { state_->intake.set_process(ring, pid); }

void Recorder::forget_ring(std::size_t ring) {
  state_->output->forget_ring(ring);
  state_->retention.forget_producer(ring, state_->options.clock());
  state_->ring_losses.forget_ring(ring);
  state_->intake.forget_ring(ring);
}

void Recorder::set_capture_window(TimeNs from, TimeNs until) { state_->retention.set_fixed(from, until); }

void Recorder::set_stat(Stat stat, const std::string& detail, std::uint64_t value) {
  state_->output->counters().set_total(stat, detail, value);
}

void Recorder::tick() {
  if (state_->finished || !state_->output->commit_if_old(state_->options.clock())) return;
  state_->expect_times();
  state_->remove_some();
}

void Recorder::set_meta(MetaKey key, const std::string& value) { state_->output->meta().set(key, value); }

SampledFunctions Recorder::sampled_functions() const {
  if (state_->output->stopped()) return {};
  return state_->is_ended ? state_->functions : state_->intake.sampled_functions();
}

std::uint64_t Recorder::file_bytes() const { return state_->output->file_bytes(); }

Result<Recorder> Recorder::next_segment(const std::string& path) { return state_->next_segment(path); }

void Recorder::add_sass(const SassRow& row) {
  if (!state_->finished) state_->output->insert(row);
}

Result<> Recorder::finish(const FinishWatch& watch) { return state_->finish(watch); }

RecorderProgress Recorder::progress() const {
  const TraceOutput& output = *state_->output;
  const RecorderProgress& earlier = state_->earlier;
  return {earlier.events + output.events(),   earlier.waits + output.waits(), earlier.lost + output.counters().lost(),
          earlier.unknown + output.unknown(), output.why_stopped(),           output.news()};
}

std::map<Stat, std::uint64_t> Recorder::losses() const {
  std::map<Stat, std::uint64_t> losses = state_->output->counters().losses();
  for (const auto& [stat, lost] : state_->earlier_losses) losses[stat] += lost;
  return losses;
}

const std::string& Recorder::path() const { return state_->output->path(); }

bool Recorder::lost() const { return state_->output->lost(); }

}  // namespace wicprof::store
