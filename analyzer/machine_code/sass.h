// Decodes machine instructions of NVIDIA GPUs (SASS in nvdisasm's syntax) as far as the analysis of waiting needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/format/rows.h"

namespace wicprof::analyzer {

enum class SassKind {
  other,     ///< irrelevant here: moves, votes, reconvergence, no-ops
  load,      ///< from global, generic or shared memory
  store,     ///< to global, generic or shared memory, including reductions; not to local memory (register spills)
  atomic,    ///< returns the word's value
  try_wait,  ///< of an mbarrier
  fence,     ///< including ERRBAR and CCTL
  barrier,   ///< of the block or cluster
  sleep,     ///< NANOSLEEP
  branch,    ///< with a target in the function
  call,      ///< of a function, after which the next instruction follows
  end,       ///< the next instruction does not follow it: EXIT, RET, jumps to unknown targets
  integer,
  floating,
  tensor,
};

/// The number of a register: R0 is 0, UR0 is 1000, P0 is 2000, UP0 is 3000. Constants such as RZ and PT have no number.
/// Memory through which a thread hands values to itself or its block counts as registers, too: 4000 is the result of a
/// block's vote, 5000 is shared memory, 10000 + N is the word at [R1+N] of the stack. use_known_values()
/// (known_values.h) gives the words of the stack numbers that hold across calls and pointers.
using SassRegister = int;
inline constexpr SassRegister kStackPointer = 1, kUniform = 1000, kPredicate = 2000, kUniformPredicate = 3000,
                              kBlockVote = 4000, kSharedMemory = 5000, kStack = 10000;

struct SassInstruction {
  std::uint64_t offset = 0;
  std::string text;
  std::string operation;  ///< "LDG.E.STRONG.SYS"
  SassKind kind = SassKind::other;
  bool strong = false;              ///< a load that must observe other threads' stores
  bool conditional = false;         ///< has a guard predicate, or branches on one
  std::vector<SassRegister> guard;  ///< the predicates that decide whether it takes effect
  std::vector<SassRegister> reads;  ///< including those of guard and address
  std::vector<SassRegister> writes;
  std::vector<SassRegister> address;  ///< of a load, a store or an atomic
  std::vector<std::string> operands;
  std::optional<std::uint64_t> target;
  std::string callee;  ///< the label that a call names
  std::string file;
  std::uint32_t line = 0;
};

/// Never fails: an unreadable instruction is `other` and uses no registers.
SassInstruction decode(const store::SassRow& row);

/// Whether an instruction obtains a value from memory.
inline bool reads_memory(const SassInstruction& instruction) {
  return instruction.kind == SassKind::load || instruction.kind == SassKind::atomic;
}

/// Whether an instruction reads shared memory of its block and names it: not by a generic address.
inline bool reads_shared_memory(const SassInstruction& instruction) {
  return reads_memory(instruction) &&
         (instruction.operation.starts_with("LDS") || instruction.operation.starts_with("ATOMS"));
}

/// The number of consecutive registers that the operation writes; of a store, those that it reads.
int result_registers(std::string_view operation);

/// Whether an instruction reads a clock.
bool reads_clock(const SassInstruction& instruction);

/// Whether an instruction stores a value if the word has another, or exchanges both.
bool is_exchange(const SassInstruction& atomic);

/// Whether an instruction returns to a function's caller.
bool returns(const SassInstruction& instruction);

/// Whether the dotted name `operation` has `part`: "STRONG" in "LDG.E.STRONG.SYS".
bool has_part(std::string_view operation, std::string_view part);

/// The part of a dotted name before its first dot: "LDG".
std::string_view first_part(std::string_view operation);

/// Without blanks at both ends.
std::string_view trimmed(std::string_view text);

/// The index of the instruction at that offset, of a function whose offsets ascend; nullopt: none is there.
std::optional<std::size_t> index_of(const std::vector<SassInstruction>& function, std::uint64_t offset);

/// The instructions that can follow the one at `index`; the function's size stands for what is outside.
std::vector<std::size_t> successors_of(const std::vector<SassInstruction>& function, std::size_t index);
/// Those of all instructions.
std::vector<std::vector<std::size_t>> successors_of(const std::vector<SassInstruction>& function);

}  // namespace wicprof::analyzer
