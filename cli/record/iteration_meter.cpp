#include "cli/record/iteration_meter.h"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <functional>
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
/// Of ranges by their whole names, and of all others.
constexpr std::size_t kMostPlaces = 4096;

}  // namespace

std::string IterationMeter::words_of(const Key& key) {
  if (key.source == Source::range || key.source == Source::numbered) return "range " + key.name;
  if (key.source == Source::launch) return "from launch to launch of a kernel";
  return "iteration at wait site " + std::to_string(key.id);
}

std::size_t IterationMeter::HashKey::operator()(const Key& key) const {
  std::size_t hash = std::hash<std::string>()(key.name);
  boost::hash_combine(hash, static_cast<std::uint32_t>(key.source));
  boost::hash_combine(hash, std::uint64_t{key.ring} << 32 | key.id);
  boost::hash_combine(hash, key.on);
  return hash;
}

void IterationMeter::look_at(std::size_t ring, const EventHeader& event) {
  if (event.kind == WaitEvent::kKind) {
    const auto& wait = reinterpret_cast<const WaitEvent&>(event);
    arrive({Source::declared_site, 0, wait.site, wait.device, {}}, wait.iteration,
           static_cast<std::int64_t>(wait.arrived_ns));
  } else if (event.kind == HostWaitEvent::kKind) {
    const auto& wait = reinterpret_cast<const HostWaitEvent&>(event);
    const Source source = wait.call == 0 ? Source::declared_site : Source::call;
    if (wait.site != 0) arrive({source, 0, wait.site, kHostDevice, {}}, wait.iteration, wait.begin_ns);
  } else if (event.kind == KernelEvent::kKind && for_hosts_.load(std::memory_order_relaxed)) {
    add_launch(ring, reinterpret_cast<const KernelEvent&>(event));
  }
}

IterationMeter::Place* IterationMeter::place_of(Key key) {
  const auto found = places_.find(key);
  if (found != places_.end()) return &found->second;
  // Whole names with numbers in them may never repeat, and leave room for the others.
  const std::size_t most = key.source == Source::range ? kMostPlaces : 2 * kMostPlaces;
  return places_.size() < most ? &places_[std::move(key)] : nullptr;
}

void IterationMeter::add_range(std::size_t ring, const NvtxEvent& range, const std::string& name) {
  if (range.kind != NvtxKind::range || range.end_ns <= range.start_ns) return;
  const auto of_ring = static_cast<std::uint32_t>(ring);
  const std::string numberless = analyzer::without_numbers(name);
  const std::lock_guard lock(mutex_);
  numbered_.add(std::uint64_t{of_ring} << 32 | range.thread, name);
  add_range(place_of({Source::range, of_ring, 0, range.thread, name}), range);
  if (numberless != name) add_range(place_of({Source::numbered, of_ring, 0, range.thread, numberless}), range);
}

void IterationMeter::add_range(Place* place, const NvtxEvent& range) {
  if (place == nullptr) return;
  count(*place);
  place->taken += range.end_ns - range.start_ns;
  // A range is written when it ends, and may have begun before the stretch.
  if (is_wanted(*place) && range.start_ns >= since_ && place->durations.size() < kMaxKept)
    place->durations.push_back(range.end_ns - range.start_ns);
}

void IterationMeter::add_launch(std::size_t ring, const KernelEvent& kernel) {
  const std::lock_guard lock(mutex_);
  Place* const place = place_of({Source::launch, static_cast<std::uint32_t>(ring), kernel.name, kernel.device, {}});
  if (place == nullptr) return;
  count(*place);
  const std::int64_t length = kernel.start_ns - place->last;
  if (is_wanted(*place) && place->last > 0 && place->last >= since_ && length > 0 && place->durations.size() < kMaxKept)
    place->durations.push_back(length);
  place->last = std::max(place->last, kernel.start_ns);
}

