#include "analyzer/machine_code/loops.h"

#include <algorithm>
#include <optional>

namespace wicprof::analyzer {
namespace {

using Edges = std::vector<std::vector<std::size_t>>;

// The predecessors of each instruction.
Edges predecessors(const std::vector<SassInstruction>& function) {
  Edges from(function.size());
  for (std::size_t i = 0; i < function.size(); ++i) {
    const SassInstruction& instruction = function[i];
    const bool leaves = instruction.kind == SassKind::branch || instruction.kind == SassKind::end;
    if ((!leaves || instruction.conditional) && i + 1 < function.size()) from[i + 1].push_back(i);
    if (instruction.kind != SassKind::branch) continue;
    if (const auto to = index_of(function, *instruction.target)) from[*to].push_back(i);
  }
  return from;
}

// Empty if the loop can be entered without passing its head, since it is then not a natural loop.
std::vector<std::size_t> body_of(const Edges& from, std::size_t head, std::size_t back) {
  std::vector<bool> seen(from.size());
  std::vector<std::size_t> open{back}, body;
  seen[head] = seen[back] = true;
  body.push_back(head);
  if (back != head) body.push_back(back);
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (at == head) continue;
    if (at == 0) return {};
    for (const std::size_t before : from[at]) {
      if (seen[before]) continue;
      seen[before] = true;
      body.push_back(before);
      open.push_back(before);
    }
  }
  std::sort(body.begin(), body.end());
  return body;
}

}  // namespace

std::vector<SassLoop> find_loops(const std::vector<SassInstruction>& function) {
  std::vector<SassLoop> loops;
  const Edges from = predecessors(function);
  for (std::size_t i = 0; i < function.size(); ++i) {
    const SassInstruction& branch = function[i];
    if (branch.kind != SassKind::branch || *branch.target >= branch.offset) continue;
    if (!branch.callee.empty() || branch.operation.starts_with("RET")) continue;  // of a routine: a call, not a loop
    const auto head = index_of(function, *branch.target);
    if (!head) continue;
    std::vector<std::size_t> body = body_of(from, *head, i);
    if (!body.empty()) loops.push_back({*branch.target, branch.offset, std::move(body)});
  }
  std::stable_sort(loops.begin(), loops.end(),
                   [](const SassLoop& a, const SassLoop& b) { return a.body.size() < b.body.size(); });
  return loops;
}

}  // namespace wicprof::analyzer
