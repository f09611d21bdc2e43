// What findings on a rank whose device or copies are slower have in common.
#pragma once

#include <optional>
#include <string_view>

#include "analyzer/rules/rule.h"

namespace wicprof::analyzer {

/// A finding where the rank that the others wait for is late for this cause, by a hundredth of the time: what the job
/// would gain at most at the others' speed. `what`: "the device of", "copies from and to the device of"; `same`:
/// "kernels", "copies". Without a remedy.
std::optional<Finding> slower_rank(const RuleInput& input, RankCause cause, std::string_view what,
                                   std::string_view same);

/// The UUID of the GPU that the late rank used; empty: not in the trace.
std::string late_device_uuid(const RuleInput& input);

}  // namespace wicprof::analyzer
