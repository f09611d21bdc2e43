#include "rewriter/waits/ways_out.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace wicprof::rewriter {

namespace {

// Conditions are nested this deeply at most; nvcc's code without optimization needs about ten steps per condition.
constexpr int kDeepest = 40;

bool joins_conditions(std::string_view opcode) {
  static const std::set<std::string_view> kJoins = {"and", "or", "xor", "not", "mov", "cvt", "vote"};
  return kJoins.contains(mnemonic_of(opcode)) || is_block_vote(opcode);
}

class Search {
 public:
  explicit Search(const LoopValues& values) : program_(values.program()), graph_(values.graph()), values_(values) {}

  std::vector<Comparison> run() {
    for (const int block : exits_of(graph_, values_.loop())) branch_of(block);
    // Where a condition has several writers, the branches inside the loop decide which of them counts.
    if (!conditions_.empty() || !clearing_.empty()) {
      const std::set<std::set<std::size_t>> conditions = conditions_;
      const std::set<int> masks = deciding_about(clearing_);
      for (const std::size_t clears : clearing_) {
        if (const int guard = program_.code[clears].guard; guard >= 0) condition(clears, variable(guard), 0);
      }
      for (const int block : values_.loop().blocks) {
        chooses_ = masks.contains(block) ||
                   std::ranges::any_of(conditions, [&](const auto& writers) { return chooses(block, writers); });
        branch_of(block);
      }
    }
    return std::move(found_);
  }

 private:
  void branch_of(int block) {
    const std::size_t last = graph_.block(block).end - 1;
    const Instruction& instruction = program_.code[last];
    if (instruction.effect == Effect::indexed) {
      for (const Operand& source : instruction.sources) add(last, values_.value_of(last, source));
    }
    if (instruction.guard >= 0) condition(last, variable(instruction.guard), 0);
  }

  /// The blocks whose branches decide whether a round executes the instructions.
  std::set<int> deciding_about(const std::set<std::size_t>& instructions) const {
    std::set<int> deciding, seen;
    std::vector<int> open;
    for (const std::size_t instruction : instructions) open.push_back(graph_.block_of[instruction]);
    while (!open.empty()) {
      const int block = open.back();
      open.pop_back();
      if (!seen.insert(block).second) continue;
      const std::set<int> past = ways_past(block);
      const auto leads_past = [&](int after) { return ends_round(after) || past.contains(after); };
      for (const int at : values_.loop().blocks) {
        const std::vector<int>& after = graph_.block(at).after;
        if (!std::ranges::any_of(after, leads_past) || std::ranges::all_of(after, leads_past)) continue;
        deciding.insert(at);
        open.push_back(at);
      }
    }
    return deciding;
  }

  /// Whether another round begins there, or what comes behind the loop.
  bool ends_round(int block) const { return block == values_.loop().header || !values_.loop().contains(block); }

  /// The blocks from which the round, or the loop, may end without `block`.
  std::set<int> ways_past(int block) const {
    std::set<int> found;
    std::vector<int> open;
    for (const int at : values_.loop().blocks) {
      if (std::ranges::any_of(graph_.block(at).after, [&](int after) { return ends_round(after); })) open.push_back(at);
    }
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      if (at == block || !values_.loop().contains(at) || !found.insert(at).second) continue;
      if (at == values_.loop().header) continue;
      open.insert(open.end(), graph_.block(at).before.begin(), graph_.block(at).before.end());
    }
    return found;
  }

