// Where a visit stands in a loop with barriers of the block.
#pragma once

#include <cstddef>
#include <optional>
#include <set>

#include "code/graph.h"
#include "rewriter/flow/program.h"

namespace wicprof::rewriter {

/// Of the polls, the one that each thread passes before the others, if there is one.
std::optional<std::size_t> first_of(const Graph& graph, const std::set<std::size_t>& polls);

/// The statement behind which a visit stands that follows the poll: the poll itself; where the poll is in a function
/// that the loop calls, the end of that call, with the reads of its result. The visit is executed by the threads that
/// poll, and its branches meet behind it: so a barrier behind the poll finds all threads of a warp as before. Nothing:
/// there is no such place.
std::optional<std::size_t> visit_place(const Function& function, const Program& program, std::size_t poll);

}  // namespace wicprof::rewriter
