// Finds the loops in a function's machine instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyzer/machine_code/sass.h"
#include "code/graph.h"

namespace wicprof::analyzer {

/// A natural loop (code/graph.h) whose back edge is a branch.
struct SassLoop {
  std::uint64_t head = 0;              ///< offset of its first instruction
  std::uint64_t back = 0;              ///< offset of the branch back to it
  std::vector<std::size_t> body;       ///< indices into the function's instructions, ascending
  Loop blocks;                         ///< of `graph`
  std::shared_ptr<const Graph> graph;  ///< of the function
};

/// `function`: all instructions of one function by offset. Shortest loop first. A branch to itself, which follows the
/// end of a function, is not a loop.
std::vector<SassLoop> find_loops(const std::vector<SassInstruction>& function);

}  // namespace wicprof::analyzer
