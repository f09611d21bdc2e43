// A function as instructions over numbered variables: registers, parameters and the places in memory whose
// address is known. Calls inside loops are replaced by the bodies of the functions that they call, as far as those are
// known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rewriter/flow/effects.h"
#include "rewriter/text/module.h"

namespace wicprof::rewriter {

enum class OperandKind {
  variable,
  constant,
  clock,    ///< %clock, %clock64, %globaltimer
  special,  ///< another special register, which stays as it is while the thread runs
  symbol,   ///< the address of a variable of the module, or of a function
  other,    ///< a constant that is not an integer
};

struct Operand {
  OperandKind kind = OperandKind::other;
  int variable = -1;
  std::int64_t constant = 0;
  std::string_view name = {};  ///< of a symbol or a special register
};

struct Instruction {
  std::string_view opcode;
  Effect effect = Effect::unknown;
  int guard = -1;  ///< variable of the predicate; -1: always executed
  bool guard_negated = false;
  std::vector<int> defines;
  std::vector<Operand> sources;  ///< without the address
  bool has_address = false;
  Operand address;  ///< the base; its `constant` is not used
  std::int64_t offset = 0;
  bool moves =
      false;  ///< its one result is its one source: mov, and accesses to variables in parameters and local memory
  /// Of a load or store behind a pointer that stays as it is: the variable that has the pointer. If the function both
  /// writes and reads the place, variables stand for what is there: among the load's sources, as the store's results.
  int behind = -1;
  bool partial = false;       ///< writes a part of its variable
  std::vector<int> targets;   ///< of branches: indices of instructions
  std::size_t statement = 0;  ///< in Function::statements; of an inlined instruction, the call
  bool inlined = false;
  std::string_view callee;  ///< of a call that stays a call
  SourcePlace place;
};

struct Program {
  std::vector<Instruction> code;  ///< the last one leaves the function
  int variables = 0;
  std::string problem;  ///< why the function could not be understood; empty: it was
};

/// Per instruction, those that can follow it; the length of the code stands for the function's end.
std::vector<std::vector<std::size_t>> successors_of(const Program& program);

/// Per variable, the instructions that write it, in the order of the code.
std::vector<std::vector<std::size_t>> writers_in(const Program& program);

/// Per variable, the only instruction that writes it, if it always does, as a whole, and writes nothing else; else
/// nullptr.
std::vector<const Instruction*> makers_in(const Program& program);

/// Whether its result is its source, in a register or in memory.
inline bool passes_on(const Instruction& instruction) {
  return instruction.moves || (instruction.behind >= 0 && !instruction.sources.empty());
}

/// Whether nothing stays of what the variables had that the instruction writes.
inline bool replaces_all(const Instruction& instruction) { return instruction.guard < 0 && !instruction.partial; }

/// The function as a program; `module` and `function` must outlive it. `inline_calls` holds the indices of the
/// statements whose calls are to be replaced; empty: none.
Program program_of(const Module& module, const Function& function, const std::vector<std::size_t>& inline_calls);

}  // namespace wicprof::rewriter
