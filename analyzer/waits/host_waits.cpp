#include "analyzer/waits/host_waits.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {
namespace {

template <class Total, class Part>
void add(std::optional<Total>& total, const Part& part) {
  total = total.value_or(0) + static_cast<Total>(part);
}

}  // namespace

std::string_view waiting_way_name(WaitingWay way) {
  switch (way) {
    case WaitingWay::spinning:
      return "spinning";
    case WaitingWay::sleeping:
      return "sleeping";
    case WaitingWay::mixed:
      return "mixed";
    case WaitingWay::unknown:
      break;
  }
  return "unknown";
}

WaitingWay waiting_way(TimeNs cpu, TimeNs waiting) {
  constexpr double kSpinning = 0.8, kSleeping = 0.2;
  if (waiting <= 0) return WaitingWay::unknown;
  const double share = static_cast<double>(cpu) / static_cast<double>(waiting);
  return share >= kSpinning ? WaitingWay::spinning : share <= kSleeping ? WaitingWay::sleeping : WaitingWay::mixed;
}

std::vector<HostWaitStats> host_wait_stats(const TraceModel& model) {
  std::map<std::pair<SiteId, std::string_view>, std::pair<HostWaitStats, std::vector<TimeNs>>> by_place;
  for (const store::HostWaitRow& wait : model.host_waits) {
    auto& [stats, times] = by_place[{wait.site, wait.site == 0 ? std::string_view(wait.call) : std::string_view()}];
    stats.site = wait.site;
    if (stats.call.empty()) stats.call = std::string_view(wait.call);
    const TimeNs took = std::max<TimeNs>(0, wait.end - wait.begin);
    times.push_back(took);
    stats.total_ns += took;
    if (wait.cpu) {
      add(stats.cpu_ns, *wait.cpu);
      add(stats.cpu_of_ns, took);
    }
    if (wait.run_delay) add(stats.run_delay_ns, *wait.run_delay);
    if (wait.involuntary_switches) add(stats.involuntary_switches, *wait.involuntary_switches);
  }
  std::vector<HostWaitStats> all;
  for (auto& [place, found] : by_place) {
    auto& [stats, times] = found;
    stats.name = place.first == 0 ? std::string(place.second) : model.site_name(place.first);
    stats.place = model.site_place(place.first);
    stats.count = times.size();
    stats.p50_ns = percentile(times, 50);
    stats.p99_ns = percentile(times, 99);
    stats.max_ns = percentile(times, 100);
    all.push_back(std::move(stats));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const HostWaitStats& a, const HostWaitStats& b) { return a.total_ns > b.total_ns; });
  return all;
}

std::vector<ThreadStats> thread_stats(const TraceModel& model) {
  std::map<std::pair<store::ProcessId, std::uint32_t>, ThreadStats> by_thread;
  for (const store::ThreadSampleRow& sample : model.thread_samples) {
    ThreadStats& stats = by_thread[{sample.process, sample.thread}];
    stats.process = sample.process;
    stats.thread = sample.thread;
    if (!sample.name.empty()) stats.name = sample.name;
    stats.sampled_ns += std::max<TimeNs>(0, sample.end - sample.begin);
    stats.cpu_ns += sample.cpu;
    if (sample.run_delay) add(stats.run_delay_ns, *sample.run_delay);
    stats.voluntary_switches += sample.voluntary_switches;
    stats.involuntary_switches += sample.involuntary_switches;
  }
  std::vector<ThreadStats> all;
  for (auto& [key, stats] : by_thread) {
    const store::ProcessRow* process = model.process(stats.process);
    stats.own = stats.name.starts_with("wicprof") || (process != nullptr && is_own(*process));
    all.push_back(std::move(stats));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const ThreadStats& a, const ThreadStats& b) { return a.cpu_ns > b.cpu_ns; });
  return all;
}

}  // namespace wicprof::analyzer
