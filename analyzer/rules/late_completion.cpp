// Host threads that go on late after the work that they waited for is done.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "analyzer/rules/remedy.h"
#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/waits/host_waits.h"
#include "analyzer/waits/late_starts.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Least share of the waiting. A spinning thread goes on some microseconds after its work. Not calibrated.
constexpr double kLeastOfWaiting = 0.05;

bool is_of(const store::HostWaitRow& wait, const HostWaitParts& parts) {
  return wait.in_call() && wait.site == parts.site && (wait.site != 0 || wait.call == parts.name);
}

/// Whether wic-prof slept in the call's place without predicting its end, at the last wait.
bool blocks(const TraceModel& model, const HostWaitParts& parts) {
  for (std::size_t i = model.host_waits.size(); i > 0; --i) {
    const store::HostWaitRow wait = model.host_waits[i - 1];
    if (is_of(wait, parts)) return wait.strategy == StrategyId::block;
  }
  return false;
}

bool spins(const TraceModel& model, const HostWaitParts& parts) {
  TimeNs cpu = 0, wall = 0;
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (!wait.cpu || !is_of(wait, parts)) continue;
    cpu += *wait.cpu;
    wall += std::max<TimeNs>(0, wait.end - wait.begin);
  }
  return waiting_way(cpu, wall) == WaitingWay::spinning;
}

/// Copies of pageable memory, by process and correlation: the driver copies by way of its own buffer, which the calling
/// thread fills or empties.
using PageableCopies = std::set<std::pair<store::ProcessId, std::uint32_t>>;

PageableCopies pageable_copies(const TraceModel& model) {
  PageableCopies all;
  for (const store::CopyRow& copy : model.copies) {
    if (copy.source == CopyMemory::pageable || copy.destination == CopyMemory::pageable)
      all.emplace(copy.process, copy.correlation);
  }
  return all;
}

/// Whether most of the waits are for such copies.
bool waits_for(const PageableCopies& copies, const TraceModel& model, const HostWaitParts& parts) {
  if (copies.empty()) return false;
  std::uint64_t waits = 0, of_these = 0;
  for (std::size_t i = 0; i < model.host_waits.size(); ++i) {
    const store::HostWaitRow wait = model.host_waits[i];
    if (!is_of(wait, parts)) continue;
    ++waits;
    of_these += wait.correlation && copies.contains({wait.process, *wait.correlation}) ? 1 : 0;
  }
  return 2 * of_these > waits;
}

std::string remedy_of(const RuleInput& input, const HostWaitParts& parts, const PageableCopies& pageable) {
  const TraceModel& model = input.model;
  if (2 * parts.without_cpu_ns.value_or(0) >= parts.completing_ns) {
    return "run fewer threads than the machine (or the container's quota) has CPUs, or bind the program's threads to "
           "separate CPUs (taskset, numactl)";
  }
  if (parts.site != 0 && blocks(model, parts)) return host_park_command(model, StrategyId::hybrid);
  if (waits_for(pageable, model, parts)) {
    return "allocate the host's side with cudaMallocHost (cudaHostRegister for memory that is there): the thread "
           "itself "
           "copies between pageable memory and the driver's buffer, and touches each page of new memory for the first "
           "time";
  }
  if (behind_host_functions(model, parts.waits)) {
    return "look at the functions of the host that the program puts into streams (cudaLaunchHostFunc): a wait for the "
           "stream ends when they have returned; or look for other threads of the program in calls of CUDA";
  }
  if (input.memory_calls.from_pools > 0) {
    return "if cudaMemPoolAttrReleaseThreshold is not set, set it: else memory of cudaMallocAsync goes back at each "
           "wait, which takes that much longer; or look for other threads of the program in calls of CUDA";
  }
  if (spins(model, parts)) {
    return "look for what holds the thread in the driver: other threads of the program in calls of CUDA, or other "
           "programs on its CPU";
  }
  return "where the delay matters, let the thread spin (leave cudaDeviceScheduleBlockingSync and cudaEventBlockingSync "
         "out) or park it by hybrid, which wakes up before the expected end";
}

}  // namespace

template <>
RuleOutcome apply<struct LateCompletion>(const RuleInput& input) {
  RuleOutcome outcome;
  if (input.host_wait_parts.empty()) {
    outcome.refused = input.model.host_waits.empty() ? "the trace holds no waits of host threads"
                                                     : "the trace does not show what host threads waited for";
    return outcome;
  }
  std::optional<PageableCopies> pageable;
  for (const HostWaitParts& parts : input.host_wait_parts) {
    const auto late = static_cast<double>(parts.completing_ns);
    if (late < kLeastOfWaiting * static_cast<double>(parts.waiting_ns)) continue;
    if (late < kWorthNaming * static_cast<double>(input.ground_ns())) continue;
    Finding finding;
    finding.site = parts.site;
    if (parts.site != 0) finding.site_name = input.model.site_name(parts.site);
    // While the device has other work, nothing is lost.
    finding.cost = input.time_cost(parts.idle_ns / static_cast<TimeNs>(std::max<std::size_t>(1, parts.threads)));
    finding.severity = finding.cost->amount >= kWarning ? Severity::warning : Severity::info;
    finding.text = fmt::format(
        "host threads go on late after their work is done {} {}: {} of {} of waiting, {} per wait",
        parts.site == 0 ? "in" : "at", one_line(parts.name), format_duration(parts.completing_ns),
        format_duration(parts.waiting_ns), format_duration(parts.completing_ns / static_cast<TimeNs>(parts.waits)));
    finding.evidence = fmt::format(
        "{} whose work is known; the work was queued for {}, launching for {}, running for {}; its device was "
        "idle for {} of the delay",
        count_of(parts.waits, "wait"), format_duration(parts.queued_ns), format_duration(parts.launching_ns),
        format_duration(parts.running_ns), format_duration(parts.idle_ns));
    if (parts.without_cpu_ns) {
      finding.evidence += fmt::format("; threads were ready to run without a CPU for at most {}",
                                      format_duration(*parts.without_cpu_ns));
    }
    if (!pageable) pageable = pageable_copies(input.model);
    finding.remedy = remedy_of(input, parts, *pageable);
    outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

}  // namespace wicprof::analyzer
