// What the host threads of a program that hangs wait for in calls.
#pragma once

#include <vector>

#include "analyzer/stuck/waited_words.h"

namespace wicprof::analyzer {

/// One cause per call that has lasted long and does not wait for a word.
std::vector<Cause> explain_calls(const StuckView& view, const WaitedWords& all);

}  // namespace wicprof::analyzer
