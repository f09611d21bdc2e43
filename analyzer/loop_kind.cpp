#include "analyzer/loop_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace wicprof::analyzer {
namespace {

/// A wait loop looks, compares and goes back; unrolled four times, with a deadline, it still has fewer than this.
constexpr std::size_t kLongest = 128;
/// A clock or a counter may be scaled; more floating point than that is work.
constexpr std::size_t kFewFloating = 2;
/// How far before a loop the atomic stands with which a block arrives at a barrier.
constexpr std::size_t kArrivalDistance = 48;

using Registers = std::set<SassRegister>;

bool any_of(const std::vector<SassRegister>& registers, const Registers& set) {
  return std::any_of(registers.begin(), registers.end(), [&](SassRegister r) { return set.contains(r); });
}

bool reads_clock(const SassInstruction& instruction) {
  return instruction.text.find("SR_CLOCK") != std::string::npos ||
         instruction.text.find("SR_GLOBALTIMER") != std::string::npos;
}

// A register that has another value in another round.
Registers varying_registers(const std::vector<SassInstruction>& function, const SassLoop& loop) {
  std::map<SassRegister, int> definitions;
  for (const std::size_t i : loop.body) {
    for (const SassRegister r : function[i].writes) ++definitions[r];
  }
  Registers varying;
  for (const auto& [r, count] : definitions) varying.insert(r);
  // What is computed anew each round from what stays the same, stays the same.
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::size_t i : loop.body) {
      const SassInstruction& instruction = function[i];
      const bool brings_news = instruction.kind == SassKind::load || instruction.kind == SassKind::atomic ||
                               instruction.kind == SassKind::try_wait || reads_clock(instruction) ||
                               !instruction.guard.empty();
      if (brings_news || any_of(instruction.reads, varying)) continue;
      for (const SassRegister r : instruction.writes) {
        if (definitions[r] == 1) changed = varying.erase(r) > 0 || changed;
      }
    }
  }
  return varying;
}

// All that is computed in the loop from what instruction `from` brings.
Registers consequences(const std::vector<SassInstruction>& function, const SassLoop& loop, std::size_t from) {
  Registers values(function[from].writes.begin(), function[from].writes.end());
  for (std::size_t known = 0; known != values.size();) {
    known = values.size();
    for (const std::size_t i : loop.body) {
      if (any_of(function[i].reads, values)) values.insert(function[i].writes.begin(), function[i].writes.end());
    }
  }
  return values;
}

// What decides whether the loop is left.
Registers exit_predicates(const std::vector<SassInstruction>& function, const SassLoop& loop) {
  const auto inside = [&](std::uint64_t offset) {
    return std::any_of(loop.body.begin(), loop.body.end(), [&](std::size_t i) { return function[i].offset == offset; });
  };
  Registers predicates;
  for (const std::size_t i : loop.body) {
    const SassInstruction& instruction = function[i];
    const bool leaves = instruction.kind == SassKind::end ||
                        (instruction.kind == SassKind::branch &&
                         (!inside(*instruction.target) || i + 1 >= function.size() || !inside(function[i + 1].offset)));
    if (leaves) predicates.insert(instruction.guard.begin(), instruction.guard.end());
  }
  return predicates;
}

bool is_exchange(const SassInstruction& atomic) {
  return has_part(atomic.operation, "CAS") || has_part(atomic.operation, "CAST") || has_part(atomic.operation, "EXCH");
}

// The operands of an atomic behind its address: what it compares with and stores.
bool stores_its_own_result(const SassInstruction& atomic, const Registers& result) {
  bool behind = false;
  for (const std::string& operand : atomic.operands) {
    if (operand.find('[') != std::string::npos) {
      behind = true;
      continue;
    }
    if (!behind) continue;
    store::SassRow row;
    row.text = "MOV RZ, " + operand;
    if (any_of(decode(row).reads, result)) return true;
  }
  return false;
}

// An atomic on the word that the loop will poll, shortly before it.
bool arrives_before(const std::vector<SassInstruction>& function, const SassLoop& loop, const SassInstruction& look) {
  const std::size_t head = loop.body.front();
  const std::size_t first = head > kArrivalDistance ? head - kArrivalDistance : 0;
  for (std::size_t i = first; i < head; ++i) {
    const SassInstruction& before = function[i];
    const bool arrives = (before.kind == SassKind::atomic && !is_exchange(before)) || before.operation.starts_with("RED");
    if (arrives && !before.address.empty() && before.address == look.address) return true;
  }
  return false;
}

struct Census {
  std::size_t stores = 0, floating = 0, tensor = 0;
};

Census count(const std::vector<SassInstruction>& function, const SassLoop& loop) {
  Census census;
  for (const std::size_t i : loop.body) {
    census.stores += function[i].kind == SassKind::store ? 1 : 0;
    census.floating += function[i].kind == SassKind::floating ? 1 : 0;
    census.tensor += function[i].kind == SassKind::tensor ? 1 : 0;
  }
  return census;
}

