#include "cli/record/energy_meter.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "cli/record/guarded.h"
#include "protocol/events/energy.h"
#include "protocol/thread.h"

namespace wicprof::cli {

namespace {

constexpr std::chrono::milliseconds kEnergyInterval{500};
/// Between two looks at a counter that has not moved. A look takes 3.3 ms on an H200.
constexpr std::chrono::milliseconds kBetweenReadings{2};
/// A counter that stands still so long has no steps to wait for.
constexpr TimeNs kStepPatience = 150 * kMillisecond;

}  // namespace

class EnergyMeter::Readings {
 public:
  Readings(EnergySources sources, EventSink& sink) : sink_(sink), states_(std::move(sources.states)) {
    for (EnergySource& source : sources.found) counters_.push_back({std::move(source)});
  }

  bool any() const { return !counters_.empty() || !states_.empty(); }

  void work() {
    pthread_setname_np(pthread_self(), "wicprof-energy");
    for (bool states = true;; states = !states) {
      if (states) guarded("reading clocks and temperatures of GPUs", [this] { read_states(); });
      guarded("reading energy", [this] { round(); });
      if (stopped_within(kEnergyInterval)) break;
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  void end() {
    std::unique_lock lock(mutex_);
    stop_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, kLongestEnd, [this] { return ended_; });
  }

 private:
  struct Counter {
    EnergySource source;
    std::optional<std::uint64_t> last = {};  // as the source counts
    std::uint64_t used_uj = 0;               // since the first reading
    TimeNs read_at = 0;
  };

  /// Reads a counter, and returns its event if it has changed since its last reading. `done`: it need not be read again
  /// for now.
  static std::optional<EnergyEvent> look(Counter& counter, bool& done) {
    const TimeNs before = counter.read_at;
    const TimeNs begin = now_ns();
    const std::optional<std::uint64_t> now = counter.source.read_uj();
    done = !now;
    if (!now) return std::nullopt;
    counter.read_at = (begin + now_ns()) / 2;
    const std::optional<std::uint64_t> last = std::exchange(counter.last, now);
    if (!last || *now == *last) return std::nullopt;
    if (*now < *last) counter.used_uj += counter.source.wraps_at > *last ? counter.source.wraps_at - *last + *now : 0;
    if (*now > *last) counter.used_uj += *now - *last;
    // The step lies between this look and the one before, if that was a moment ago.
    if (before == 0 || counter.read_at - before > kStepPatience) return std::nullopt;
    auto event = make_event<EnergyEvent>();
    event.at_ns = before + (counter.read_at - before) / 2;
    event.energy_uj = counter.used_uj;
    done = true;
    return event;
  }

  bool stopped_within(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [this] { return stop_; });
  }

  void round() {
    std::vector<Counter*> still;
    for (Counter& counter : counters_) still.push_back(&counter);
    for (const TimeNs until = now_ns() + kStepPatience; !still.empty() && now_ns() < until;) {
      std::erase_if(still, [this](Counter* counter) {
        bool done = false;
        if (const std::optional<EnergyEvent> event = look(*counter, done))
          write(*event, &EnergyEvent::meter, counter->source.name);
        return done;
      });
      if (!still.empty() && stopped_within(kBetweenReadings)) return;
    }
  }

  void read_states() {
    for (const DeviceStateSource& source : states_) {
      const TimeNs begin = now_ns();
      DeviceStateEvent event = source.read();
      event.at_ns = (begin + now_ns()) / 2;
      write(event, &DeviceStateEvent::uuid, source.uuid);
    }
  }

  /// Nothing once the meter ends: the sink may be gone.
  template <class Event>
  void write(Event event, TextId Event::*of, const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (stop_) return;
    event.*of = sink_.text(text);
    sink_.write(event);
  }

  EventSink& sink_;
  std::vector<Counter> counters_;
  const std::vector<DeviceStateSource> states_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false, ended_ = false;
};

EnergyMeter::EnergyMeter(EnergySources sources, EventSink& sink)
    : readings_(std::make_shared<Readings>(std::move(sources), sink)) {
  if (readings_->any()) {
    std::thread thread = start_thread([readings = readings_] { readings->work(); });
    if (thread.joinable()) {
      thread.detach();
      return;
    }
    warn(refused_thread("energy is not read"));
  }
  readings_.reset();
}

EnergyMeter::~EnergyMeter() {
  if (readings_ != nullptr) readings_->end();
}

}  // namespace wicprof::cli
