// The words on the command line that name a way of waiting: a mode, and a strategy for park.
#pragma once

#include <string>

#include "protocol/control.h"
#include "protocol/result.h"

namespace wicprof::cli {

/// Both may be empty: mode poll, the mode's own strategy. Errors: an unknown word, a strategy for poll.
Result<WantedWait> wanted_wait(const std::string& mode, const std::string& strategy);

/// Park with that strategy, or with `auto` when it is empty.
Result<WantedWait> park_wait(const std::string& strategy);

/// "poll, backoff, ...".
std::string strategy_list();

}  // namespace wicprof::cli
