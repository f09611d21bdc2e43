#include "rewriter/waits/wanted.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace wicprof::rewriter {

namespace {

// Values are moved this often between the poll and the comparison at most; nvcc's code without optimization needs about
// ten steps.
constexpr int kLongestChain = 40;

using Relation = WantedRelation;

/// A comparison of the word with a constant: "word RELATION constant".
struct Test {
  std::string_view comparison;  ///< eq, ne, lt, le, gt, ge
  bool is_signed = false;
  std::uint64_t constant = 0;
  std::uint64_t mask = ~std::uint64_t{0};
};

/// A comparison of integers as PTX names it: of unsigned numbers, its opposite, and with the operands exchanged.
struct ComparisonNames {
  std::string_view name, of_unsigned, opposite, mirrored;
};
constexpr std::array<ComparisonNames, 6> kComparisons = {{{"eq", "eq", "ne", "eq"},
                                                          {"ne", "ne", "eq", "ne"},
                                                          {"lt", "lo", "ge", "gt"},
                                                          {"le", "ls", "gt", "ge"},
                                                          {"gt", "hi", "le", "lt"},
                                                          {"ge", "hs", "lt", "le"}}};

const ComparisonNames& names_of(std::string_view comparison) {
  return *std::ranges::find(kComparisons, comparison, &ComparisonNames::name);
}

/// The opcode's comparison of integers; empty: another one.
std::string_view comparison_in(std::string_view opcode) {
  for (const ComparisonNames& each : kComparisons) {
    if (has_modifier(opcode, each.name) || has_modifier(opcode, each.of_unsigned)) return each.name;
  }
  return {};
}

class Finder {
 public:
  Finder(const LoopValues& values, std::size_t poll, bool is_64_bit)
      : program_(values.program()), graph_(values.graph()), values_(values), poll_(poll), is_64_bit_(is_64_bit) {}

  WantedValue find() const {
    std::optional<std::size_t> compares;
    for (const Comparison& each : comparisons_of(values_)) {
      if (!each.value.polls.contains(poll_)) continue;
      if (compares) return {};
      compares = each.instruction;
    }
    if (!compares) return {};
    const std::optional<Test> test = test_of(*compares);
    if (!test) return {};
    std::optional<bool> leaves_if_true;
    for (const int b : exits_of(graph_, values_.loop())) {
      const Block& block = graph_.block(b);
      const Instruction& branch = program_.code[block.end - 1];
      if (branch.guard < 0 || branch.targets.size() != 1) continue;
      const std::optional<bool> same = follows(block.end - 1, branch.guard, *compares, kLongestChain);
      if (!same) continue;
      const int target = graph_.block_of[static_cast<std::size_t>(branch.targets.front())];
      const bool taken_leaves = !values_.loop().contains(target);
      const bool if_true = (*same != branch.guard_negated) == taken_leaves;
      if (leaves_if_true && *leaves_if_true != if_true) return {};
      leaves_if_true = if_true;
    }
    if (!leaves_if_true) return {};
    return wanted(*test, *leaves_if_true ? test->comparison : names_of(test->comparison).opposite);
  }

 private:
  /// The only instruction that may have written what the instruction reads.
  std::optional<std::size_t> writer_of(std::size_t reader, int variable) const {
    const std::vector<std::size_t> all = values_.flow().writers_of(reader, variable);
    if (all.size() != 1) return std::nullopt;
    if (all.front() != LoopFlow::npos) return all.front();
    const std::vector<std::size_t> last = values_.flow().last_writers_of(variable);  // the round before
    if (last.size() != 1 || last.front() == LoopFlow::npos) return std::nullopt;
    return last.front();
  }

  /// Whether a condition is true with the comparison (true) or without it (false); nothing: it does not depend on it.
  std::optional<bool> follows(std::size_t reader, int variable, std::size_t compares, int steps) const {
    const std::optional<std::size_t> writer = writer_of(reader, variable);
    if (!writer || steps == 0) return std::nullopt;
    const Instruction& instruction = program_.code[*writer];
    if (instruction.guard >= 0) return std::nullopt;
    const std::string_view mnemonic = mnemonic_of(instruction.opcode);
    if (*writer == compares) {
      // A setp with two results has the opposite in the second one.
      return instruction.defines.size() == 1 ? std::optional(true) : std::nullopt;
    }
    const auto source = [&](std::size_t i) -> std::optional<bool> {
      if (i >= instruction.sources.size() || instruction.sources[i].kind != OperandKind::variable) return std::nullopt;
      return follows(*writer, instruction.sources[i].variable, compares, steps - 1);
    };
    const auto flipped = [](std::optional<bool> value) { return value ? std::optional(!*value) : std::nullopt; };
    if (mnemonic == "not") return flipped(source(0));
    if (instruction.moves) return source(0);
    if (mnemonic == "and" || mnemonic == "or") {
      const std::optional<bool> first = source(0);
      return first ? first : source(1);
    }
    if (mnemonic == "selp" && instruction.sources.size() == 3) {
      std::int64_t one = 0, other = 0;
      if (!values_.constant_of(instruction.sources[0], one) || !values_.constant_of(instruction.sources[1], other) ||
          (one != 0) == (other != 0)) {
        return std::nullopt;
      }
      return one != 0 ? source(2) : flipped(source(2));
    }
    if (mnemonic == "setp" && instruction.sources.size() == 2) {  // of an integer that holds a condition
      std::int64_t constant = 0;
      const std::string_view comparison = comparison_in(instruction.opcode);
      if (!values_.constant_of(instruction.sources[1], constant) || (comparison != "eq" && comparison != "ne")) {
        return std::nullopt;
      }
      if (constant != 0 && constant != 1) return std::nullopt;
      return (comparison == "ne") == (constant == 0) ? source(0) : flipped(source(0));
    }
    return std::nullopt;
  }

