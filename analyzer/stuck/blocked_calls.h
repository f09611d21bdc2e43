// What the host threads of a program that hangs wait for in calls.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "analyzer/stuck/waited_words.h"

namespace wicprof::analyzer {

/// One cause per call that has lasted long and does not wait for a word. `wait_in_nccl`: the processes whose devices
/// wait for other ranks.
std::vector<Cause> explain_calls(const StuckView& view, const WaitedWords& all,
                                 const std::set<std::uint32_t>& wait_in_nccl);

}  // namespace wicprof::analyzer
