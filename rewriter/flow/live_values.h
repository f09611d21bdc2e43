// Which values of a program are still needed at a place, and how many registers they take.
#pragma once

#include <cstddef>
#include <vector>

#include "code/graph.h"
#include "rewriter/flow/program.h"

namespace wicprof::rewriter {

/// Of a variable, or a block, in a list of all.
inline std::size_t index_of(int number) { return static_cast<std::size_t>(number); }

/// Which values live where: those that are read on some way from a place, before another value replaces them. What it
/// takes grows with the blocks that values live in, not with the places that are asked for.
class LiveValues {
 public:
  /// Both must outlive it.
  LiveValues(const Program& program, const Graph& graph);

  /// Whether the variable lives at the beginning of the block.
  bool lives(int variable, int block);
  /// Per block of `blocks`: the variables that live at its beginning, sorted.
  std::vector<std::vector<int>> at(const std::vector<int>& blocks);

 private:
  template <class Visit>
  void each_block(int variable, Visit visit);

  const Graph& graph_;
  std::vector<std::vector<int>> reads_, replaces_;  // per variable, the blocks that do so first
  std::vector<int> lives_, replaced_;               // per block, the last call of each_block that found it so
  int call_ = 0;
};

/// The registers of 32 bits that values take. All predicates count as one register. Values that all threads of a block
/// share do not count: parameters and what is computed from them and from the block's place.
class RegisterCount {
 public:
  explicit RegisterCount(const Program& program);
  int of(const std::vector<int>& variables) const;

 private:
  std::vector<bool> shared_, predicate_, wide_;  // per variable
};

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
