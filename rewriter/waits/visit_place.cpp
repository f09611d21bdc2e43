#include "rewriter/waits/visit_place.h"

#include <algorithm>

namespace wicprof::rewriter {

std::optional<std::size_t> first_of(const Graph& graph, const std::set<std::size_t>& polls) {
  for (const std::size_t poll : polls) {
    const int block = graph.block_of[poll];
    const bool comes_first = std::ranges::all_of(polls, [&](std::size_t other) {
      return graph.block_of[other] == block ? other >= poll : graph.dominates(block, graph.block_of[other]);
    });
    if (comes_first) return poll;
  }
  return std::nullopt;
}

std::optional<std::size_t> visit_place(const Function& function, const Program& program, std::size_t poll) {
  const Instruction& instruction = program.code[poll];
  const std::vector<Statement>& statements = function.statements;
  std::size_t at = instruction.statement;
  if (at >= statements.size()) return std::nullopt;
  if (!instruction.inlined) return at;
  if (!statements[at].guard.empty()) return std::nullopt;
  // PTX wants nothing between a call and the reads of its result. nvcc puts both into a scope of their own.
  const auto reads_result = [](const Statement& statement) {
    return mnemonic_of(statement.opcode()) == "ld" && has_modifier(statement.opcode(), "param");
  };
  while (at + 1 < statements.size() && reads_result(statements[at + 1])) ++at;
  if (at + 1 < statements.size() && statements[at + 1].kind == StatementKind::close) ++at;
  return at;
}

}  // namespace wicprof::rewriter
