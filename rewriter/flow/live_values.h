// How many registers the values of a program need.
#pragma once

#include "rewriter/flow/graph.h"
#include "rewriter/flow/program.h"

namespace wicprof::rewriter {

/// The registers of 32 bits that hold values at the beginning of `block` which are read on some way from there, before
/// another value replaces them. All predicates count as one register. Values that all threads of a block share do not
/// count: parameters and what is computed from them and from the block's place.
int live_registers(const Program& program, const Graph& graph, int block);

/// The registers of 32 bits that the function declares: nvcc names one per value. Those of 64 bits count twice.
int declared_registers(const Function& function);

}  // namespace wicprof::rewriter
