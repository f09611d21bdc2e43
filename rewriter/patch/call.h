// The call of the look in a patched function.
#pragma once

#include <string>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// The call for a round of `site`, under no condition. Afterwards %__wic_l is in how many ns the next look is due.
std::string call_text(const Site& site, const Table& table);

/// The call of a thread that leaves the function, with the end of a wait to be recorded. `label`: unique in
/// the function.
std::string leave_text(const Table& table, const std::string& label);

}  // namespace wicprof::rewriter
