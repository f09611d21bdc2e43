// The loops of a function, from its machine instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/machine_code/sass.h"

namespace wicprof::analyzer {

/// A natural loop: everything from which its back edge is reached without passing its head again. Two ways back to one
/// head are two loops, so that a short wait does not hide in the long loop around it.
struct SassLoop {
  std::uint64_t head = 0;         ///< offset of its first instruction
  std::uint64_t back = 0;         ///< offset of the branch back to it
  std::vector<std::size_t> body;  ///< indices into the function's instructions, ascending
};

/// `function`: all instructions of one function by offset. Shortest loop first. A branch to itself (what follows a
/// function's end) is none.
std::vector<SassLoop> find_loops(const std::vector<SassInstruction>& function);

}  // namespace wicprof::analyzer
