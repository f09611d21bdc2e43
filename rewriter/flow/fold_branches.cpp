#include "rewriter/flow/fold_branches.h"

#include <algorithm>
#include <optional>

#include "code/graph.h"

namespace wicprof::rewriter {

namespace {

constexpr int kDeepest = 64;
// Values up to this are the same in each integer type, whatever conversions do.
constexpr std::int64_t kLargest = 127;

class Folder {
 public:
  explicit Folder(Program& program)
      : program_(program), makers_(makers_in(program)), asked_(makers_.size(), false), answers_(makers_.size()) {}

  void fold() {
    // All answers first: they refer to the instructions as they are.
    std::vector<std::optional<bool>> taken(program_.code.size());
    for (std::size_t i = 0; i < program_.code.size(); ++i) {
      const Instruction& instruction = program_.code[i];
      if (instruction.effect != Effect::branch || instruction.guard < 0) continue;
      const std::optional<std::int64_t> value = known({OperandKind::variable, instruction.guard}, 0);
      if (value) taken[i] = (*value != 0) != instruction.guard_negated;
    }
    for (std::size_t i = 0; i < program_.code.size(); ++i) {
      if (!taken[i]) continue;
      program_.code[i].guard = -1;
      if (!*taken[i]) clear(program_.code[i]);
    }
    remove_unreached();
  }

 private:
  static void clear(Instruction& instruction) {
    instruction.opcode = "mov";
    instruction.effect = Effect::compute;
    instruction.guard = -1;
    instruction.defines.clear();
    instruction.sources.clear();
    instruction.targets.clear();
    instruction.has_address = instruction.moves = instruction.partial = false;
    instruction.behind = -1;
  }

  std::optional<std::int64_t> known(const Operand& operand, int depth) {
    if (operand.kind == OperandKind::constant) {
      if (operand.constant < 0 || operand.constant > kLargest) return std::nullopt;
      return operand.constant;
    }
    if (operand.kind != OperandKind::variable || depth > kDeepest) return std::nullopt;
    const auto variable = static_cast<std::size_t>(operand.variable);
    if (asked_[variable]) return answers_[variable];
    asked_[variable] = true;  // a value that depends on itself is not known
    if (makers_[variable] != nullptr) answers_[variable] = result_of(*makers_[variable], depth);
    return answers_[variable];
  }

  std::optional<std::int64_t> result_of(const Instruction& from, int depth) {
    if (from.effect != Effect::compute) return std::nullopt;
    const std::string_view mnemonic = mnemonic_of(from.opcode);
    if (mnemonic == "isspacep") {
      if (has_modifier(from.opcode, "local")) return 0;
      return std::nullopt;
    }
    if (from.sources.empty()) return std::nullopt;
    const std::optional<std::int64_t> first = known(from.sources[0], depth + 1);
    if (from.moves) return first;
    if (mnemonic == "cvt" && from.sources.size() == 1 && !is_floating(from.opcode)) return first;
    if (mnemonic == "not" && has_modifier(from.opcode, "pred") && first) return *first == 0 ? 1 : 0;
    if (mnemonic == "selp" && from.sources.size() == 3) {
      const std::optional<std::int64_t> condition = known(from.sources[2], depth + 1);
      if (!condition) return std::nullopt;
      return known(from.sources[*condition != 0 ? 0 : 1], depth + 1);
    }
    if (from.sources.size() != 2 || !first) return std::nullopt;
    if (mnemonic == "add" && !is_floating(from.opcode) && from.sources[1].kind == OperandKind::constant) {
      const std::int64_t step = from.sources[1].constant;
      if (step < -kLargest || step > kLargest - *first || *first + step < 0) return std::nullopt;
      return *first + step;
    }
    const std::optional<std::int64_t> second = known(from.sources[1], depth + 1);
    if (!second) return std::nullopt;
    if (mnemonic == "and") return *first & *second;
    if (mnemonic == "or") return *first | *second;
    if (mnemonic != "setp" || !!is_floating(from.opcode)) return std::nullopt;
    if (has_modifier(from.opcode, "eq")) return *first == *second ? 1 : 0;
    if (has_modifier(from.opcode, "ne")) return *first != *second ? 1 : 0;
    if (has_modifier(from.opcode, "lt")) return *first < *second ? 1 : 0;
    if (has_modifier(from.opcode, "le")) return *first <= *second ? 1 : 0;
    if (has_modifier(from.opcode, "gt")) return *first > *second ? 1 : 0;
    if (has_modifier(from.opcode, "ge")) return *first >= *second ? 1 : 0;
    return std::nullopt;
  }

  void remove_unreached() {
    const std::vector<std::vector<std::size_t>> successors = successors_of(program_);
    const std::vector<bool> reached =
        reached_from(0, std::vector<bool>(successors.size()), [&](std::size_t i) { return successors[i]; });
    // The last instruction leaves the function, and stays.
    for (std::size_t i = 0; i + 1 < program_.code.size(); ++i) {
      if (!reached[i]) clear(program_.code[i]);
    }
  }

  Program& program_;
  std::vector<const Instruction*> makers_;
  std::vector<bool> asked_;
  std::vector<std::optional<std::int64_t>> answers_;
};

}  // namespace

void fold_branches(Program& program) { Folder(program).fold(); }

}  // namespace wicprof::rewriter