LoopJudgement work(LoopJudgement judgement, std::string why) {
  judgement.why = std::move(why);
  return judgement;
}

}  // namespace

std::string_view loop_kind_name(LoopKind kind) {
  switch (kind) {
    case LoopKind::work:
      return "work";
    case LoopKind::pointer_chase:
      return "pointer_chase";
    case LoopKind::atomic_update:
      return "atomic_update";
    case LoopKind::try_wait:
      return "try_wait";
    case LoopKind::poll:
      return "poll";
    case LoopKind::atomic_poll:
      return "atomic_poll";
    case LoopKind::lock:
      return "lock";
    case LoopKind::grid_barrier:
      return "grid_barrier";
  }
  return "work";
}

bool is_polling(LoopKind kind) {
  return kind == LoopKind::poll || kind == LoopKind::atomic_poll || kind == LoopKind::lock ||
         kind == LoopKind::grid_barrier;
}

LoopJudgement judge_loop(const std::vector<SassInstruction>& function, const SassLoop& loop) {
  LoopJudgement judgement;
  const Census census = count(function, loop);
  judgement.arithmetic = census.floating + census.tensor;
  const Registers varying = varying_registers(function, loop);
  const Registers exits = exit_predicates(function, loop);

  bool walks = false, chases = false, updates = false, waits_at_barrier = false;
  for (const std::size_t i : loop.body) {
    const SassInstruction& instruction = function[i];
    judgement.sleeps = judgement.sleeps || instruction.kind == SassKind::sleep;
    judgement.fences = judgement.fences || instruction.kind == SassKind::fence;
    const bool reads_word = instruction.kind == SassKind::load || instruction.kind == SassKind::atomic;
    if (!reads_word && instruction.kind != SassKind::try_wait) continue;
    const Registers found = consequences(function, loop, i);
    const bool decides = std::any_of(exits.begin(), exits.end(), [&](SassRegister r) { return found.contains(r); });
    if (instruction.kind == SassKind::try_wait) {
      waits_at_barrier = waits_at_barrier || decides;
      continue;
    }
    if (any_of(instruction.address, found)) {
      chases = true;
    } else if (any_of(instruction.address, varying)) {
      walks = true;
    } else if (instruction.kind == SassKind::atomic && is_exchange(instruction) &&
               stores_its_own_result(instruction, found)) {
      updates = true;
    } else if (decides && (!judgement.look || (instruction.strong && !judgement.strong) ||
                           instruction.kind == SassKind::atomic)) {
      judgement.look = i;
      judgement.strong = instruction.strong || instruction.kind == SassKind::atomic;
    }
  }
  for (const std::size_t i : loop.body) {
    if (!reads_clock(function[i])) continue;
    const Registers found = consequences(function, loop, i);
    judgement.deadline =
        judgement.deadline || std::any_of(exits.begin(), exits.end(), [&](SassRegister r) { return found.contains(r); });
  }

  if (updates) {
    // The load of the first guess is at the same word; it is the update that decides.
    judgement.kind = LoopKind::atomic_update;
    judgement.look.reset();
    return work(judgement, "repeats an atomic update with the value that it found");
  }
  if (!judgement.look) {
    if (waits_at_barrier) {
      judgement.kind = LoopKind::try_wait;
      return work(judgement, "waits at an mbarrier");
    }
    if (chases) {
      judgement.kind = LoopKind::pointer_chase;
      return work(judgement, "each load's value is the next load's address");
    }
    return work(judgement, walks ? "its loads go through memory" : "no load decides when it ends");
  }
  if (census.tensor > 0 || census.floating > kFewFloating) return work(judgement, "it computes");
  if (loop.body.size() > kLongest) return work(judgement, "it is too long for a wait");
  const SassInstruction& look = function[*judgement.look];
  if (census.stores > 0) return work(judgement, "it stores");
  if (chases) return work(judgement, "its loads follow pointers");
  // Beside the look, other loads: a second flag stays where it is, data does not.
  if (walks) return work(judgement, "its loads go through memory");

  if (look.kind == SassKind::atomic) {
    judgement.kind = is_exchange(look) ? LoopKind::lock : LoopKind::atomic_poll;
    judgement.why = is_exchange(look) ? fmt::format("{} tries to take one word until that succeeds", look.operation)
                                      : fmt::format("{} on one word until its value is right", look.operation);
  } else {
    judgement.kind = arrives_before(function, loop, look) ? LoopKind::grid_barrier : LoopKind::poll;
    judgement.why = fmt::format("{} of one word, whose value decides when the loop ends; no stores", look.operation);
    if (judgement.kind == LoopKind::grid_barrier) judgement.why += "; an atomic on that word stands before the loop";
  }
  return judgement;
}

}  // namespace wicprof::analyzer
