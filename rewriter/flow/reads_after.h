// Whether a value is read after a place in the program.
#pragma once

#include "rewriter/flow/graph.h"
#include "rewriter/flow/program.h"

namespace wicprof::rewriter {

/// Whether the variable's value at the beginning of `block` is read on some way from there, before another value
/// replaces it.
bool reads_after(const Program& program, const Graph& graph, int block, int variable);

}  // namespace wicprof::rewriter
