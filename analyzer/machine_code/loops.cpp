#include "analyzer/machine_code/loops.h"

#include <algorithm>
#include <tuple>

namespace wicprof::analyzer {

std::vector<SassLoop> find_loops(const std::vector<SassInstruction>& function) {
  std::vector<SassLoop> loops;
  if (function.empty()) return loops;
  const auto graph = std::make_shared<const Graph>(graph_of(successors_of(function)));
  for (const Loop& loop : loops_of(*graph)) {
    const SassInstruction& head = function[graph->block(loop.header).begin];
    const SassInstruction& branch = function[graph->block(loop.tail).end - 1];
    if (branch.kind != SassKind::branch || *branch.target != head.offset || head.offset >= branch.offset) continue;
    if (!branch.callee.empty() || branch.operation.starts_with("RET")) continue;  // of a routine: a call, not a loop
    SassLoop& found = loops.emplace_back(SassLoop{head.offset, branch.offset, {}, loop, graph});
    each_instruction(*graph, loop, [&](std::size_t i) { found.body.push_back(i); });
  }
  std::ranges::sort(loops, [](const SassLoop& a, const SassLoop& b) {
    return std::make_tuple(a.body.size(), a.back) < std::make_tuple(b.body.size(), b.back);
  });
  return loops;
}

}  // namespace wicprof::analyzer
