#include "store/write/recorder.h"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "protocol/utc_time.h"
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
  State(const RecorderOptions& options, Writer writer, Ballast ballast)
      : output(options.path, options.max_bytes, std::move(writer), std::move(ballast), clocks),
        retention(options.retention),
        began(options.began) {}

  void remove_some();
  void expect_times();
  Result<> finish(const FinishWatch& watch);

  DeviceClocks clocks;
  TraceOutput output;
  Retention retention;
  TimeNs began;
  EventIntake intake{output, clocks, retention};
  RingLosses ring_losses;
  bool finished = false;
};

void Recorder::State::remove_some() {
  if (output.stopped() || !retention.due(now_ns())) return;
  output.transaction([&](Writer& writer) {
    std::uint64_t removed = 0;
    const int code = retention.remove_some(writer, now_ns(), removed);
    output.count_left_out(removed);
    return code;
  });
  output.remove_unused_texts();
}

void Recorder::State::expect_times() {
  if (began != 0) intake.expect_times(PlausibleTimes::between(began, now_ns()));
}

Result<> Recorder::State::finish(const FinishWatch& watch) {
  if (finished) return ok();
  finished = true;
  intake.lose_held();
  if (!output.stopped()) output.commit();
  TraceMeta& meta = output.meta();
  if (!output.stopped() && retention.plan().removes()) {
    const std::string* ended = meta.find("ended_ns");
    const TimeNs end = ended != nullptr ? std::strtoll(ended->c_str(), nullptr, 10) : now_ns();
    output.transaction([&](Writer& writer) {
      std::uint64_t removed = 0;
      const int code = retention.remove_rest(writer, end, removed);
      output.count_left_out(removed);
      return code;
    });
    if (!retention.plan().ranges.empty()) meta.set("capture_windows", std::to_string(retention.windows()));
  }
  output.derive(watch);
  if (meta.find("ended_ns") == nullptr) meta.set("ended_ns", std::to_string(now_ns()));
  meta.set("state", "complete");
  return output.close(retention.plan().removes());
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
  TraceMeta& meta = state->output.meta();
  meta.set("started_ns", std::to_string(now_ns()));
  meta.set("started_utc", utc_time());
  meta.set("host", host_name());
  meta.set("wic_prof_version", WIC_PROF_VERSION);
  for (const auto& [key, value] : options.meta) meta.set(key, value);
  meta.set("state", "recording");
  state->expect_times();
  state->output.commit();
  if (state->output.stopped()) {
    Error error = unavailable(state->output.why_stopped());
    state->output.abandon();
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
  if (state_ != nullptr && !state_->finished && !state_->output.stopped()) state_->output.commit();
}

void Recorder::add(std::size_t ring, const EventHeader& event) {
  if (!state_->finished) state_->intake.add(ring, event);
}

void Recorder::set_ring_dropped(std::size_t ring, std::uint64_t dropped, std::uint64_t corrupt) {
  state_->ring_losses.set(ring, dropped, corrupt, state_->output.counters());
}

void Recorder::set_ring_process(std::size_t ring, std::uint32_t pid) { state_->intake.set_process(ring, pid); }

void Recorder::forget_ring(std::size_t ring) {
  state_->output.forget_ring(ring);
  state_->retention.forget_producer(ring, now_ns());
  state_->ring_losses.forget_ring(ring);
  state_->intake.forget_ring(ring);
}

void Recorder::set_capture_window(TimeNs from, TimeNs until) { state_->retention.set_fixed(from, until); }

void Recorder::set_stat(Stat stat, const std::string& detail, std::uint64_t value) {
  state_->output.counters().set(stat, detail, value);
}

void Recorder::tick() {
  if (state_->finished || !state_->output.commit_if_old(now_ns())) return;
  state_->expect_times();
  state_->remove_some();
}

void Recorder::set_meta(const std::string& key, const std::string& value) { state_->output.meta().set(key, value); }

SampledFunctions Recorder::sampled_functions() const { return state_->intake.sampled_functions(); }

void Recorder::add_sass(const SassRow& row) {
  if (!state_->finished) state_->output.insert(row);
}

Result<> Recorder::finish(const FinishWatch& watch) { return state_->finish(watch); }

RecorderProgress Recorder::progress() const {
  const TraceOutput& output = state_->output;
  return {output.events(), output.waits(), output.counters().lost(), output.unknown(), output.why_stopped()};
}

}  // namespace wicprof::store
