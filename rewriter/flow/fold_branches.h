// Branches whose condition is known before the program runs. Code that is not optimized has many: a wrapper compares
// the memory order, a constant of its caller, with all orders that exist.
#pragma once

#include "rewriter/flow/program.h"

namespace wicprof::rewriter {

/// Makes such branches unconditional or removes them, and empties instructions that are never reached. The words of a
/// wait are taken to be outside of local memory: no other thread writes there.
void fold_branches(Program& program);

}  // namespace wicprof::rewriter
