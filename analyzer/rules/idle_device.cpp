// Devices that wait for the host: nothing runs on them, and what the end of the run waited for is a host thread's work.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/rules/rule.h"
#include "analyzer/trace/thread_names.h"
#include "analyzer/waits/late_starts.h"
#include "analyzer/words/format.h"
#include "analyzer/work/device_busy.h"

namespace wicprof::analyzer {
namespace {

/// Share of the time: below it, the device has more to do than to wait for. Not calibrated.
constexpr double kMostlyIdle = 0.5;
/// A shorter time is a program's start, not its work. Not calibrated.
constexpr TimeNs kLeastTime = 10 * kMillisecond;
/// Of the thread's time: from this share on it computes, or sleeps, and hardly does the other. Not calibrated.
constexpr double kMostOfIt = 0.8;

/// A host thread's part of the critical path.
struct HostPart {
  std::uint32_t thread = 0;
  TimeNs total = 0;
};

HostPart longest_host_part(const RuleInput& input) {
  std::map<std::uint32_t, TimeNs> parts;
  for (const PathSegment& segment : input.path.segments) {
    if (segment.kind != PathKind::host_work) continue;
    const Interval part = input.within_ground(segment.begin, segment.end);
    parts[segment.place] += part.end - part.begin;
  }
  HostPart longest;
  for (const auto& [thread, total] : parts) {
    if (total > longest.total) longest = {thread, total};
  }
  return longest;
}

TimeNs path_time(const RuleInput& input, PathKind kind) {
  TimeNs sum = 0;
  for (const PathShare& share : input.path.shares) {
    if (share.kind == kind) sum += share.total_ns;
  }
  return sum;
}

/// The launches on the path that begin so late that it is not for want of work: another program may have the device, or
/// the driver holds the launch up (shared_device, late_launch).
struct HeldUp {
  TimeNs total = 0;
  std::uint64_t launches = 0;
};
HeldUp held_up(const RuleInput& input) {
  HeldUp sum;
  for (const PathSegment& segment : input.path.segments) {
    if (segment.kind != PathKind::launch || segment.end - segment.begin < kLeastLateStart) continue;
    const Interval part = input.within_ground(segment.begin, segment.end);
    sum.total += part.end - part.begin;
    ++sum.launches;
  }
  return sum;
}

/// The share of the time that the thread was on a CPU; a thread that does not run has no samples. -1: not known.
double share_computed(const RuleInput& input, std::uint32_t thread) {
  if (input.model.thread_samples.empty() || thread == 0) return -1;
  double computed = 0;
  for (const store::ThreadSampleRow& sample : input.model.thread_samples) {
    if (sample.thread != thread || sample.end <= sample.begin) continue;
    const Interval part = input.within_ground(sample.begin, sample.end);
    computed += static_cast<double>(sample.cpu) * static_cast<double>(part.end - part.begin) /
                static_cast<double>(sample.end - sample.begin);
  }
  return std::clamp(computed / static_cast<double>(input.ground_ns()), 0.0, 1.0);
}

constexpr const char* kFunctionsRemedy =
    "let a thread of the program do what the host functions do (cudaLaunchHostFunc): the stream's next work waits for "
    "each of them; or put them into another stream, behind an event";

std::string remedy_for(double computes) {
  const std::string ahead =
      "let that thread launch ahead: move its other work into other threads or processes, launch fewer and larger "
      "kernels or CUDA graphs, or have several steps in flight without a wait";
  const std::string input =
      "look for what that thread waits for outside of CUDA: input (more workers of a data loader, data that is fetched "
      "ahead), a lock, another process; where it waits for requests, nothing is wrong";
  if (computes > kMostOfIt) return ahead;
  return computes >= 0 && computes < 1 - kMostOfIt ? input : ahead + "; and " + input;
}

}  // namespace

template <>
RuleOutcome apply<struct IdleDevice>(const RuleInput& input) {
  RuleOutcome outcome;
  if (!input.mpi.ranks.empty()) {
    outcome.refused = "the program's ranks wait for each other, which late_rank and imbalance judge";
    return outcome;
  }
  if (!input.path.missing.empty()) {
    outcome.refused = input.path.missing;
    return outcome;
  }
  // A launch and a return begin and end in the host: work in flight would hide them.
  const HeldUp held = held_up(input);
  const bool by_functions = behind_host_functions(input.model, held.launches);
  const TimeNs late = by_functions ? 0 : held.total;
  const TimeNs host = path_time(input, PathKind::host_work), launches = path_time(input, PathKind::launch) - late,
               returns = path_time(input, PathKind::host_return);
  if (input.ground_ns() < kLeastTime ||
      static_cast<double>(host + launches + returns) < kMostlyIdle * static_cast<double>(input.ground_ns()))
    return outcome;
  const std::vector<DeviceBusy> devices = device_busy(input.model, input.ground);
  const auto busiest = std::ranges::max_element(devices, {}, &DeviceBusy::busy_ns);
  if (busiest == devices.end()) return outcome;
  const TimeNs idle = busiest->of_ns - busiest->busy_ns - late;
  const double share = static_cast<double>(idle) / static_cast<double>(busiest->of_ns);
  if (share < kMostlyIdle) return outcome;
  Finding finding;
  finding.severity = Severity::warning;
  finding.cost = input.time_cost(idle);
  finding.text = fmt::format("{} has nothing to do for {}, {} of the time, since the host gives {} no work",
                             one_line(input.model.device_name(busiest->device)), format_duration(idle),
                             format_percent(share), devices.size() > 1 ? "the busiest device" : "the device");
  finding.evidence =
      fmt::format("the end of the run waited for host work for {}, for launches for {}, for returns to the host for {}",
                  format_duration(host), format_duration(launches), format_duration(returns));
  double computes = -1;
  if (const HostPart part = longest_host_part(input); part.total > 0) {
    const std::string name = part.thread == 0 ? "the CPU" : ThreadNames(input.model).of(0, part.thread);
    finding.evidence += "; the host work is mostly that of " + name;
    computes = share_computed(input, part.thread);
    if (computes >= 0) finding.evidence += fmt::format(", which was on a CPU {} of the time", format_percent(computes));
  }
  const bool behind_functions = by_functions && 2 * held.total >= idle;
  if (behind_functions)
    finding.evidence += fmt::format("; the program puts {} of the host into streams",
                                    count_of(host_functions(input.model), "function"));
  finding.remedy = behind_functions             ? std::string(kFunctionsRemedy)
                   : host >= launches + returns ? remedy_for(computes)
                                                : "do not wait behind each piece of work: launch several ahead, or all "
                                                  "of a step as a CUDA graph, and wait once";
  outcome.findings.push_back(std::move(finding));
  return outcome;
}

}  // namespace wicprof::analyzer
