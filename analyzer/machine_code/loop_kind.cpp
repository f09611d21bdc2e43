#include "analyzer/machine_code/loop_kind.h"

#include <algorithm>
#include <set>
#include <utility>

namespace wicprof::analyzer {
namespace {

// Limits for a wait loop. Not calibrated; tests/analyzer/sass_listings.h has loops on both sides.
/// A wait loop loads, compares and branches back; unrolled four times and with a deadline, it is shorter than this.
constexpr std::size_t kMaxInstructions = 128;
/// A wait loop may scale a clock or a counter; more floating-point operations are work.
constexpr std::size_t kMaxFloating = 2;
/// A wait loop may count rounds and select the polling lane; more integer operations are a search or a hash.
constexpr std::size_t kMaxInteger = 6;
/// The atomic with which a block arrives at a barrier is at most this many instructions before the loop.
constexpr std::size_t kArrivalDistance = 48;

using Places = std::set<std::size_t>;  // positions in a loop's body

bool contains(const std::vector<SassRegister>& registers, SassRegister r) {
  return std::find(registers.begin(), registers.end(), r) != registers.end();
}

bool reads_clock(const SassInstruction& instruction) {
  return instruction.text.find("SR_CLOCK") != std::string::npos ||
         instruction.text.find("SR_GLOBALTIMER") != std::string::npos;
}

// Traces where values come from within one round of a loop and the previous round. Since registers are reused, only the
// last write before a read counts.
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

  /// All instructions in the loop that contribute to the values of `registers` read at `place`.
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

  /// Whether the instruction at `place` obtains a value from outside the thread.
  bool reads_external(std::size_t place) const {
    const SassInstruction& instruction = at(place);
    return instruction.kind == SassKind::load || instruction.kind == SassKind::atomic ||
           instruction.kind == SassKind::try_wait || reads_clock(instruction);
  }

  /// Whether the values computed at `places` can change from round to round.
  bool varies(const Places& places) const {
    return std::any_of(places.begin(), places.end(), [&](std::size_t place) {
      return reads_external(place) || sources(place, at(place).reads).contains(place);
    });
  }

 private:
  // The instructions that may have written the value of `r` read at `reader`.
  std::vector<std::size_t> writers(std::size_t reader, SassRegister r) const {
    std::vector<std::size_t> found;
    bool same_block = true;  // every instruction from here to the reader always runs, in this order
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
  std::vector<bool> joins_;  // places that can be reached from elsewhere than the previous place
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

// The registers of an atomic's operands after its address: the values that it compares and stores.
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

// Whether an atomic does not change the word after the first round: it adds 0, or repeats an idempotent operation.
bool changes_nothing(const DataFlow& flow, std::size_t place) {
  const SassInstruction& atomic = flow.at(place);
  for (const std::string_view idempotent : {"OR", "AND", "MIN", "MAX"}) {
    if (has_part(atomic.operation, idempotent)) return !flow.varies(flow.sources(place, data_of(atomic)));
  }
  const bool adds = has_part(atomic.operation, "ADD") || has_part(atomic.operation, "XOR");
  return adds && !atomic.operands.empty() && (atomic.operands.back() == "RZ" || atomic.operands.back() == "URZ");
}

// Whether an atomic on the polled word shortly precedes the loop.
bool arrives_before(const std::vector<SassInstruction>& function, const SassLoop& loop, const SassInstruction& poll) {
  const std::size_t head = loop.body.front();
  const std::size_t first = head > kArrivalDistance ? head - kArrivalDistance : 0;
  for (std::size_t i = first; i < head; ++i) {
    const SassInstruction& before = function[i];
    const bool arrives =
        (before.kind == SassKind::atomic && !is_exchange(before)) || before.operation.starts_with("RED");
    if (arrives && !before.address.empty() && before.address == poll.address) return true;
  }
  return false;
}

struct InstructionCounts {
  std::size_t stores = 0, floating = 0, tensor = 0;
};

InstructionCounts count(const std::vector<SassInstruction>& function, const SassLoop& loop) {
  InstructionCounts counts;
  for (const std::size_t i : loop.body) {
    counts.stores += function[i].kind == SassKind::store ? 1 : 0;
    counts.floating += function[i].kind == SassKind::floating ? 1 : 0;
    counts.tensor += function[i].kind == SassKind::tensor ? 1 : 0;
  }
  return counts;
}

// Counts integer operations that are work: they compute neither an address nor a sleep, nor an exit decision from the
// polled word or a clock.
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
    const bool external =
        std::any_of(made_from.begin(), made_from.end(), [&](std::size_t p) { return flow.reads_external(p); });
    count += external && deciding.contains(place) ? 0 : 1;
  }
  return count;
}

LoopJudgement because(LoopJudgement judgement, LoopReason reason) {
  judgement.reason = reason;
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
  if (loop.body.size() > kMaxInstructions) return because(judgement, LoopReason::too_long);
  const InstructionCounts counts = count(function, loop);
  judgement.arithmetic = counts.floating + counts.tensor;
  const DataFlow flow(function, loop);
  Places deciding;  // the instructions that exits depend on
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
      updates = true;  // stores a value that depends on what it or another instruction of the loop read
    } else if (instruction.kind == SassKind::atomic && !is_exchange(instruction) && !changes_nothing(flow, place)) {
      changes = true;
    } else if (decides && (!judgement.poll_at || (instruction.strong && !judgement.strong) ||
                           instruction.kind == SassKind::atomic)) {
      judgement.poll_at = loop.body[place];
      judgement.strong = instruction.strong || instruction.kind == SassKind::atomic;
    }
  }

  if (updates) {
    // A load of the initial value may read the same word, but the update decides when the loop ends.
    judgement.kind = LoopKind::atomic_update;
    judgement.poll_at.reset();
    return because(judgement, LoopReason::repeats_update);
  }
  if (!judgement.poll_at) {
    if (waits_at_barrier) {
      judgement.kind = LoopKind::try_wait;
      return because(judgement, LoopReason::waits_at_mbarrier);
    }
    if (chases) {
      judgement.kind = LoopKind::pointer_chase;
      return because(judgement, LoopReason::chases_pointers);
    }
    if (changes) return because(judgement, LoopReason::changes_word);
    return because(judgement, walks ? LoopReason::walks_memory : LoopReason::no_deciding_load);
  }
  if (counts.tensor > 0 || counts.floating > kMaxFloating) return because(judgement, LoopReason::computes);
  const SassInstruction& poll = function[*judgement.poll_at];
  if (counts.stores > 0) return because(judgement, LoopReason::stores);
  if (changes) return because(judgement, LoopReason::changes_word);
  if (chases) return because(judgement, LoopReason::follows_pointers);
  // Other loads than the poll: a second flag has a constant address, data does not.
  if (walks) return because(judgement, LoopReason::walks_memory);
  judgement.integers = integer_work(flow, deciding);
  if (judgement.integers > kMaxInteger) return because(judgement, LoopReason::computes_integers);

  judgement.operation = poll.operation;
  if (poll.kind == SassKind::atomic) {
    judgement.kind = is_exchange(poll) ? LoopKind::lock : LoopKind::atomic_poll;
    return because(judgement, is_exchange(poll) ? LoopReason::takes_lock : LoopReason::polls_by_atomic);
  }
  judgement.kind = arrives_before(function, loop, poll) ? LoopKind::grid_barrier : LoopKind::poll;
  return because(judgement, judgement.kind == LoopKind::poll ? LoopReason::polls : LoopReason::arrives_and_polls);
}

}  // namespace wicprof::analyzer
