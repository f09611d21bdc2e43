#include "analyzer/machine_code/calls.h"

#include <algorithm>
#include <optional>
#include <set>

namespace wicprof::analyzer {
namespace {

/// Calls of calls are followed to this depth: a wait of libcu++ without optimisation is four calls deep.
constexpr int kMaxDepth = 8;
/// A routine grows to this many instructions; a wait loop and its callees are far shorter.
constexpr std::size_t kMaxInstructions = 20'000;
/// A longer callee is not copied, since it is work.
constexpr std::size_t kMaxCallee = 2'000;
constexpr std::uint64_t kInstructionBytes = 16;
/// Between the stacks of a function and of its callee, in the numbers of SassRegister.
constexpr SassRegister kFrame = 1 << 20;
constexpr SassRegister kFirstStackWord = 10000;

std::optional<std::size_t> index_of(const std::vector<SassInstruction>& function, std::uint64_t offset) {
  const auto found = std::lower_bound(function.begin(), function.end(), offset,
                                      [](const SassInstruction& i, std::uint64_t wanted) { return i.offset < wanted; });
  if (found == function.end() || found->offset != offset) return std::nullopt;
  return static_cast<std::size_t>(found - function.begin());
}

// The instructions that can be reached from `first` without leaving the function, ascending.
std::set<std::size_t> reachable(const std::vector<SassInstruction>& function, std::size_t first) {
  std::set<std::size_t> seen{first};
  std::vector<std::size_t> open{first};
  const auto go = [&](std::size_t to) {
    if (to < function.size() && seen.insert(to).second) open.push_back(to);
  };
  while (!open.empty()) {
    const std::size_t i = open.back();
    open.pop_back();
    const SassInstruction& instruction = function[i];
    const bool leaves = instruction.kind == SassKind::branch || instruction.kind == SassKind::end;
    if (!leaves || instruction.conditional) go(i + 1);
    if (instruction.kind != SassKind::branch) continue;
    if (const auto target = index_of(function, *instruction.target)) go(*target);
  }
  return seen;
}

class Builder {
 public:
  explicit Builder(const SassFunctions& functions) : functions_(functions) {}

  Routine build(const std::string& symbol) {
    for (const SassInstruction& instruction : functions_.at(symbol)) append(instruction, {symbol, instruction.offset});
    follow(0, 0);
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
      const std::size_t begin = routine_.code.size();
      const std::optional<std::uint64_t> entry = copy_callee(i, depth + 1);
      if (!entry) continue;
      routine_.code[i].kind = SassKind::branch;
      routine_.code[i].target = entry;
      follow(begin, depth + 1);
    }
  }

  // The offset of the copy's entry.
  std::optional<std::uint64_t> copy_callee(std::size_t call, int depth) {
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
    const std::set<std::size_t> body = reachable(callee, *first);
    if (body.size() > kMaxCallee || routine_.code.size() + body.size() > kMaxInstructions) return std::nullopt;
    const std::uint64_t base = next_offset_ - callee[*body.begin()].offset;
    for (const std::size_t i : body) {
      SassInstruction copy = callee[i];
      copy.offset += base;
      if (copy.kind == SassKind::branch) *copy.target += base;
      for (std::vector<SassRegister>* registers : {&copy.reads, &copy.writes}) {
        for (SassRegister& r : *registers) r += r >= kFirstStackWord ? depth * kFrame : 0;
      }
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
