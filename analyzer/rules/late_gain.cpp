#include "analyzer/rules/late_gain.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/rules/thresholds.h"
#include "analyzer/words/change.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

/// A device that is idle for longer has hardly any work, and a ratio says nothing. Not calibrated.
constexpr double kMostIdle = 0.95;
/// Delays as uncertain as they are long: fewer are no pattern, and perhaps no delays at all. Not calibrated.
constexpr std::uint64_t kLeastPossible = 3;

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
    text += fmt::format("; without that idle time, the run would be at most {}",
                        comparative_text((ground - idle) / ground));
  }
  return text;
}

RuleOutcome late_outcome(const RuleInput& input, LateCause cause, std::string_view text,
                         const std::function<void(Finding&)>& complete) {
  RuleOutcome outcome;
  if (input.lateness.steps == 0) {
    outcome.refused = "the trace does not show enough steps in which a thread launches work and waits for it";
    return outcome;
  }
  const LateSum* const sum = late_enough(input, cause);
  if (sum == nullptr || (sum->error_ns >= sum->late_ns && sum->count < kLeastPossible)) return outcome;
  const TimeNs lost = cause == LateCause::launch ? std::min(sum->at_once_ns, sum->idle_ns) : sum->at_once_ns;
  if (static_cast<double>(lost) < kLateWorthNaming * static_cast<double>(input.ground_ns())) return outcome;
  Finding finding;
  finding.cost = input.time_cost(lost);
  // What is as uncertain as it is long is a possibility, not a finding to act on.
  const bool certain = 2 * sum->error_ns <= sum->late_ns && finding.cost->amount >= kWarning;
  finding.severity = certain ? Severity::warning : Severity::info;
  finding.text =
      fmt::format("{}: {} in {}", text, format_duration(sum->late_ns), count_of(input.lateness.steps, "step"));
  finding.evidence = late_evidence(input, *sum);
  complete(finding);
  outcome.findings.push_back(std::move(finding));
  return outcome;
}

}  // namespace wicprof::analyzer
