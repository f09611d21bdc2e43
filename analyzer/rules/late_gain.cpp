#include "analyzer/rules/late_gain.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

/// Share of CPU time in the waits from which on they spin, as for the finding host_spin.
constexpr double kSpinning = 0.8;
/// A device that is idle for longer has hardly any work, and a ratio says nothing. Not calibrated.
constexpr double kMostIdle = 0.95;

}  // namespace

const LateSum* late_enough(const RuleInput& input, LateCause cause) {
  const LateSum* const sum = input.lateness.sum(cause);
  const double least = kLateWorthNaming * static_cast<double>(input.ground_ns());
  return sum != nullptr && static_cast<double>(sum->late_ns) >= least ? sum : nullptr;
}

std::string late_evidence(const RuleInput& input, const LateSum& sum) {
  std::string text =
      fmt::format("{}, uncertain by at most {}; the GPU was idle for {} of it", count_of(sum.count, "delay"),
                  format_duration(sum.error_ns), format_duration(sum.idle_ns));
  const auto ground = static_cast<double>(input.ground_ns());
  const auto idle = static_cast<double>(sum.idle_ns);
  if (idle >= kLateWorthNaming * ground && idle <= kMostIdle * ground) {
    text += fmt::format(": at most {:.2f} times as fast without", ground / (ground - idle));
  }
  return text;
}

TimeNs spun_in_calls(const TraceModel& model) {
  TimeNs cpu = 0, wall = 0;
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (!wait.cpu || wait.site == 0 || !wait.in_call()) continue;
    cpu += *wait.cpu;
    // A thread that had no CPU would have spun.
    wall += std::max<TimeNs>(0, wait.end - wait.begin - wait.run_delay.value_or(0));
  }
  return static_cast<double>(cpu) >= kSpinning * static_cast<double>(wall) ? cpu : 0;
}

}  // namespace wicprof::analyzer
