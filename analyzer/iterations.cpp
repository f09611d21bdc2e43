#include "analyzer/iterations.h"

#include <algorithm>
#include <map>
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

using Key = std::pair<SiteId, DeviceId>;

std::map<Key, std::vector<Arrival>> arrivals_of(const TraceModel& model) {
  std::map<Key, std::vector<Arrival>> all;
  for (const store::WaitRow& wait : model.waits) {
    const std::uint64_t waiter = (std::uint64_t{wait.block} << 16) | (wait.warp & 0xffffu);
    all[{wait.site, wait.device}].push_back({waiter, wait.iteration, wait.arrived});
  }
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (wait.site != 0) all[{wait.site, kHostDevice}].push_back({wait.thread, wait.iteration, wait.begin});
  }
  return all;
}

Iterations iterations_of(const std::vector<Arrival>& arrivals) {
  Iterations found;
  const RunBoundaries runs = find_runs(arrivals);
  std::map<std::pair<std::uint32_t, std::uint32_t>, TimeNs> first;  // (run, number) -> first arrival
  for (const Arrival& arrival : arrivals) {
    const auto [entry, added] = first.try_emplace({runs.run_of(arrival.at), arrival.iteration}, arrival.at);
    if (!added) entry->second = std::min(entry->second, arrival.at);
  }
  found.runs = static_cast<std::uint32_t>(runs.starts.size()) + 1;
  for (auto current = first.begin(); current != first.end(); ++current) {
    const auto next = std::next(current);
    if (next == first.end()) break;
    const auto& [run, number] = current->first;
    // A number that is missing was lost on the way; a successor that begins no later lost its first arrivals.
    const bool follows = next->first.first == run && next->first.second == number + 1;
    if (follows && next->second > current->second) found.list.push_back({run, number, current->second, next->second});
  }
  return found;
}

}  // namespace

std::uint32_t RunBoundaries::run_of(TimeNs arrival) const {
  return static_cast<std::uint32_t>(std::upper_bound(starts.begin(), starts.end(), arrival) - starts.begin());
}

RunBoundaries find_runs(std::vector<Arrival> arrivals) {
  // Every waiter sees a restart between two of its own arrivals; the fewest points in time that lie in all those gaps
  // are the restarts of the program. (Stabbing intervals: by right end, take the right end of each that is not yet
  // hit.)
  std::vector<Restart> restarts = restarts_of(arrivals);
  std::sort(restarts.begin(), restarts.end(), [](const Restart& a, const Restart& b) { return a.upto < b.upto; });
  RunBoundaries boundaries;
  for (const Restart& restart : restarts) {
    const bool hit = !boundaries.starts.empty() && boundaries.starts.back() > restart.after;
    if (!hit) boundaries.starts.push_back(restart.upto);
  }
  return boundaries;
}

std::vector<Iterations> find_iterations(const TraceModel& model) {
  std::vector<Iterations> all;
  for (const auto& [key, arrivals] : arrivals_of(model)) {
    Iterations found = iterations_of(arrivals);
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
