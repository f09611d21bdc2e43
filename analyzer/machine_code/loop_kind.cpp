#include "analyzer/machine_code/loop_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace wicprof::analyzer {
namespace {

/// A wait loop looks, compares and goes back; unrolled four times, with a deadline, it still has fewer than this.
constexpr std::size_t kLongest = 128;
/// A clock or a counter may be scaled; more floating point than that is work.
constexpr std::size_t kFewFloating = 2;
/// A wait may count its rounds and choose the lane that looks; more integer work than that is a search or a hash.
constexpr std::size_t kFewInteger = 6;
/// How far before a loop the atomic stands with which a block arrives at a barrier.
constexpr std::size_t kArrivalDistance = 48;

using Places = std::set<std::size_t>;  // positions in a loop's body

bool contains(const std::vector<SassRegister>& registers, SassRegister r) {
  return std::find(registers.begin(), registers.end(), r) != registers.end();
}

bool reads_clock(const SassInstruction& instruction) {
  return instruction.text.find("SR_CLOCK") != std::string::npos ||
         instruction.text.find("SR_GLOBALTIMER") != std::string::npos;
}

// Where values come from within one round of a loop and the round before. Registers are used for one thing after
// another, so it is the last write before the read that counts.
class DataFlow {
 public:
  DataFlow(const std::vector<SassInstruction>& function, const SassLoop& loop) : function_(function), loop_(loop) {
    const std::size_t count = loop.body.size();
    joins_.resize(count);
    for (std::size_t p = 0; p < count; ++p) {
      const SassInstruction& instruction = at(p);
      if (instruction.kind != SassKind::branch || *instruction.target == loop.head) continue;
      for (std::size_t to = 0; to < count; ++to) {
        if (at(to).offset != *instruction.target) continue;
        joins_[to] = true;
        if (p + 1 < count) joins_[p + 1] = true;
      }
    }
  }

  std::size_t size() const { return loop_.body.size(); }
  const SassInstruction& at(std::size_t place) const { return function_[loop_.body[place]]; }

  /// Everything in the loop that the values of `registers`, as the instruction at `place` finds them, are made from.
  Places sources(std::size_t place, const std::vector<SassRegister>& registers) const {
    Places found;
    std::vector<std::pair<std::size_t, SassRegister>> open;
    for (const SassRegister r : registers) open.emplace_back(place, r);
    while (!open.empty()) {
      const auto [reader, r] = open.back();
      open.pop_back();
      for (const std::size_t writer : writers(reader, r)) {
        if (!found.insert(writer).second) continue;
        for (const SassRegister read : at(writer).reads) open.emplace_back(writer, read);
      }
    }
    return found;
  }

  /// Whether the instruction at `place` brings something from outside of the thread.
  bool brings_news(std::size_t place) const {
    const SassInstruction& instruction = at(place);
    return instruction.kind == SassKind::load || instruction.kind == SassKind::atomic ||
           instruction.kind == SassKind::try_wait || reads_clock(instruction);
  }

  /// Whether what `places` make can differ from round to round.
  bool varies(const Places& places) const {
    return std::any_of(places.begin(), places.end(), [&](std::size_t place) {
      return brings_news(place) || sources(place, at(place).reads).contains(place);
    });
  }

 private:
  // Who may have written `r` last, as the instruction at `reader` finds it.
  std::vector<std::size_t> writers(std::size_t reader, SassRegister r) const {
    std::vector<std::size_t> found;
    bool same_block = true;  // all on the way back from the reader is run before it, and nothing else
    for (std::size_t back = 1; back <= size(); ++back) {
      const std::size_t behind = (reader + size() - back + 1) % size();
      const std::size_t place = (reader + size() - back) % size();
      same_block = same_block && !joins_[behind];
      if (!contains(at(place).writes, r)) continue;
      found.push_back(place);
      if (same_block && at(place).guard.empty()) break;
    }
    return found;
  }

