// Which values of a program are still needed at a place, and how many registers they take.
#pragma once

#include <cstddef>
#include <vector>

#include "rewriter/flow/graph.h"
#include "rewriter/flow/program.h"

namespace wicprof::rewriter {

/// By variable: whether its value is read on some way from a place, before another value replaces it.
using Live = std::vector<bool>;

/// Of a variable, or a block, in a list of all.
inline std::size_t index_of(int number) { return static_cast<std::size_t>(number); }

/// What lives at the beginning of `block`.
Live live_at(const Program& program, const Graph& graph, int block);

/// The registers of 32 bits that these values take. All predicates count as one register. Values that all threads of a
/// block share do not count: parameters and what is computed from them and from the block's place.
int live_registers(const Program& program, const Live& live);

/// Calls use(variable) for each variable that the instruction reads, its guard and its address among them.
template <typename Use>
void each_read(const Instruction& instruction, Use use) {
  if (instruction.guard >= 0) use(instruction.guard);
  if (instruction.has_address && instruction.address.kind == OperandKind::variable) use(instruction.address.variable);
  for (const Operand& source : instruction.sources) {
    if (source.kind == OperandKind::variable) use(source.variable);
  }
}

/// The registers of 32 bits that the function declares: nvcc names one per value. Those of 64 bits count twice.
int declared_registers(const Function& function);

}  // namespace wicprof::rewriter