void IterationMeter::arrive(const Key& key, std::uint32_t iteration, std::int64_t at) {
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
    count(place);
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

std::size_t IterationMeter::rank_of(const Places::value_type& entry) const {
  const auto& [key, place] = entry;
  const auto by_source = static_cast<std::size_t>(key.source);
  constexpr auto kWorst = static_cast<std::size_t>(Source::call) + 1;
  if (key.source == Source::call) return by_source;
  if (place.seen == 0) return kWorst;
  if (key.source == Source::declared_site) return by_source;
  if (key.source == Source::numbered && !numbered_.are_one(key.name)) return kWorst;
  return place.seen >= kFewestRepeats ? by_source : kWorst;
}

bool IterationMeter::better(const Places::value_type& a, const Places::value_type& b) const {
  const std::size_t rank_a = rank_of(a), rank_b = rank_of(b);
  if (rank_a != rank_b) return rank_a < rank_b;
  if (a.second.taken != b.second.taken) return a.second.taken > b.second.taken;
  return a.first.source == Source::launch ? a.second.seen < b.second.seen : a.second.seen > b.second.seen;
}

const IterationMeter::Place* IterationMeter::busiest() const { return chosen_ != nullptr ? chosen_ : best_of(false); }

/// `fresh`: of those that the stretch has shown.
const IterationMeter::Place* IterationMeter::best_of(bool fresh) const {
  const Places::value_type* best = nullptr;
  for (const auto& place : places_) {
    if (fresh && place.second.fresh == 0) continue;
    if (best == nullptr || better(place, *best)) best = &place;
  }
  return best == nullptr ? nullptr : &best->second;
}

std::vector<TimeNs> IterationMeter::peek() const {
  const std::lock_guard lock(mutex_);
  const Place* place = busiest();
  return place == nullptr ? std::vector<TimeNs>() : place->durations;
}

std::string IterationMeter::what() const {
  const std::lock_guard lock(mutex_);
  const Place* const place = busiest();
  const auto found =
      std::find_if(places_.begin(), places_.end(), [&](const auto& each) { return &each.second == place; });
  return found == places_.end() ? std::string() : words_of(found->first);
}

IterationMeter::Latest IterationMeter::next() {
  const std::lock_guard lock(mutex_);
  Latest latest;
  const auto best =
      std::max_element(places_.begin(), places_.end(), [&](const auto& a, const auto& b) { return better(b, a); });
  if (best != places_.end() && (last_ == nullptr || far_better(*best, *last_))) last_ = &*best;
  if (last_ != nullptr) latest = {words_of(last_->first), last_->second.durations};
  for (auto& [key, each] : places_) each.durations.clear();
  return latest;
}

// Places that are about equally good would take turns.
bool IterationMeter::far_better(const Places::value_type& a, const Places::value_type& b) const {
  if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b);
  if (a.first.source == Source::launch) return a.second.seen + a.second.seen / 10 < b.second.seen;
  const auto [taken, seen] = std::pair(b.second.taken, b.second.seen);
  return a.second.taken > taken + taken / 10 || a.second.seen > seen + seen / 10;
}

bool IterationMeter::sees_sites() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(places_.begin(), places_.end(),
                     [](const auto& each) { return each.first.source == Source::declared_site; });
}

std::vector<TimeNs> IterationMeter::take() {
  const std::lock_guard lock(mutex_);
  const Place* place = busiest();
  std::vector<TimeNs> durations = place == nullptr ? std::vector<TimeNs>() : place->durations;
  since_ = now_ns();
  if (for_hosts_.load(std::memory_order_relaxed)) {
    // What shows nothing any more was of the program's start.
    const bool over = chosen_ != nullptr && chosen_->fresh == 0;
    const Place* const other = over ? best_of(true) : nullptr;
    chosen_ = other != nullptr ? other : place;
  }
  for (auto& [key, each] : places_) {
    each.durations.clear();
    each.fresh = 0;
    each.skip = kInProgress;
  }
  return durations;
}

}  // namespace wicprof::cli
