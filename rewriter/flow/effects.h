// What each PTX instruction does beyond computing a value: the one table of opcodes.
#pragma once

#include <string_view>

namespace wicprof::rewriter {

enum class Effect {
  compute,    ///< reads and writes registers only
  load,       ///< ld, ldu, multimem.ld_reduce
  store,      ///< st
  atomic,     ///< atom
  reduction,  ///< red, and what changes an mbarrier
  fence,      ///< membar, fence
  sleep,      ///< nanosleep
  warp,       ///< votes, shuffles and other exchanges within the warp
  barrier,    ///< waits for other warps
  branch,     ///< bra
  indexed,    ///< brx.idx
  leave,      ///< ret, exit, trap
  call,
  hardware_wait,  ///< tries of an mbarrier, and others whose waiting the hardware does
  asynchronous,   ///< copies and matrix operations that go on by themselves
  other_memory,   ///< textures, surfaces, prefetches
  unknown,        ///< not in the table
};

/// The effect of an instruction with its modifiers, such as "ld.volatile.global.u32".
Effect effect_of(std::string_view opcode);

/// A barrier of the block whose result joins a condition of each thread.
bool is_block_vote(std::string_view opcode);

/// Whether the first operand is written.
bool writes_first_operand(std::string_view opcode);

/// The opcode up to its first dot.
std::string_view mnemonic_of(std::string_view opcode);

/// Whether `modifier` is one of the parts between the dots; what a part has behind `::` does not count.
bool has_modifier(std::string_view opcode, std::string_view modifier);

/// Whether a type of the instruction is one of floating-point numbers.
bool is_floating(std::string_view opcode);

/// Whether a load must observe the stores of other threads, as far as its modifiers tell.
bool is_strong(std::string_view opcode);

/// Bytes of the type at the opcode's end; 0 for types without a size.
int bytes_of_type(std::string_view opcode);

}  // namespace wicprof::rewriter
