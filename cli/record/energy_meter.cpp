#include "cli/record/energy_meter.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "cli/record/guarded.h"
#include "protocol/events/energy.h"

namespace wicprof::cli {

namespace {

constexpr std::chrono::milliseconds kEnergyInterval{500};
/// Between two looks at a counter that has not moved. A look takes 3.3 ms on an H200.
constexpr std::chrono::milliseconds kBetweenReadings{2};
/// A counter that stands still so long has no steps to wait for.
constexpr TimeNs kStepPatience = 150 * kMillisecond;

}  // namespace

EnergyMeter::EnergyMeter(std::vector<EnergySource> sources, EventSink& sink) : sink_(sink) {
  for (EnergySource& source : sources) counters_.push_back({std::move(source), {}, 0, 0});
  if (!counters_.empty()) thread_ = std::thread([this] { work(); });
}

EnergyMeter::~EnergyMeter() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopping_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void EnergyMeter::work() {
  pthread_setname_np(pthread_self(), "wicprof-energy");
  std::unique_lock lock(mutex_);
  do {
    lock.unlock();
    guarded("reading energy", [this] { round(); });
    lock.lock();
  } while (!stopping_.wait_for(lock, kEnergyInterval, [this] { return stop_; }));
}

void EnergyMeter::round() {
  std::vector<Counter*> still;
  for (Counter& counter : counters_) still.push_back(&counter);
  for (const TimeNs until = now_ns() + kStepPatience; !still.empty() && now_ns() < until;) {
    std::erase_if(still, [this](Counter* counter) { return look(*counter); });
    std::unique_lock lock(mutex_);
    if (stopping_.wait_for(lock, still.empty() ? std::chrono::milliseconds(0) : kBetweenReadings,
                           [this] { return stop_; }))
      return;
  }
}

bool EnergyMeter::look(Counter& counter) {
  const TimeNs before = counter.read_at;
  const TimeNs begin = now_ns();
  const std::optional<std::uint64_t> now = counter.source.read_uj();
  if (!now) return true;
  counter.read_at = (begin + now_ns()) / 2;
  const std::optional<std::uint64_t> last = std::exchange(counter.last, now);
  if (!last || *now == *last) return false;
  if (*now < *last) counter.used_uj += counter.source.wraps_at > *last ? counter.source.wraps_at - *last + *now : 0;
  if (*now > *last) counter.used_uj += *now - *last;
  // The step lies between this look and the one before, if that was a moment ago.
  if (before == 0 || counter.read_at - before > kStepPatience) return false;
  auto event = make_event<EnergyEvent>();
  event.meter = sink_.text(counter.source.name);
  event.at_ns = before + (counter.read_at - before) / 2;
  event.energy_uj = counter.used_uj;
  sink_.write(event);
  return true;
}

}  // namespace wicprof::cli
