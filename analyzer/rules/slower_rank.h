// What findings on a rank whose device or copies are slower have in common.
#pragma once

#include <optional>

#include "analyzer/rules/rule.h"

namespace wicprof::analyzer {

/// `cause`: slow_device or slow_link. A finding where the rank that the others wait for is late for it, by a hundredth
/// of the time: what the job would gain at most at the others' speed. Without a remedy.
std::optional<Finding> slower_rank(const RuleInput& input, RankCause cause);

}  // namespace wicprof::analyzer
