// Finds the block's barriers at which other warps wait for a warp that polls.
#pragma once

#include <set>

#include "analyzer/machine_code/calls.h"
#include "analyzer/machine_code/loops.h"

namespace wicprof::analyzer {

/// The first barrier on each way out of the loop, with the instruction after each, where a waiting warp may be sampled,
/// too; and the instructions before each at which the lanes of a warp rejoin. `loop`: one of find_loops(routine.code).
std::set<CodePlace> barriers_after(const Routine& routine, const SassLoop& loop);

}  // namespace wicprof::analyzer
