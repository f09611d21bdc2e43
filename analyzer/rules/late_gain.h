// What findings about delays have in common: how long the device was idle meanwhile, and what the program can gain.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "analyzer/path/host_gain.h"
#include "analyzer/rules/rule.h"

namespace wicprof::analyzer {

/// Below 1 % of the traced time a delay is too short to notice. Not calibrated.
inline constexpr double kLateWorthNaming = 0.01;

/// The delays of that cause if their sum is worth a finding; nullptr otherwise.
const LateSum* late_enough(const RuleInput& input, LateCause cause);

/// "12 delays, uncertain by at most 1 ms; the GPU was idle for 5 ms of it; without that idle time, the
/// run would be at most 17 % shorter".
std::string late_evidence(const RuleInput& input, const LateSum& sum);

/// The outcome of a rule about delays of one cause: a finding if their sum is worth one. Late launches cost the
/// device's idle time: while it has other work, nothing is lost. `text`: what happened, to which the time and the
/// number of steps are added. `complete`: adds the remedy, and to the evidence.
RuleOutcome late_outcome(const RuleInput& input, LateCause cause, std::string_view text,
                         const std::function<void(Finding&)>& complete);

}  // namespace wicprof::analyzer
