// Host threads that were ready to run but had no CPU.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/trace/thread_names.h"
#include "analyzer/waits/host_waits.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Least share of the time in which a thread wanted to run. Not calibrated.
constexpr double kLeastOfWanted = 0.05;

/// A thread that lacked a CPU.
struct Delayed {
  const ThreadStats* thread;
  TimeNs delay;
  double share;  ///< of the time in which the thread wanted a CPU
};

// The delay of wake-ups from waits, where the trace holds run delays per wait.
std::string delay_in_waits(const TraceModel& model, const ThreadStats& thread) {
  TimeNs delay = 0;
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (wait.process == thread.process && wait.thread == thread.thread) delay += wait.run_delay.value_or(0);
  }
  return delay > 0 ? fmt::format(", {} of it while waiting for the GPU", format_duration(delay)) : std::string();
}

/// One finding for all threads. `delayed`: the longest delay first.
Finding finding_for(const TraceModel& model, const std::vector<Delayed>& delayed, TimeNs sampled) {
  const ThreadNames names(model);
  const auto name = [&](const Delayed& each) { return names.of(each.thread->process, each.thread->thread); };
  Finding finding;
  finding.severity = Severity::warning;
  const Delayed& worst = delayed.front();
  finding.cost = Cost{Cost::Unit::time, std::min(1.0, static_cast<double>(worst.delay) / static_cast<double>(sampled))};
  if (delayed.size() == 1) {
    finding.text = fmt::format("{} was ready to run but had no CPU for {}, {} of the time in which it wanted one",
                               name(worst), format_duration(worst.delay), format_percent(worst.share));
  } else {
    finding.text = fmt::format(
        "{} were ready to run but had no CPU; the worst, {}, for {}, {} of the time in which it wanted one",
        count_of(delayed.size(), "thread"), name(worst), format_duration(worst.delay), format_percent(worst.share));
  }
  const std::size_t named = std::min(kNamed, delayed.size());
  for (std::size_t i = 0; i < named; ++i) {
    const ThreadStats& thread = *delayed[i].thread;
    if (delayed.size() > 1) {
      finding.evidence +=
          fmt::format("{}{}: no CPU for {}, ", i == 0 ? "" : "; ", name(delayed[i]), format_duration(delayed[i].delay));
    }
    finding.evidence += fmt::format("{} of CPU time, preempted {} times{}", format_duration(thread.cpu_ns),
                                    format_count(thread.involuntary_switches), delay_in_waits(model, thread));
  }
  if (named < delayed.size())
    finding.evidence += fmt::format("; the same holds for {}", count_of(delayed.size() - named, "more thread"));
  finding.remedy =
      "run fewer threads than the machine (or the container's quota) has CPUs, let waiting threads sleep instead of "
      "spinning, or bind the program's threads to separate CPUs (taskset, numactl)";
  return finding;
}

}  // namespace

template <>
RuleOutcome apply<struct HostDescheduled>(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  if (model.thread_samples.empty()) {
    outcome.refused = "the trace holds no samples of host threads";
    return outcome;
  }
  TimeNs first = model.thread_samples.front().begin, last = first;
  for (const store::ThreadSampleRow& sample : model.thread_samples) {
    first = std::min(first, sample.begin);
    last = std::max(last, sample.end);
  }
  bool any_delay = false;
  const std::vector<ThreadStats> threads = thread_stats(model);
  std::vector<Delayed> delayed;
  for (const ThreadStats& thread : threads) {
    if (!thread.run_delay_ns) continue;
    any_delay = true;
    const TimeNs delay = *thread.run_delay_ns;
    const TimeNs wanted = thread.cpu_ns + delay;
    if (thread.own || wanted <= 0) continue;
    const double share = static_cast<double>(delay) / static_cast<double>(wanted);
    if (share < kLeastOfWanted || static_cast<double>(delay) < kWorthNaming * static_cast<double>(last - first))
      continue;
    delayed.push_back({&thread, delay, share});
  }
  if (!any_delay) outcome.refused = "the operating system does not report how long threads waited for a CPU";
  if (delayed.empty()) return outcome;
  std::stable_sort(delayed.begin(), delayed.end(),
                   [](const Delayed& a, const Delayed& b) { return a.delay > b.delay; });
  outcome.findings.push_back(finding_for(model, delayed, std::max<TimeNs>(1, last - first)));
  return outcome;
}

}  // namespace wicprof::analyzer
