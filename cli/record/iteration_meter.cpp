#include "cli/record/iteration_meter.h"

#include <algorithm>
#include <utility>

#include "protocol/events/host_wait.h"
#include "protocol/events/wait.h"

namespace wicprof::cli {

namespace {

/// Waits are written when they end, so the first arrival of an iteration may come after arrivals of later iterations.
/// Not calibrated: the analyzer reads the exact arrivals later.
constexpr std::uint32_t kLag = 2;
/// Numbers further back than this belong to a new run of the numbering.
constexpr std::uint32_t kRestart = 64;
/// A schedule needs the median of a stretch, so some thousand iterations suffice.
constexpr std::size_t kMaxKept = 4096;
/// Iterations that may have been in progress when a stretch began: those not counted yet, and the current one.
constexpr std::size_t kInProgress = kLag + 1;

}  // namespace

void IterationMeter::look_at(const EventHeader& event) {
  if (event.kind == WaitEvent::kKind) {
    const auto& wait = reinterpret_cast<const WaitEvent&>(event);
    arrive(std::uint64_t{wait.site} << 32 | wait.device, wait.iteration, static_cast<std::int64_t>(wait.arrived_ns));
  } else if (event.kind == HostWaitEvent::kKind) {
    const auto& wait = reinterpret_cast<const HostWaitEvent&>(event);
    if (wait.site != 0) arrive(std::uint64_t{wait.site} << 32 | 0xffffffffu, wait.iteration, wait.begin_ns);
  }
}

void IterationMeter::arrive(std::uint64_t key, std::uint32_t iteration, std::int64_t at) {
  const std::lock_guard lock(mutex_);
  Place& place = places_[key];
  if (place.arrivals.empty() || iteration + kRestart < place.newest) {
    place.arrivals.clear();
    place.newest = iteration;
  }
  if (iteration + kRestart / 2 < place.newest) return;  // a straggler
  const auto [found, is_new] = place.arrivals.try_emplace(iteration, at);
  if (!is_new) found->second = std::min(found->second, at);
  if (iteration <= place.newest) return;
  for (std::uint32_t number = place.newest; number < iteration && iteration - number <= kRestart; ++number) {
    if (number < kLag) continue;
    const auto begin = place.arrivals.find(number - kLag), end = place.arrivals.find(number - kLag + 1);
    if (begin == place.arrivals.end() || end == place.arrivals.end() || end->second <= begin->second) continue;
    ++place.seen;
    if (place.skip > 0) {
      --place.skip;
    } else if (place.durations.size() < kMaxKept) {
      place.durations.push_back(end->second - begin->second);
    }
  }
  place.newest = iteration;
  if (place.arrivals.size() > 2 * kRestart) {
    std::erase_if(place.arrivals, [&](const auto& arrival) { return arrival.first + kRestart < iteration; });
  }
}

const IterationMeter::Place* IterationMeter::busiest() const {
  const Place* best = nullptr;
  for (const auto& [key, place] : places_) {
    if (best == nullptr || place.seen > best->seen) best = &place;
  }
  return best;
}

std::vector<TimeNs> IterationMeter::peek() const {
  const std::lock_guard lock(mutex_);
  const Place* place = busiest();
  return place == nullptr ? std::vector<TimeNs>() : place->durations;
}

std::vector<TimeNs> IterationMeter::take() {
  const std::lock_guard lock(mutex_);
  const Place* place = busiest();
  std::vector<TimeNs> durations = place == nullptr ? std::vector<TimeNs>() : place->durations;
  for (auto& [key, each] : places_) {
    each.durations.clear();
    each.skip = kInProgress;
  }
  return durations;
}

}  // namespace wicprof::cli
