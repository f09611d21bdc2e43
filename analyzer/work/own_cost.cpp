#include "analyzer/work/own_cost.h"

#include <algorithm>
#include <map>

namespace wicprof::analyzer {

OwnCost own_cost(const TraceModel& model, const std::vector<ThreadStats>& threads) {
  OwnCost cost;
  if (!model.thread_samples.empty()) {
    cost.sampled = true;
    TimeNs begin = model.thread_samples.front().begin, end = model.thread_samples.front().end;
    for (const store::ThreadSampleRow& sample : model.thread_samples) {
      begin = std::min(begin, sample.begin);
      end = std::max(end, sample.end);
    }
    cost.over_ns = std::max<TimeNs>(0, end - begin);
  }
  for (const ThreadStats& thread : threads) {
    if (!thread.own) continue;
    ++cost.threads;
    const store::ProcessRow* process = model.process(thread.process);
    (process != nullptr && is_own(*process) ? cost.in_tool_ns : cost.in_program_ns) += thread.cpu_ns;
  }
  if (cost.over_ns > 0) cost.share = static_cast<double>(cost.cpu_ns()) / static_cast<double>(cost.over_ns);

  std::map<std::string, OverheadStats> by_what;
  for (const store::OverheadRow& overhead : model.overheads) {
    OverheadStats& stats = by_what[overhead.what];
    ++stats.count;
    stats.total_ns += std::max<TimeNs>(0, overhead.end - overhead.start);
  }
  for (auto& [what, stats] : by_what) {
    stats.what = what;
    cost.overheads.push_back(std::move(stats));
  }
  std::stable_sort(cost.overheads.begin(), cost.overheads.end(),
                   [](const OverheadStats& a, const OverheadStats& b) { return a.total_ns > b.total_ns; });
  return cost;
}

}  // namespace wicprof::analyzer
