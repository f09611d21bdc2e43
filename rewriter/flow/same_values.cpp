#include "rewriter/flow/same_values.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "code/graph.h"

namespace wicprof::rewriter {

namespace {

// Steps from a condition to its comparison, or from a register to the load; code without optimization has three.
constexpr int kMostSteps = 8;

/// Whether it is an ordinary access, by one thread, to one value as wide as its register.
bool is_plain(const Instruction& access) {
  return access.has_address && access.guard < 0 && !is_strong(access.opcode) && bytes_of_type(access.opcode) >= 4 &&
         mnemonic_of(access.opcode).size() == 2 && !has_modifier(access.opcode, "release");
}

class Stored {
 public:
  explicit Stored(Program& program) : program_(program), makers_(makers_in(program)) {}

  void move() {
    std::set<int> targets;
    for (const Instruction& instruction : program_.code)
      targets.insert(instruction.targets.begin(), instruction.targets.end());
    const Instruction* stored = nullptr;
    for (Instruction& instruction : program_.code) {
      const bool begins = targets.contains(static_cast<int>(&instruction - program_.code.data()));
      if (begins || begin_ == nullptr) begin_ = &instruction;
      if (begins) stored = nullptr;
      const bool loads = instruction.effect == Effect::load;
      if (loads && stored != nullptr && instruction.defines.size() == 1 && is_plain(instruction) &&
          has_one_place(*stored, instruction)) {
        instruction.effect = Effect::compute;
        instruction.has_address = false;
        instruction.behind = -1;
        instruction.moves = true;
        instruction.sources = {stored->sources.front()};
      }
      const bool harmless = instruction.effect == Effect::compute || instruction.effect == Effect::branch ||
                            (loads && !is_strong(instruction.opcode));
      if (!harmless) stored = nullptr;
      if (stored != nullptr) {
        const auto replaces = [&](const Operand& operand) {
          return operand.kind == OperandKind::variable &&
                 std::ranges::count(instruction.defines, operand.variable) != 0;
        };
        if (replaces(stored->address) || replaces(stored->sources.front())) stored = nullptr;
      }
      const bool stores = instruction.effect == Effect::store && mnemonic_of(instruction.opcode) == "st";
      if (stores && is_plain(instruction) && instruction.sources.size() == 1) stored = &instruction;
    }
  }

 private:
  bool has_one_place(const Instruction& store, const Instruction& load) const {
    return store.offset == load.offset && bytes_of_type(store.opcode) == bytes_of_type(load.opcode) &&
           have_one_value(store.address, load.address, 0);
  }

  /// Whether the same straight code computes both in the same way, as code without optimization does for each access.
  bool have_one_value(const Operand& a, const Operand& b, int depth) const {
    if (a.kind != b.kind) return false;
    if (a.kind == OperandKind::symbol || a.kind == OperandKind::special) return a.name == b.name;
    if (a.kind == OperandKind::constant) return a.constant == b.constant;
    if (a.kind != OperandKind::variable) return false;
    if (a.variable == b.variable) return true;
    const Instruction *const of_a = makers_[static_cast<std::size_t>(a.variable)],
                             *const of_b = makers_[static_cast<std::size_t>(b.variable)];
    if (depth > kMostSteps || of_a == nullptr || of_b == nullptr || of_a < begin_ || of_b < begin_) return false;
    if (of_a->effect != Effect::compute || of_a->opcode != of_b->opcode) return false;
    // A register with several makers may have another value when the second instruction reads it.
    return std::ranges::equal(of_a->sources, of_b->sources, [&](const Operand& x, const Operand& y) {
      const bool one_maker =
          x.kind != OperandKind::variable || makers_[static_cast<std::size_t>(x.variable)] != nullptr;
      return one_maker && have_one_value(x, y, depth + 1);
    });
  }

  Program& program_;
  const std::vector<const Instruction*> makers_;
  const Instruction* begin_ = nullptr;  // of the straight code
};

class Equals {
 public:
  explicit Equals(Program& program)
      : program_(program), graph_(graph_of(successors_of(program))), makers_(makers_in(program)) {}