  /// The blocks of the loop that come behind `first`, itself included, in the same round.
  const std::set<int>& behind(int first) {
    const auto [known, is_new] = behind_.try_emplace(first);
    std::set<int>& seen = known->second;
    if (!is_new) return seen;
    std::vector<int> open{first};
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      if (!values_.loop().contains(at) || !seen.insert(at).second) continue;
      for (const int after : graph_.block(at).after) {
        if (after != values_.loop().header) open.push_back(after);
      }
    }
    return seen;
  }

  /// Whether the sides of the block's branch lead to different writers of a condition: those behind it, else those that
  /// have written it before.
  bool chooses(int block, const std::set<std::size_t>& writers) {
    std::set<std::set<std::size_t>> chosen;
    for (const int after : graph_.block(block).after) {
      static const std::set<int> kNothing;
      const std::set<int>& reached = after == values_.loop().header ? kNothing : behind(after);
      std::set<std::size_t> found;
      for (const std::size_t writer : writers) {
        if (writer != LoopFlow::npos && reached.contains(graph_.block_of[writer])) found.insert(writer);
      }
      for (const std::size_t writer : writers) {
        if (reached.empty() || !found.empty()) break;
        if (writer == LoopFlow::npos || behind(graph_.block_of[writer]).contains(block)) found.insert(writer);
      }
      if (!found.empty()) chosen.insert(std::move(found));
    }
    return chosen.size() > 1;
  }

  static Operand variable(int number) { return {OperandKind::variable, number}; }

  /// Who may have written what the instruction reads; npos: for memory, the code before the loop as well.
  std::set<std::size_t> origins_of(std::size_t reader, int variable) const {
    std::set<std::size_t> all = values_.flow().origins_of(reader, variable);
    const Instruction& instruction = program_.code[reader];
    if (!all.empty() && instruction.behind >= 0 && instruction.effect == Effect::load) {
      const std::vector<std::size_t> now = values_.flow().writers_of(reader, variable);
      if (std::ranges::count(now, LoopFlow::npos) != 0) all.insert(LoopFlow::npos);
    }
    return all;
  }

  /// Whether it makes an integer of a condition, which is its last source.
  static bool makes_integer(const Instruction& instruction) {
    const std::vector<Operand>& sources = instruction.sources;
    return mnemonic_of(instruction.opcode) == "selp" && sources.size() == 3 &&
           sources[0].kind == OperandKind::constant && sources[1].kind == OperandKind::constant;
  }

  void add(std::size_t instruction, Value value) {
    if (!added_.insert(instruction).second) return;
    found_.push_back({instruction, std::move(value), chooses_});
  }

  /// Whether the operand is a condition: true or false, as a predicate or as an integer.
  bool is_condition(std::size_t reader, const Operand& operand, std::set<std::pair<std::size_t, int>>& seen) const {
    if (operand.kind == OperandKind::constant) return true;
    if (operand.kind != OperandKind::variable) return false;
    if (!seen.insert({reader, operand.variable}).second) return true;  // nothing else speaks against it so far
    const std::set<std::size_t> all = values_.flow().origins_of(reader, operand.variable);
    if (all.empty()) return false;
    for (const std::size_t writer : all) {
      const Instruction& instruction = program_.code[writer];
      const std::string_view mnemonic = mnemonic_of(instruction.opcode);
      if (mnemonic == "setp" || mnemonic == "set" || makes_integer(instruction)) continue;
      if (!joins_conditions(instruction.opcode) && !passes_on(instruction)) return false;
      for (const Operand& source : instruction.sources) {
        if (mnemonic == "vote" && &source != &instruction.sources.front()) break;  // the mask
        if (!is_condition(writer, source, seen)) return false;
      }
    }
    return true;
  }

  /// Where the operand's value is moved there on several ways: who wrote it; else nobody.
  std::set<std::size_t> several_origins(std::size_t reader, Operand operand) const {
    std::set<std::size_t> seen;
    while (operand.kind == OperandKind::variable) {
      std::set<std::size_t> all = origins_of(reader, operand.variable);
      if (all.size() > 1) return all;
      if (all.empty()) return {};
      reader = *all.begin();
      const Instruction& writer = program_.code[reader];
      if (!passes_on(writer) || writer.sources.size() != 1 || !seen.insert(reader).second) return {};
      operand = writer.sources.front();
    }
    return {};
  }

  void condition(std::size_t reader, const Operand& operand, int depth) {
    if (operand.kind != OperandKind::variable || !values_.flow().written_in_loop(operand.variable)) return;
    if (!visited_.insert({reader, operand.variable}).second) return;
    const std::set<std::size_t> all = origins_of(reader, operand.variable);
    if (all.size() > 1) conditions_.insert(all);
    for (const std::size_t writer : all) {
      if (writer == LoopFlow::npos) continue;
      const Instruction& instruction = program_.code[writer];
      if (instruction.guard >= 0) condition(writer, variable(instruction.guard), depth + 1);
      const std::string_view mnemonic = mnemonic_of(instruction.opcode);
      if (depth > kDeepest) {
        add(writer, values_.result_of(writer));
      } else if (mnemonic == "setp" || mnemonic == "set") {
        comparison(writer, depth);
      } else if (makes_integer(instruction)) {
        condition(writer, instruction.sources[2], depth + 1);
      } else if (joins_conditions(instruction.opcode) || passes_on(instruction)) {
        const std::size_t count = mnemonic == "vote" ? 1 : instruction.sources.size();
        for (std::size_t i = 0; i < count && i < instruction.sources.size(); ++i) {
          condition(writer, instruction.sources[i], depth + 1);
        }
      } else {
        add(writer, values_.result_of(writer));
      }
    }
  }

  void comparison(std::size_t index, int depth) {
    const Instruction& instruction = program_.code[index];
    if (instruction.sources.size() < 2) return add(index, values_.result_of(index));
    if (instruction.sources.size() > 2) condition(index, instruction.sources[2], depth + 1);
    Value value;
    bool taken_apart = false;
    for (std::size_t i = 0; i < 2; ++i) {
      const Operand& operand = instruction.sources[i];
      const Operand& other = instruction.sources[1 - i];
      std::set<std::pair<std::size_t, int>> seen;
      if (operand.kind == OperandKind::variable && other.kind == OperandKind::constant &&
          is_condition(index, operand, seen)) {
        condition(index, operand, depth + 1);
        taken_apart = true;
      } else {
        const Value own = values_.value_of(index, operand);
        // A value of several origins: the branches between them decide too, unless the value is a count.
        if (operand.kind == OperandKind::variable && (own.sources & (kCounter | kSequence | kCarried | kTurn)) == 0) {
          if (std::set<std::size_t> all = several_origins(index, operand); !all.empty()) {
            conditions_.insert(std::move(all));
          }
        }
        if (own.sources & kMask) clearing_.merge(values_.clearing_masks_of(index));
        value.add(own);
      }
    }
    if (!taken_apart) add(index, std::move(value));
  }

  const Program& program_;
  const Graph& graph_;
  const LoopValues& values_;
  std::vector<Comparison> found_;
  std::set<std::size_t> added_;
  std::set<std::pair<std::size_t, int>> visited_;
  std::set<std::set<std::size_t>> conditions_;  // the writers of each that has several
  std::set<std::size_t> clearing_;              // instructions that take bits from masks
  std::map<int, std::set<int>> behind_;
  bool chooses_ = true;  // of the branch that is looked at
};

}  // namespace

std::vector<Comparison> comparisons_of(const LoopValues& values) { return Search(values).run(); }

}  // namespace wicprof::rewriter
