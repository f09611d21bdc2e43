// Options that choose a way of waiting: a mode, a side, a strategy for park.
#pragma once

#include <string>

#include "protocol/control.h"
#include "protocol/result.h"

namespace wicprof::cli {

/// Empty `side` = both. Errors: an unknown name; a strategy that the waits of that side do not have.
Result<WaitSide> wanted_side(const std::string& side, StrategyId strategy);
/// Whose waits a comparison of both modes is about: `side` as wanted_side() reads it; where it is empty, the side that
/// has `strategy`. Nothing: both sides have it, and the program's waits decide.
Result<std::optional<WaitSide>> compared_side(const std::string& side, StrategyId strategy);
/// For people: which side the program's waits decided for, and why.
std::string chosen_side(WaitSide side, bool has_host_waits);

/// Empty `mode` = poll, empty `strategy` = the mode's default. Errors: an unknown name, a strategy for poll.
Result<WantedWait> wanted_wait(const std::string& mode, const std::string& strategy);

/// Park with `strategy`; empty = `auto`. Error: an unknown strategy.
Result<WantedWait> park_wait(const std::string& strategy);

/// "poll, backoff, ..., spin, block, hybrid".
std::string strategy_list();

}  // namespace wicprof::cli