  /// Follows a compared operand to the poll; the mask that was laid on the value. Nothing: something else is compared.
  std::optional<std::uint64_t> mask_of(std::size_t reader, Operand operand) const {
    std::uint64_t mask = ~std::uint64_t{0};
    for (int step = 0; step < kLongestChain; ++step) {
      if (operand.kind != OperandKind::variable) return std::nullopt;
      const std::optional<std::size_t> writer = writer_of(reader, operand.variable);
      if (!writer) return std::nullopt;
      if (*writer == poll_) return mask;
      const Instruction& instruction = program_.code[*writer];
      if (instruction.guard >= 0 || instruction.partial) return std::nullopt;
      const std::string_view mnemonic = mnemonic_of(instruction.opcode);
      if (mnemonic == "and" && instruction.sources.size() == 2) {
        std::int64_t constant = 0;
        const bool second = values_.constant_of(instruction.sources[1], constant);
        if (!second && !values_.constant_of(instruction.sources[0], constant)) return std::nullopt;
        mask &= static_cast<std::uint64_t>(constant);
        operand = instruction.sources[second ? 0 : 1];
      } else if (instruction.moves) {
        operand = instruction.sources.front();
      } else {
        return std::nullopt;
      }
      reader = *writer;
    }
    return std::nullopt;
  }

  std::optional<Test> test_of(std::size_t compares) const {
    const Instruction& instruction = program_.code[compares];
    if (mnemonic_of(instruction.opcode) != "setp" || instruction.sources.size() != 2) return std::nullopt;
    const std::string_view bits = is_64_bit_ ? "64" : "32";
    const bool is_signed = has_modifier(instruction.opcode, std::string("s") + std::string(bits));
    if (!is_signed && !has_modifier(instruction.opcode, std::string("u") + std::string(bits)) &&
        !has_modifier(instruction.opcode, std::string("b") + std::string(bits))) {
      return std::nullopt;
    }
    Test test;
    test.comparison = comparison_in(instruction.opcode);
    test.is_signed = is_signed;
    if (test.comparison.empty()) return std::nullopt;
    std::int64_t constant = 0;
    const bool second = values_.constant_of(instruction.sources[1], constant);
    if (!second && !values_.constant_of(instruction.sources[0], constant)) return std::nullopt;
    if (!second) test.comparison = names_of(test.comparison).mirrored;
    test.constant = static_cast<std::uint64_t>(constant);
    const std::optional<std::uint64_t> mask = mask_of(compares, instruction.sources[second ? 0 : 1]);
    if (!mask) return std::nullopt;
    test.mask = *mask;
    return test;
  }

  WantedValue wanted(const Test& test, std::string_view comparison) const {
    const std::uint64_t all = is_64_bit_ ? ~std::uint64_t{0} : 0xffff'ffffu;
    const std::uint64_t top = test.is_signed ? all >> 1 : all, bottom = test.is_signed ? (all >> 1) + 1 : 0;
    WantedValue found;
    found.is_64_bit = is_64_bit_;
    found.value = test.constant & all;
    found.mask = test.mask;
    const bool masked = (test.mask & all) != all;
    if (comparison == "eq" || comparison == "ne") {
      found.relation = comparison == "eq" ? Relation::equal : Relation::not_equal;
      return found;
    }
    if (masked) return {};
    const bool upwards = comparison == "gt" || comparison == "ge";
    if (comparison == "gt" && found.value == top) return {};
    if (comparison == "lt" && found.value == bottom) return {};
    if (comparison == "gt") found.value = (found.value + 1) & all;
    if (comparison == "lt") found.value = (found.value - 1) & all;
    found.relation = test.is_signed ? (upwards ? Relation::signed_at_least : Relation::signed_at_most)
                                    : (upwards ? Relation::at_least : Relation::at_most);
    return found;
  }

  const Program& program_;
  const Graph& graph_;
  const LoopValues& values_;
  const std::size_t poll_;
  const bool is_64_bit_;
};

}  // namespace

WantedValue wanted_of(const LoopValues& values, std::size_t poll, bool is_64_bit) {
  return Finder(values, poll, is_64_bit).find();
}

}  // namespace wicprof::rewriter
