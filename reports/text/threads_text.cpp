#include "reports/text/threads_text.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "analyzer/trace/thread_names.h"
#include "analyzer/words/format.h"
#include "reports/parts/columns.h"

namespace wicprof::reports {

std::string threads_text(const TraceModel& model, const Analysis& analysis, std::size_t most, const Screen& screen) {
  std::vector<analyzer::ThreadStats> threads;
  std::copy_if(analysis.threads.begin(), analysis.threads.end(), std::back_inserter(threads),
               [](const analyzer::ThreadStats& thread) { return !thread.own; });
  if (threads.empty()) return {};
  const std::optional<analyzer::Interval> run = analyzer::recorded_run(model);
  const TimeNs length = run ? run->end - run->begin : analysis.own_cost.over_ns;
  TextTable table("lrrr", heads({column::kSampledThread, column::kOnCpu, column::kOfTheRun, column::kReady}));
  const analyzer::ThreadNames names(model);
  const std::size_t shown = std::min(most, threads.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analyzer::ThreadStats& thread = threads[i];
    table.add({names.of(thread.process, thread.thread), format_duration(thread.cpu_ns),
               length > 0 ? format_percent(static_cast<double>(thread.cpu_ns) / static_cast<double>(length)) : "-",
               thread.run_delay_ns ? format_duration(*thread.run_delay_ns) : "-"});
  }
  return table.str(0, screen.width) + and_more(threads.size(), shown, "thread");
}

}  // namespace wicprof::reports
