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
/// Fewer ranges of one name, or launches of one kernel, may be no step of the program, but a part of its start. Not
/// calibrated.
constexpr std::size_t kFewestRepeats = 8;
constexpr std::size_t kMostPlaces = 4096;
// Keep the places of ranges and of kernels apart from those of sites, of which there are few.
constexpr std::uint64_t kRanges = std::uint64_t{1} << 63, kLaunches = std::uint64_t{1} << 62;

}  // namespace

void IterationMeter::look_at(const EventHeader& event) {
  if (event.kind == WaitEvent::kKind) {
    const auto& wait = reinterpret_cast<const WaitEvent&>(event);
    arrive(std::uint64_t{wait.site} << 32 | wait.device, true, wait.iteration,
           static_cast<std::int64_t>(wait.arrived_ns));
  } else if (event.kind == HostWaitEvent::kKind) {
    const auto& wait = reinterpret_cast<const HostWaitEvent&>(event);
    if (wait.site != 0) {
      arrive(std::uint64_t{wait.site} << 32 | 0xffffffffu, wait.call == 0, wait.iteration, wait.begin_ns);
    }
  } else if (for_hosts_.load(std::memory_order_relaxed)) {
    if (event.kind == NvtxEvent::kKind) add_range(reinterpret_cast<const NvtxEvent&>(event));
    if (event.kind == KernelEvent::kKind) add_launch(reinterpret_cast<const KernelEvent&>(event));
  }
}

IterationMeter::Place* IterationMeter::place_of(std::uint64_t key) {
  const auto found = places_.find(key);
  if (found != places_.end()) return &found->second;
  return places_.size() < kMostPlaces ? &places_[key] : nullptr;  // names with numbers in them do not repeat
}

void IterationMeter::add_range(const NvtxEvent& range) {
  if (range.kind != NvtxKind::range || range.end_ns <= range.start_ns) return;
  const std::lock_guard lock(mutex_);
  Place* const place = place_of(kRanges | std::uint64_t{range.name} << 32 | range.thread);
  if (place == nullptr) return;
  ++place->seen;
  place->taken += range.end_ns - range.start_ns;
  // A range is written when it ends, and may have begun before the stretch.
  if (is_wanted(*place) && range.start_ns >= since_ && place->durations.size() < kMaxKept)
    place->durations.push_back(range.end_ns - range.start_ns);
}

void IterationMeter::add_launch(const KernelEvent& kernel) {
  const std::lock_guard lock(mutex_);
  Place* const place = place_of(kLaunches | std::uint64_t{kernel.name} << 32 | kernel.device);
  if (place == nullptr) return;
  ++place->seen;
  const std::int64_t length = kernel.start_ns - place->last;
  if (is_wanted(*place) && place->last > 0 && place->last >= since_ && length > 0 && place->durations.size() < kMaxKept)
    place->durations.push_back(length);
  place->last = std::max(place->last, kernel.start_ns);
}

void IterationMeter::arrive(std::uint64_t key, bool declared, std::uint32_t iteration, std::int64_t at) {
  const std::lock_guard lock(mutex_);
  Place& place = places_[key];
  place.declared = declared;
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

bool IterationMeter::better(const Place& a, const Place& b) const {
  const auto rank = [](const Place& place) {
    if (place.declared && place.seen > 0) return -1;
    const bool repeats = place.seen >= kFewestRepeats;
    if (place.taken > 0) return repeats ? 0 : 3;
    return place.last > 0 ? (repeats ? 1 : 3) : 2;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (a.taken > 0) return a.taken > b.taken;
  return a.last > 0 ? a.seen < b.seen : a.seen > b.seen;
}

const IterationMeter::Place* IterationMeter::busiest() const {
  if (chosen_ != nullptr) return chosen_;
  const Place* best = nullptr;
  for (const auto& [key, place] : places_) {
    if (best == nullptr || better(place, *best)) best = &place;
  }
  return best;
}

std::vector<TimeNs> IterationMeter::peek() const {
  const std::lock_guard lock(mutex_);
  const Place* place = busiest();
  return place == nullptr ? std::vector<TimeNs>() : place->durations;
}

bool IterationMeter::sees_sites() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(places_.begin(), places_.end(), [](const auto& each) { return each.second.declared; });
}

std::vector<TimeNs> IterationMeter::take() {
  const std::lock_guard lock(mutex_);
  const Place* place = busiest();
  std::vector<TimeNs> durations = place == nullptr ? std::vector<TimeNs>() : place->durations;
  since_ = now_ns();
  if (for_hosts_.load(std::memory_order_relaxed)) chosen_ = place;
  for (auto& [key, each] : places_) {
    each.durations.clear();
    each.skip = kInProgress;
  }
  return durations;
}

}  // namespace wicprof::cli
