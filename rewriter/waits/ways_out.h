// What decides whether a loop goes on: the comparisons behind the branches that leave it.
#pragma once

#include <cstddef>
#include <vector>

#include "rewriter/waits/values.h"

namespace wicprof::rewriter {

/// One comparison behind a branch that leaves the loop.
struct Comparison {
  std::size_t instruction = 0;  ///< which compares
  Value value;                  ///< what its operands depend on
  bool chooses = true;          ///< false: of a branch inside the loop that does not choose what a condition is
};

/// The comparisons that decide whether the loop is left. Conditions joined by "and", "or", "not" or a vote are taken
/// apart.
std::vector<Comparison> comparisons_of(const LoopValues& values);

}  // namespace wicprof::rewriter
