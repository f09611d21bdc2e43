// Options that choose a way of waiting: a mode, and a strategy for park.
#pragma once

#include <string>

#include "protocol/control.h"
#include "protocol/result.h"

namespace wicprof::cli {

/// Empty `mode` = poll, empty `strategy` = the mode's default. Errors: an unknown name, a strategy for poll.
Result<WantedWait> wanted_wait(const std::string& mode, const std::string& strategy);

/// Park with `strategy`; empty = `auto`. Error: an unknown strategy.
Result<WantedWait> park_wait(const std::string& strategy);

/// "poll, backoff, ...".
std::string strategy_list();

}  // namespace wicprof::cli
