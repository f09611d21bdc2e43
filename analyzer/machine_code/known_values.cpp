#include "analyzer/machine_code/known_values.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/machine_code/instruction_values.h"

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
      : code_(code), begins_block_(code.size()), before_(code.size()), effects_(code.size()) {
    for (const SassInstruction& instruction : code) {
      if (instruction.kind != SassKind::branch) continue;
      if (const auto target = index_of(code, *instruction.target)) begins_block_[*target] = true;
    }
  }

  // Whether each instruction can run.
  std::vector<bool> simplify() {
    enter(0, Values{{kStackPointer, Sum{.stack = 1}}});
    while (!open_.empty()) {
      const std::size_t block = open_.back();
      open_.pop_back();
      run(block, [](std::size_t, const Values&) {});
    }
    for (std::size_t block = 0; block < code_.size(); ++block) {
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
    if (block >= code_.size()) return;
    if (!before_[block]) {
      before_[block] = values;
    } else if (!keep_common(*before_[block], values)) {
      return;
    }
    open_.push_back(block);
  }

  // Executes from the start of a block to where control can go elsewhere.
  template <class Visit>
  void run(std::size_t block, Visit visit) {
    Values values = *before_[block];
    for (std::size_t i = block; i < code_.size(); ++i) {
      if (i != block && (begins_block_[i] || before_[i])) return enter(i, values);
      const SassInstruction& instruction = code_[i];
      visit(i, values);
      const std::optional<bool> takes = takes_effect(values, instruction);
      if (takes == false) continue;
      execute(values, instruction, takes == true);
      if (instruction.kind != SassKind::branch && instruction.kind != SassKind::end) continue;
      if (instruction.kind == SassKind::branch) {
        if (const auto target = index_of(code_, *instruction.target)) enter(*target, values);
      }
      if (!takes) enter(i + 1, values);
      return;
    }
  }

  std::vector<SassInstruction>& code_;
  std::vector<bool> begins_block_;             // a branch leads there
  std::vector<std::optional<Values>> before_;  // by the first instruction of a block
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
