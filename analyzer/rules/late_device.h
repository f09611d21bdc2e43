// A device for which the others keep waiting in loops of one kernel that wic-prof has patched, where all devices run
// it.
#pragma once

#include <optional>

#include "analyzer/rules/rule.h"

namespace wicprof::analyzer {

/// Empty: no device comes late, or the trace does not show that. Who releases a patched loop is not known: that one
/// device waits next to nothing where all others wait says who is late.
std::optional<Finding> late_device(const RuleInput& input);

}  // namespace wicprof::analyzer
