// Host threads that were ready to run but had no CPU.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyzer/rules/rule.h"
#include "analyzer/waits/host_waits.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Least share of the time in which a thread wanted to run. Not calibrated.
constexpr double kShare = 0.05;
/// Below 1 % of the sampled time the delay is too short to notice. Not calibrated.
constexpr double kWorthNaming = 0.01;
/// The rule names the worst threads and counts the others: on a crowded machine every thread lacks a CPU.
constexpr std::size_t kNamed = 3;

std::string label_of(const TraceModel& model, const ThreadStats& thread) {
  const store::ProcessRow* process = model.process(thread.process);
  std::string name = fmt::format("thread {}", thread.thread);
  if (!thread.name.empty()) name += fmt::format(" ({})", one_line(thread.name));
  if (process != nullptr && model.program_processes() > 1) {
    name += process->rank ? fmt::format(" of rank {}", *process->rank) : fmt::format(" of process {}", process->id);
  }
  return name;
}

// The delay of wake-ups from waits, where the trace holds run delays per wait.
std::string delay_in_waits(const TraceModel& model, const ThreadStats& thread) {
  TimeNs delay = 0;
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (wait.process == thread.process && wait.thread == thread.thread) delay += wait.run_delay.value_or(0);
  }
  return delay > 0 ? fmt::format("; {} of it while waiting for the GPU", format_duration(delay)) : std::string();
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
  std::vector<ThreadStats> threads = thread_stats(model);
  std::stable_sort(threads.begin(), threads.end(), [](const ThreadStats& a, const ThreadStats& b) {
    return a.run_delay_ns.value_or(0) > b.run_delay_ns.value_or(0);
  });
  std::size_t more = 0;
  for (const ThreadStats& thread : threads) {
    if (!thread.run_delay_ns) continue;
    any_delay = true;
    const TimeNs delay = *thread.run_delay_ns;
    const TimeNs wanted = thread.cpu_ns + delay;
    if (thread.own || wanted <= 0 || static_cast<double>(delay) < kShare * static_cast<double>(wanted)) continue;
    if (static_cast<double>(delay) < kWorthNaming * static_cast<double>(last - first)) continue;
    if (outcome.findings.size() == kNamed) {
      ++more;
      continue;
    }
    Finding finding;
    finding.severity = Severity::warning;
    finding.text = fmt::format("{} was ready to run but had no CPU for {}, {} of the time in which it wanted one",
                               label_of(model, thread), format_duration(delay),
                               format_percent(static_cast<double>(delay) / static_cast<double>(wanted)));
    finding.evidence = fmt::format("{} of CPU time, preempted {} times{}", format_duration(thread.cpu_ns),
                                   format_count(thread.involuntary_switches), delay_in_waits(model, thread));
    finding.remedy =
        "run fewer threads than the machine (or the container's quota) has CPUs, let waiting threads sleep instead of "
        "spinning, or bind the program's threads to separate CPUs (taskset, numactl)";
    outcome.findings.push_back(std::move(finding));
  }
  if (more > 0) {
    outcome.findings.back().evidence +=
        fmt::format("; the same holds for {} more {}", more, more == 1 ? "thread" : "threads");
  }
  if (!any_delay) outcome.refused = "the operating system does not report how long threads waited for a CPU";
  return outcome;
}

}  // namespace wicprof::analyzer