  void use() {
    for (const Block& block : graph_.blocks) {
      if (const std::optional<Found> found = found_behind(block)) replace(*found);
    }
  }

 private:
  struct Found {
    int loaded;     ///< variable
    Operand other;  ///< which has the same value
    int block;      ///< in it, and in those that it dominates
  };

  const Instruction* maker_of(int variable) const { return makers_[static_cast<std::size_t>(variable)]; }

  /// Whether the register has what one load or atomic has read.
  bool is_loaded(int variable) const {
    for (int step = 0; step < kMostSteps; ++step) {
      const Instruction* const maker = maker_of(variable);
      if (maker == nullptr) return false;
      if (maker->effect == Effect::load || maker->effect == Effect::atomic) return true;
      if (!maker->moves || maker->sources.front().kind != OperandKind::variable) return false;
      variable = maker->sources.front().variable;
    }
    return false;
  }

  /// Always.
  bool comes_before(const Instruction& a, const Instruction& b) const {
    const auto first = static_cast<std::size_t>(&a - program_.code.data());
    const auto second = static_cast<std::size_t>(&b - program_.code.data());
    const int block = graph_.block_of[first], other = graph_.block_of[second];
    return block == other ? first < second : graph_.dominates(block, other);
  }

  std::optional<Found> found_behind(const Block& block) const {
    const Instruction& branch = program_.code[block.end - 1];
    if (branch.effect != Effect::branch || branch.guard < 0 || branch.targets.size() != 1) return std::nullopt;
    bool equal = !branch.guard_negated;  // where the branch is taken
    const Instruction* maker = maker_of(branch.guard);
    for (int step = 0; step < kMostSteps && maker != nullptr && maker->sources.size() == 1; ++step) {
      if (!maker->moves && mnemonic_of(maker->opcode) != "not") return std::nullopt;
      if (maker->sources.front().kind != OperandKind::variable) return std::nullopt;
      equal ^= !maker->moves;
      maker = maker_of(maker->sources.front().variable);
    }
    if (maker == nullptr || mnemonic_of(maker->opcode) != "setp" || maker->sources.size() != 2) return std::nullopt;
    const bool says_equal = has_modifier(maker->opcode, "eq");
    if ((!says_equal && !has_modifier(maker->opcode, "ne")) || is_floating(maker->opcode)) return std::nullopt;
    equal ^= !says_equal;
    const Operand &a = maker->sources[0], &b = maker->sources[1];
    if (a.kind != OperandKind::variable || b.kind != OperandKind::variable) return std::nullopt;
    // Each has one maker, before the comparison, so neither changes between there and what the branch dominates.
    const Instruction *const of_a = maker_of(a.variable), *const of_b = maker_of(b.variable);
    if (of_a == nullptr || of_b == nullptr || !comes_before(*of_a, *maker) || !comes_before(*of_b, *maker) ||
        !comes_before(*maker, branch)) {
      return std::nullopt;
    }
    if (is_loaded(a.variable) == is_loaded(b.variable)) return std::nullopt;
    const std::size_t next = equal ? static_cast<std::size_t>(branch.targets.front()) : block.end;
    if (next >= program_.code.size()) return std::nullopt;
    const int to = graph_.block_of[next];
    if (graph_.block(to).before.size() != 1 || block.after.size() != 2) return std::nullopt;
    return is_loaded(a.variable) ? Found{a.variable, b, to} : Found{b.variable, a, to};
  }

  /// Comparisons stay: the code that a patch adds may use their registers.
  void replace(const Found& found) {
    for (std::size_t i = 0; i < program_.code.size(); ++i) {
      Instruction& instruction = program_.code[i];
      if (mnemonic_of(instruction.opcode) == "setp" || !graph_.dominates(found.block, graph_.block_of[i])) continue;
      for (Operand& source : instruction.sources) {
        if (source.kind == OperandKind::variable && source.variable == found.loaded) source = found.other;
      }
    }
  }

  Program& program_;
  const Graph graph_;
  const std::vector<const Instruction*> makers_;
};

}  // namespace

void use_same_values(Program& program) {
  Stored(program).move();
  Equals(program).use();
}

}  // namespace wicprof::rewriter
