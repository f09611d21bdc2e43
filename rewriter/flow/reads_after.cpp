#include "rewriter/flow/reads_after.h"

#include <algorithm>

namespace wicprof::rewriter {

namespace {

bool reads(const Instruction& instruction, int variable) {
  const auto is_it = [&](const Operand& operand) {
    return operand.kind == OperandKind::variable && operand.variable == variable;
  };
  return instruction.guard == variable || (instruction.has_address && is_it(instruction.address)) ||
         std::any_of(instruction.sources.begin(), instruction.sources.end(), is_it);
}

bool replaces(const Instruction& instruction, int variable) {
  return instruction.guard < 0 && !instruction.partial &&
         std::find(instruction.defines.begin(), instruction.defines.end(), variable) != instruction.defines.end();
}

}  // namespace

bool reads_after(const Program& program, const Graph& graph, int block, int variable) {
  std::vector<bool> seen(graph.blocks.size(), false);
  std::vector<int> open{block};
  seen[static_cast<std::size_t>(block)] = true;
  while (!open.empty()) {
    const Block& now = graph.blocks[static_cast<std::size_t>(open.back())];
    open.pop_back();
    bool replaced = false;
    for (std::size_t i = now.begin; i < now.end && !replaced; ++i) {
      if (reads(program.code[i], variable)) return true;
      replaced = replaces(program.code[i], variable);
    }
    if (replaced) continue;
    for (const int after : now.after) {
      if (seen[static_cast<std::size_t>(after)]) continue;
      seen[static_cast<std::size_t>(after)] = true;
      open.push_back(after);
    }
  }
  return false;
}

}  // namespace wicprof::rewriter