  const std::vector<SassInstruction>& function_;
  const SassLoop& loop_;
  std::vector<bool> joins_;  // places that may be reached otherwise than from the one before
};

// The places at which the loop can be left.
Places exits_of(const std::vector<SassInstruction>& function, const SassLoop& loop) {
  std::set<std::uint64_t> inside;
  for (const std::size_t i : loop.body) inside.insert(function[i].offset);
  Places exits;
  for (std::size_t place = 0; place < loop.body.size(); ++place) {
    const std::size_t i = loop.body[place];
    const SassInstruction& instruction = function[i];
    const bool falls_out = i + 1 >= function.size() || !inside.contains(function[i + 1].offset);
    const bool leaves = instruction.kind == SassKind::end ||
                        (instruction.kind == SassKind::branch && (!inside.contains(*instruction.target) || falls_out));
    if (leaves) exits.insert(place);
  }
  return exits;
}

bool is_exchange(const SassInstruction& atomic) {
  return has_part(atomic.operation, "CAS") || has_part(atomic.operation, "CAST") || has_part(atomic.operation, "EXCH");
}

// The registers of the operands of an atomic behind its address: what it compares with and stores.
std::vector<SassRegister> data_of(const SassInstruction& atomic) {
  std::vector<SassRegister> registers;
  bool behind = false;
  for (const std::string& operand : atomic.operands) {
    if (operand.find('[') != std::string::npos) {
      behind = true;
    } else if (behind) {
      store::SassRow row{};
      row.text = "MOV RZ, " + operand;
      const SassInstruction move = decode(row);
      registers.insert(registers.end(), move.reads.begin(), move.reads.end());
    }
  }
  return registers;
}

// Whether an atomic leaves the word as it is from the second round on: it adds nothing, or sets what is set already.
bool changes_nothing(const DataFlow& flow, std::size_t place) {
  const SassInstruction& atomic = flow.at(place);
  for (const std::string_view idempotent : {"OR", "AND", "MIN", "MAX"}) {
    if (has_part(atomic.operation, idempotent)) return !flow.varies(flow.sources(place, data_of(atomic)));
  }
  const bool adds = has_part(atomic.operation, "ADD") || has_part(atomic.operation, "XOR");
  return adds && !atomic.operands.empty() && (atomic.operands.back() == "RZ" || atomic.operands.back() == "URZ");
}

// An atomic on the word that the loop will poll, shortly before it.
bool arrives_before(const std::vector<SassInstruction>& function, const SassLoop& loop, const SassInstruction& look) {
  const std::size_t head = loop.body.front();
  const std::size_t first = head > kArrivalDistance ? head - kArrivalDistance : 0;
  for (std::size_t i = first; i < head; ++i) {
    const SassInstruction& before = function[i];
    const bool arrives =
        (before.kind == SassKind::atomic && !is_exchange(before)) || before.operation.starts_with("RED");
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

// Integer operations for the loop's own ends: not for an address or a sleep, and not what a way out makes of the word
// that was looked at or of a clock.
std::size_t integer_work(const DataFlow& flow, const Places& deciding) {
  Places serves;
  for (std::size_t place = 0; place < flow.size(); ++place) {
    const SassInstruction& instruction = flow.at(place);
    serves.merge(flow.sources(place, instruction.kind == SassKind::sleep ? instruction.reads : instruction.address));
  }
  std::size_t count = 0;
  for (std::size_t place = 0; place < flow.size(); ++place) {
    if (flow.at(place).kind != SassKind::integer || serves.contains(place)) continue;
    const Places made_from = flow.sources(place, flow.at(place).reads);
    const bool news =
        std::any_of(made_from.begin(), made_from.end(), [&](std::size_t p) { return flow.brings_news(p); });
    count += news && deciding.contains(place) ? 0 : 1;
  }
  return count;
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
  if (loop.body.size() > kLongest) return work(judgement, "it is too long for a wait");
  const Census census = count(function, loop);
  judgement.arithmetic = census.floating + census.tensor;
  const DataFlow flow(function, loop);
  Places deciding;  // what the ways out are decided by
  for (const std::size_t exit : exits_of(function, loop)) deciding.merge(flow.sources(exit, flow.at(exit).guard));

  bool walks = false, chases = false, updates = false, changes = false, waits_at_barrier = false;
  for (std::size_t place = 0; place < flow.size(); ++place) {
    const SassInstruction& instruction = flow.at(place);
    const bool decides = deciding.contains(place);
    judgement.sleeps = judgement.sleeps || instruction.kind == SassKind::sleep;
    judgement.fences = judgement.fences || instruction.kind == SassKind::fence;
    judgement.deadline = judgement.deadline || (decides && reads_clock(instruction));
    waits_at_barrier = waits_at_barrier || (decides && instruction.kind == SassKind::try_wait);
    if (instruction.kind != SassKind::load && instruction.kind != SassKind::atomic) continue;
    const Places address = flow.sources(place, instruction.address);
    if (address.contains(place)) {
      chases = true;
    } else if (flow.varies(address)) {
      walks = true;
    } else if (instruction.kind == SassKind::atomic && is_exchange(instruction) &&
               flow.varies(flow.sources(place, data_of(instruction)))) {
      updates = true;  // with what it found itself the round before, or with what was read or made anew in this one
    } else if (instruction.kind == SassKind::atomic && !is_exchange(instruction) && !changes_nothing(flow, place)) {
      changes = true;
    } else if (decides &&
               (!judgement.look || (instruction.strong && !judgement.strong) || instruction.kind == SassKind::atomic)) {
      judgement.look = loop.body[place];
      judgement.strong = instruction.strong || instruction.kind == SassKind::atomic;
    }
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
    if (changes) return work(judgement, "its atomic changes the word in each round");
    return work(judgement, walks ? "its loads go through memory" : "no load decides when it ends");
  }
  if (census.tensor > 0 || census.floating > kFewFloating) return work(judgement, "it computes");
  const SassInstruction& look = function[*judgement.look];
  if (census.stores > 0) return work(judgement, "it stores");
  if (changes) return work(judgement, "its atomic changes the word in each round");
  if (chases) return work(judgement, "its loads follow pointers");
  // Beside the look, other loads: a second flag stays where it is, data does not.
  if (walks) return work(judgement, "its loads go through memory");
  judgement.integers = integer_work(flow, deciding);
  if (judgement.integers > kFewInteger) return work(judgement, "it computes with integers");

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
