#include "analyzer/machine_code/known_values.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/machine_code/instruction_values.h"
#include "code/graph.h"

namespace wicprof::analyzer {
namespace {

// Keeps what both know; whether that changed `values`.
bool keep_common(Values& values, const Values& others) {
  return std::erase_if(values, [&](const auto& entry) { return read(others, entry.first) != entry.second; }) > 0;
}

void drop_guard(SassInstruction& instruction) {
  instruction.conditional = false;
  for (const SassRegister guard : instruction.guard) std::erase(instruction.reads, guard);
  instruction.guard.clear();
}

void use_words(SassInstruction& instruction, const StackAccess& access) {
  std::vector<SassRegister> data;
  if (const auto r = register_of(access.data)) {
    for (std::size_t i = 0; i < access.words.size(); ++i) data.push_back(*r + static_cast<SassRegister>(i));
  }
  std::erase(data, kStackPointer);
  instruction.reads = access.store ? data : access.words;
  instruction.writes = access.store ? access.words : data;
  instruction.reads.insert(instruction.reads.end(), instruction.guard.begin(), instruction.guard.end());
  instruction.address.clear();
  instruction.kind = SassKind::other;
  instruction.strong = false;
}

// Propagates values along the branches that can be taken, until nothing changes (Wegman, Zadeck: Constant propagation
// with conditional branches, 1991).
class Propagation {
 public:
  explicit Propagation(std::vector<SassInstruction>& code)
      : code_(code), graph_(graph_of(successors_of(code))), before_(graph_.blocks.size()), effects_(code.size()) {}

  // Whether each instruction can run.
  std::vector<bool> simplify() {
    enter(0, Values{{kStackPointer, Sum{.stack = 1}}});
    while (!open_.empty()) {
      const std::size_t block = open_.back();
      open_.pop_back();
      run(block, [](std::size_t, const Values&) {});
    }
    for (std::size_t block = 0; block < before_.size(); ++block) {
      if (!before_[block]) continue;
      run(block, [&](std::size_t i, const Values& values) { note(i, values); });
    }
    std::vector<bool> reached(code_.size());
    for (std::size_t i = 0; i < code_.size(); ++i) {
      reached[i] = effects_[i].reached && effects_[i].takes != false;
      if (reached[i]) apply(code_[i], effects_[i]);
    }
    return reached;
  }

 private:
  struct Effect {
    bool reached = false;
    std::optional<bool> takes;
    std::optional<StackAccess> access;
    bool computes_address = false;
  };

  void note(std::size_t i, const Values& values) {
    Effect& effect = effects_[i];
    effect.reached = true;
    effect.takes = takes_effect(values, code_[i]);
    effect.access = stack_access(values, code_[i]);
    if (code_[i].kind != SassKind::integer) return;
    const auto result = result_of(values, code_[i]);
    effect.computes_address = result && result->value->is_address();
  }

  static void apply(SassInstruction& instruction, const Effect& effect) {
    if (effect.takes == true && instruction.conditional) drop_guard(instruction);
    if (effect.access) use_words(instruction, *effect.access);
    if (effect.computes_address) instruction.kind = SassKind::other;
  }

  void enter(std::size_t block, const Values& values) {
    if (block >= before_.size()) return;
    if (!before_[block]) {
      before_[block] = values;
    } else if (!keep_common(*before_[block], values)) {
      return;
    }
    open_.push_back(block);
  }

  template <class Visit>
  void run(std::size_t block, Visit visit) {
    Values values = *before_[block];
    std::optional<bool> takes;  // the last instruction's
    for (std::size_t i = graph_.blocks[block].begin; i < graph_.blocks[block].end; ++i) {
      visit(i, values);
      takes = takes_effect(values, code_[i]);
      if (takes != false) execute(values, code_[i], takes == true);
    }
    const SassInstruction& last = code_[graph_.blocks[block].end - 1];
    if (last.kind == SassKind::branch && takes != false) {
      if (const auto target = index_of(code_, *last.target)) enter(block_of(*target), values);
    }
    const bool leaves = last.kind == SassKind::branch || last.kind == SassKind::end;
    if (!leaves || takes != true) enter(block + 1, values);
  }

  std::size_t block_of(std::size_t instruction) const { return static_cast<std::size_t>(graph_.block_of[instruction]); }

  std::vector<SassInstruction>& code_;
  const Graph graph_;
  std::vector<std::optional<Values>> before_;  // by block
  std::vector<std::size_t> open_;
  std::vector<Effect> effects_;
};

}  // namespace

void use_known_values(Routine& routine) {
  if (routine.code.empty()) return;
  const std::vector<bool> reached = Propagation(routine.code).simplify();
  Routine kept;
  for (std::size_t i = 0; i < routine.code.size(); ++i) {
    if (!reached[i]) continue;
    kept.code.push_back(std::move(routine.code[i]));
    kept.origins.push_back(std::move(routine.origins[i]));
  }
  routine = std::move(kept);
}

}  // namespace wicprof::analyzer
