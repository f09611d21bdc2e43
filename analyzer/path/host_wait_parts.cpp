#include "analyzer/path/host_wait_parts.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace wicprof::analyzer {

std::vector<HostWaitParts> host_wait_parts(const TraceModel& model, const WorkIndex& index, const IdleTimes& idle,
                                           Interval ground) {
  using Place = std::pair<SiteId, std::string_view>;
  std::map<Place, HostWaitParts> by_place;
  std::map<Place, std::set<std::pair<store::ProcessId, std::uint32_t>>> threads;
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (!wait.in_call() || wait.end <= wait.begin) continue;
    if (wait.end <= ground.begin || wait.begin >= ground.end) continue;  // start-up and tear-down
    const WorkItem* const work = index.waited_for({wait.begin, wait.end, wait.process, wait.correlation});
    if (work == nullptr) continue;
    const WorkItem* const before = index.work_before(*work);
    const auto within = [&](TimeNs time) { return std::clamp(time, wait.begin, wait.end); };
    const TimeNs started = within(work->start), ended = std::max(started, within(work->end));
    const TimeNs free = before == nullptr ? wait.begin : std::min(within(before->end), started);
    const Place place{wait.site, wait.site == 0 ? std::string_view(wait.call) : std::string_view()};
    threads[place].insert({wait.process, wait.thread});
    HostWaitParts& parts = by_place[place];
    ++parts.waits;
    parts.waiting_ns += wait.end - wait.begin;
    parts.queued_ns += free - wait.begin;
    parts.launching_ns += started - free;
    parts.running_ns += ended - started;
    parts.completing_ns += wait.end - ended;
    parts.idle_ns += idle.within(work->device, {ended, wait.end});
    if (wait.run_delay) {
      parts.without_cpu_ns = parts.without_cpu_ns.value_or(0) + std::min(*wait.run_delay, wait.end - ended);
    }
  }
  std::vector<HostWaitParts> list;
  for (auto& [place, parts] : by_place) {
    parts.site = place.first;
    parts.threads = threads[place].size();
    parts.name = place.first == 0 ? std::string(place.second) : model.site_name(place.first);
    list.push_back(std::move(parts));
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.waiting_ns > b.waiting_ns; });
  return list;
}

}  // namespace wicprof::analyzer
