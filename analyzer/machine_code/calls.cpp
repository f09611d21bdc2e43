#include "analyzer/machine_code/calls.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/machine_code/known_values.h"
#include "code/graph.h"

namespace wicprof::analyzer {
namespace {

/// Calls of calls are followed to this depth: a wait of libcu++ without optimisation is ten calls deep.
constexpr int kMaxDepth = 16;
/// A routine grows to this many instructions; a wait loop and its callees are far shorter.
constexpr std::size_t kMaxRoutine = 20'000;
/// A longer callee is not copied, since it is work.
constexpr std::size_t kMaxCallee = 2'000;
constexpr std::uint64_t kInstructionBytes = 16;

// The instructions that can be reached from `first` without leaving the function, ascending.
std::vector<std::size_t> reachable(const std::vector<SassInstruction>& function, std::size_t first) {
  const std::vector<bool> reached = reached_from(first, std::vector<bool>(function.size()),
                                                 [&](std::size_t i) { return successors_of(function, i); });
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (reached[i]) found.push_back(i);
  }
  return found;
}

// A failed assert ends the kernel. (Where it is a function within the caller's, its name follows the caller's.)
bool never_returns(std::string_view callee) { return callee.ends_with("__assert_fail") || callee.ends_with("__trap"); }

class Builder {
 public:
  explicit Builder(const SassFunctions& functions) : functions_(functions) {}

  Routine build(const std::string& symbol) {
    const std::vector<SassInstruction>& function = functions_.at(symbol);
    // The functions that only this one calls may follow it under its symbol; those that it reaches are copied.
    if (function.empty()) return {};
    for (const std::size_t i : reachable(function, 0)) append(function[i], {symbol, function[i].offset});
    follow(0, 0);
    use_known_values(routine_);
    return std::move(routine_);
  }

 private:
  void append(SassInstruction instruction, CodePlace origin) {
    next_offset_ = std::max(next_offset_, instruction.offset + kInstructionBytes);
    routine_.code.push_back(std::move(instruction));
    routine_.origins.push_back(std::move(origin));
  }

  // Copies the callees of all calls from the instruction `first` on.
  void follow(std::size_t first, int depth) {
    const std::size_t end = routine_.code.size();
    if (depth >= kMaxDepth) return;
    for (std::size_t i = first; i < end; ++i) {
      if (routine_.code[i].kind != SassKind::call || i + 1 >= end) continue;
      if (never_returns(routine_.code[i].callee)) {
        routine_.code[i].kind = SassKind::end;
        continue;
      }
      const std::size_t begin = routine_.code.size();
      const std::optional<std::uint64_t> entry = copy_callee(i);
      if (!entry) continue;
      routine_.code[i].kind = SassKind::branch;
      routine_.code[i].target = entry;
      follow(begin, depth + 1);
    }
  }

  // The offset of the copy's entry.
  std::optional<std::uint64_t> copy_callee(std::size_t call) {
    const SassInstruction caller = routine_.code[call];
    const std::uint64_t back = routine_.code[call + 1].offset;
    std::string symbol = caller.callee;
    std::uint64_t entry = 0;
    if (!functions_.contains(symbol)) {  // its code may be part of the caller's function
      if (!caller.target) return std::nullopt;
      symbol = routine_.origins[call].symbol;
      entry = *caller.target;
    }
    const std::vector<SassInstruction>& callee = functions_.at(symbol);
    const auto first = index_of(callee, entry);
    if (!first) return std::nullopt;
    const std::vector<std::size_t> body = reachable(callee, *first);
    if (body.size() > kMaxCallee || routine_.code.size() + body.size() > kMaxRoutine) return std::nullopt;
    const std::uint64_t base = next_offset_ - callee[body.front()].offset;
    for (const std::size_t i : body) {
      SassInstruction copy = callee[i];
      copy.offset += base;
      if (copy.kind == SassKind::branch) *copy.target += base;
      if (returns(copy)) {
        copy.kind = SassKind::branch;
        copy.target = back;
      }
      append(std::move(copy), {symbol, callee[i].offset});
    }
    return entry + base;
  }

  const SassFunctions& functions_;
  Routine routine_;
  std::uint64_t next_offset_ = 0;
};

}  // namespace

Routine with_callees(const SassFunctions& functions, const std::string& symbol) {
  return Builder(functions).build(symbol);
}

}  // namespace wicprof::analyzer
