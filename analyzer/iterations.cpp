#include "analyzer/iterations.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace wicprof::analyzer {
namespace {

/// A numbering that starts again does so, for one waiter, somewhere in (after, upto].
struct Restart {
  TimeNs after = 0, upto = 0;
};

std::vector<Restart> restarts_of(std::vector<Arrival>& arrivals) {
  std::stable_sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) {
    return std::pair(a.waiter, a.at) < std::pair(b.waiter, b.at);
  });
  std::vector<Restart> restarts;
  for (std::size_t i = 1; i < arrivals.size(); ++i) {
    const Arrival& previous = arrivals[i - 1];
    const Arrival& next = arrivals[i];
    if (previous.waiter == next.waiter && next.iteration < previous.iteration) {
      restarts.push_back({previous.at, next.at});
    }
  }
  return restarts;
}

/// The fewest points in time that lie in all those gaps: the restarts of the program, since every waiter sees each between
/// two of its own arrivals. (Stabbing intervals: by right end, take the right end of each that is not yet hit.)
RunBoundaries boundaries_of(std::vector<Restart> restarts) {
  std::sort(restarts.begin(), restarts.end(), [](const Restart& a, const Restart& b) { return a.upto < b.upto; });
  RunBoundaries boundaries;
  for (const Restart& restart : restarts) {
    const bool hit = !boundaries.starts.empty() && boundaries.starts.back() > restart.after;
    if (!hit) boundaries.starts.push_back(restart.upto);
  }
  return boundaries;
}

/// The arrivals at one site of one device's waiters, which come in order of time. What it keeps grows with iterations and
/// waiters, not with arrivals.
class Place {
 public:
  void add(std::uint64_t waiter, std::uint32_t iteration, TimeNs at) {
    const auto [last, is_new] = last_.try_emplace(waiter, iteration, at);
    if (!is_new) {
      if (iteration < last->second.first) restarts_.push_back({last->second.second, at});
      last->second = {iteration, at};
    }
    // The first arrival of a number opens it. Seen again here, it may be of a new run: where restarts are is known at the
    // end only, so its first arrival after each restart that any waiter sees is kept, too.
    Seen& seen = seen_[iteration % seen_.size()];
    if (seen.any && seen.iteration == iteration && seen.restarts == restarts_.size()) return;
    seen = {true, iteration, restarts_.size()};
    firsts_.push_back({iteration, at});
  }

  Iterations iterations() {
    Iterations found;
    const RunBoundaries runs = boundaries_of(std::move(restarts_));
    struct First {
      std::uint32_t run, number;
      TimeNs at;
    };
    std::vector<First> firsts;
    firsts.reserve(firsts_.size());
    for (const auto& [number, at] : firsts_) firsts.push_back({runs.run_of(at), number, at});
    std::sort(firsts.begin(), firsts.end(), [](const First& a, const First& b) {
      return std::tie(a.run, a.number, a.at) < std::tie(b.run, b.number, b.at);
    });
    firsts.erase(std::unique(firsts.begin(), firsts.end(),
                             [](const First& a, const First& b) { return a.run == b.run && a.number == b.number; }),
                 firsts.end());
    found.runs = static_cast<std::uint32_t>(runs.starts.size()) + 1;
    for (std::size_t i = 0; i + 1 < firsts.size(); ++i) {
      const First& current = firsts[i];
      const First& next = firsts[i + 1];
      // A number that is missing was lost on the way; a successor that begins no later lost its first arrivals.
      const bool follows = next.run == current.run && next.number == current.number + 1;
      if (follows && next.at > current.at) found.list.push_back({current.run, current.number, current.at, next.at});
    }
    return found;
  }

 private:
  struct Seen {
    bool any = false;
    std::uint32_t iteration = 0;
    std::size_t restarts = 0;  // known by then
  };
  std::unordered_map<std::uint64_t, std::pair<std::uint32_t, TimeNs>> last_;  // of each waiter
  std::vector<Restart> restarts_;
  std::array<Seen, 256> seen_;
  std::vector<std::pair<std::uint32_t, TimeNs>> firsts_;  // some more than the first of each number and run
};

}  // namespace

std::uint32_t RunBoundaries::run_of(TimeNs arrival) const {
  return static_cast<std::uint32_t>(std::upper_bound(starts.begin(), starts.end(), arrival) - starts.begin());
}

RunBoundaries find_runs(std::vector<Arrival> arrivals) { return boundaries_of(restarts_of(arrivals)); }

std::vector<Iterations> find_iterations(const TraceModel& model) {
  std::vector<Iterations> all;
  std::map<std::pair<SiteId, DeviceId>, Place> places;
  for (const store::WaitRow& wait : model.waits) {
    places[{wait.site, wait.device}].add((std::uint64_t{wait.block} << 16) | (wait.warp & 0xffffu), wait.iteration, wait.arrived);
  }
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (wait.site != 0) places[{wait.site, kHostDevice}].add(wait.thread, wait.iteration, wait.begin);
  }
  for (auto& [key, place] : places) {
    Iterations found = place.iterations();
    if (found.list.empty()) continue;
    found.site = key.first;
    found.site_name = model.site_name(key.first);
    found.device = key.second;
    all.push_back(std::move(found));
  }
  // Among equals the one that begins first, so that the answer does not hang on how devices are numbered.
  std::stable_sort(all.begin(), all.end(), [](const Iterations& a, const Iterations& b) {
    if (a.list.size() != b.list.size()) return a.list.size() > b.list.size();
    return std::pair(a.list.front().begin, a.site) < std::pair(b.list.front().begin, b.site);
  });
  return all;
}

}  // namespace wicprof::analyzer
