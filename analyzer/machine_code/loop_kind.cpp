#include "analyzer/machine_code/loop_kind.h"

#include <algorithm>

#include "analyzer/machine_code/data_flow.h"

namespace wicprof::analyzer {
namespace {

// Limits for a wait loop. Not calibrated; tests/analyzer/sass_listings.h has loops on both sides.
/// A wait loop loads, compares and branches back; unrolled four times and with a deadline, it is shorter than this.
constexpr std::size_t kMaxInstructions = 128;
/// Without optimisation, most instructions are moves and jumps, which do not count against the limit above; but the
/// analysis takes a time that grows with the square of this length.
constexpr std::size_t kMaxWithMoves = 3000;
/// A wait loop may scale a clock or a counter; more floating-point operations are work.
constexpr std::size_t kMaxFloating = 2;
/// A wait loop may count rounds and select the polling lane; more integer operations are a search or a hash.
constexpr std::size_t kMaxInteger = 6;
/// The atomic with which a block arrives at a barrier is at most this many instructions before the loop.
constexpr std::size_t kArrivalDistance = 48;
/// A wait loop may write this many words, always the same ones, as a sign of life.
constexpr std::size_t kMaxHeartbeats = 2;

// The registers that an operand names.
std::vector<SassRegister> registers_of(const std::string& operand) {
  store::SassRow row{};
  row.text = "MOV RZ, " + operand;
  return decode(row).reads;
}

// The registers of an atomic's operands after its address: the values that it compares and stores.
std::vector<SassRegister> data_of(const SassInstruction& atomic) {
  std::vector<SassRegister> registers;
  bool behind = false;
  for (const std::string& operand : atomic.operands) {
    if (operand.find('[') != std::string::npos) {
      behind = true;
    } else if (behind) {
      const std::vector<SassRegister> named = registers_of(operand);
      registers.insert(registers.end(), named.begin(), named.end());
    }
  }
  return registers;
}

bool is_zero_constant(const std::string& operand) { return operand == "RZ" || operand == "URZ" || operand == "0x0"; }

// Whether a register read at `place` has the value 0, copied from a constant in the loop or shortly before it.
bool is_zero(const DataFlow& flow, std::size_t place, SassRegister r, int depth = 0) {
  constexpr int kMaxCopies = 16;
  if (depth > kMaxCopies) return false;
  const auto zero = [&](const SassInstruction& writer, std::size_t at) {
    if (!has_part(writer.operation, "MOV") || !writer.guard.empty()) return false;
    if (is_zero_constant(writer.operands.back())) return true;
    return writer.reads.size() == 1 && is_zero(flow, at, writer.reads.front(), depth + 1);
  };
  const Places writers = flow.writers(place, r);
  if (writers.empty()) {
    const SassInstruction* before = flow.written_before(r);
    return before != nullptr && has_part(before->operation, "MOV") && is_zero_constant(before->operands.back());
  }
  return std::ranges::all_of(writers, [&](std::size_t w) { return zero(flow.at(w), w); });
}

// Whether an atomic does not change the word after the first round: it adds 0, or repeats an idempotent operation.
bool changes_nothing(const DataFlow& flow, std::size_t place) {
  const SassInstruction& atomic = flow.at(place);
  for (const std::string_view idempotent : {"OR", "AND", "MIN", "MAX"}) {
    if (has_part(atomic.operation, idempotent)) return !flow.varies(flow.sources(place, data_of(atomic)));
  }
  const bool adds = has_part(atomic.operation, "ADD") || has_part(atomic.operation, "XOR");
  if (!adds || atomic.operands.empty()) return false;
  const std::string& operand = atomic.operands.back();
  if (operand == "RZ" || operand == "URZ") return true;
  const std::vector<SassRegister> data = data_of(atomic);
  return !data.empty() && std::ranges::all_of(data, [&](SassRegister r) { return is_zero(flow, place, r); });
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

bool is_jump(const SassInstruction& instruction) {
  return instruction.kind == SassKind::branch && !instruction.conditional;
}

bool is_data_register(SassRegister r) { return r < kPredicate || r >= kSharedMemory; }

// Whether the instruction at `place` computes 0 or 1, or passes such a value on, so that combining it combines
// conditions rather than numbers.
bool is_condition(const DataFlow& flow, std::size_t place, Places& seen) {
  const SassInstruction& instruction = flow.at(place);
  if (!seen.insert(place).second) return true;
  const auto all_writers = [&](const std::vector<SassRegister>& registers) {
    for (const SassRegister r : registers) {
      if (!is_data_register(r) || std::ranges::count(instruction.guard, r) > 0) continue;
      const Places writers = flow.writers(place, r);
      if (writers.empty()) return false;
      for (const std::size_t writer : writers) {
        if (!is_condition(flow, writer, seen)) return false;
      }
    }
    return true;
  };
  const std::string_view name = instruction.operation;
  if (name.starts_with("SEL") || name.starts_with("USEL") || name.starts_with("P2R")) {
    return std::none_of(instruction.operands.begin() + std::min<std::size_t>(1, instruction.operands.size()),
                        instruction.operands.end(),
                        [](const auto& operand) { return !registers_of(operand).empty(); }) ||
           all_writers(instruction.reads);
  }
  const bool passes_on = instruction.kind == SassKind::other || name.starts_with("LOP3") || name.starts_with("PRMT") ||
                         name.starts_with("ULOP3") || name.starts_with("UPRMT");
  return passes_on && all_writers(instruction.reads);
}

// Whether an instruction that decides when the loop ends combines a word from memory with a value that the loop itself
// carries from round to round: a count or a walk to a bound in memory. (A limit of the number of polls is a comparison
// of its own.)
bool compares_own_progress(const DataFlow& flow, const Places& deciding) {
  for (const std::size_t place : deciding) {
    const SassInstruction& instruction = flow.at(place);
    if (flow.reads_external(place)) continue;
    std::vector<SassRegister> memory, progress;
    for (const SassRegister r : instruction.reads) {
      if (!is_data_register(r)) continue;
      const Places writers = flow.writers(place, r);
      Places seen;
      const bool conditions = !writers.empty() && std::ranges::all_of(writers, [&](std::size_t writer) {
        return is_condition(flow, writer, seen);
      });
      if (conditions) continue;
      const Places sources = flow.sources(place, {r});
      if (std::ranges::any_of(sources, [&](std::size_t p) { return reads_memory(flow.at(p)); })) {
        memory.push_back(r);
      }
      if (std::ranges::any_of(sources, [&](std::size_t p) { return flow.carried(p) && !reads_memory(flow.at(p)); })) {
        progress.push_back(r);
      }
    }
    for (const SassRegister m : memory) {
      if (std::ranges::any_of(progress, [&](SassRegister r) { return r != m; })) return true;
    }
  }
  return false;
}

// Whether a store is a sign of life: always to the same word, of a value that no memory contributes to, such as the
// number of polls.
bool is_heartbeat(const DataFlow& flow, std::size_t place) {
  if (flow.varies(flow.sources(place, flow.at(place).address))) return false;
  std::vector<SassRegister> data = flow.at(place).reads;
  const std::vector<SassRegister>& guard = flow.at(place).guard;
  std::erase_if(data, [&](SassRegister r) { return std::ranges::find(guard, r) != guard.end(); });
  const Places value = flow.sources(place, data);
  return std::ranges::none_of(value, [&](std::size_t p) { return reads_memory(flow.at(p)); });
}

// Whether a store to shared memory hands the polled word to the other threads of the block, which then decide.
bool is_broadcast(const DataFlow& flow, std::size_t place, const Places& deciding) {
  return deciding.contains(place) && !flow.varies(flow.sources(place, flow.at(place).address));
}

// Whether an address steps through a fixed set of words again and again: its index wraps, whatever the words are. (The
// index of a search depends on them.)
bool address_wraps(const DataFlow& flow, const Places& address) {
  Places choices = address;
  flow.add_choices(choices);
  if (std::ranges::any_of(choices, [&](std::size_t place) { return reads_memory(flow.at(place)); })) {
    return false;
  }
  return std::ranges::any_of(address, [&](std::size_t place) {
    const SassInstruction& instruction = flow.at(place);
    if (reads_memory(flow.at(place)) || !flow.carried(place)) return false;
    const std::string_view name = instruction.operation;
    if (name.starts_with("LOP3") || name.starts_with("ULOP3") || name.starts_with("SEL") || name.starts_with("USEL")) {
      return true;
    }
    // A guarded constant: if (i == n) i = 0.
    if (instruction.kind == SassKind::other && !instruction.guard.empty()) return true;
    // Or one of two values, of which one starts over.
    return std::ranges::any_of(instruction.reads, [&](SassRegister r) {
      const Places writers = flow.writers(place, r);
      const auto starts_over = [&](std::size_t writer) {
        return flow.at(writer).kind == SassKind::other && !flow.varies({writer}) &&
               !flow.varies(flow.sources(writer, flow.at(writer).reads));
      };
      return flow.carried(writers) && std::ranges::any_of(writers, starts_over);
    });
  });
}

// Counts floating-point operations that are work. A remainder may be computed by floating-point numbers, for the
// address of the next of several words.
std::size_t floating_work(const DataFlow& flow) {
  Places serves;
  std::size_t count = 0;
  for (const std::size_t place : flow.body()) {
    if (reads_memory(flow.at(place))) serves.merge(flow.sources(place, flow.at(place).address));
    if (flow.at(place).kind == SassKind::sleep) serves.merge(flow.sources(place, flow.at(place).reads));
  }
  for (const std::size_t place : flow.body()) {
    count += flow.at(place).kind == SassKind::floating && !serves.contains(place) ? 1 : 0;
  }
  return count;
}

// Counts integer operations that are work: they compute neither an address, a sleep or a sign of life, nor an exit
// decision from the polled word or a clock.
std::size_t integer_work(const DataFlow& flow, const Places& deciding) {
  Places serves;
  for (const std::size_t place : flow.body()) {
    const SassInstruction& instruction = flow.at(place);
    const bool whole = instruction.kind == SassKind::sleep || instruction.kind == SassKind::store;
    serves.merge(flow.sources(place, whole ? instruction.reads : instruction.address));
  }
  std::size_t count = 0;
  for (const std::size_t place : flow.body()) {
    if (flow.at(place).kind != SassKind::integer || serves.contains(place)) continue;
    const Places made_from = flow.sources(place, flow.at(place).reads);
    if (!flow.varies(made_from))
      continue;  // the same in each round, such as an argument of a function that is not inlined
    const bool external = std::ranges::any_of(made_from, [&](std::size_t p) { return flow.reads_external(p); });
    count += external && deciding.contains(place) ? 0 : 1;
  }
  return count;
}

/// What a round of a loop does, next to its judgement.
struct Does {
  bool walks = false, chases = false, updates = false, changes = false, stores = false;
  std::size_t heartbeats = 0;
};

/// `deciding`: the instructions that exits depend on.
Does look_at_round(const DataFlow& flow, const Places& deciding, LoopJudgement& judgement) {
  Does does;
  for (const std::size_t place : flow.body()) {
    const SassInstruction& instruction = flow.at(place);
    const bool decides = deciding.contains(place);
    judgement.sleeps = judgement.sleeps || instruction.kind == SassKind::sleep;
    judgement.fences = judgement.fences || instruction.kind == SassKind::fence;
    judgement.deadline = judgement.deadline || (decides && reads_clock(instruction));
    const bool unused_atomic = instruction.kind == SassKind::atomic && !decides && !is_exchange(instruction);
    if (instruction.kind == SassKind::store || unused_atomic) {
      if (is_heartbeat(flow, place)) {
        ++does.heartbeats;
      } else if (!is_broadcast(flow, place, deciding)) {
        does.stores = true;
      }
    }
    if (!reads_memory(flow.at(place)) || unused_atomic) continue;
    const Places address = flow.sources(place, instruction.address);
    const bool strong = instruction.strong || instruction.kind == SassKind::atomic;
    if (address.contains(place)) {
      does.chases = true;
    } else if (flow.carried(address) && !(decides && instruction.strong && address_wraps(flow, address))) {
      does.walks = true;
    } else if (!decides && flow.varies(address)) {
      does.walks = true;
    } else if (instruction.kind == SassKind::atomic && is_exchange(instruction) &&
               flow.varies(flow.sources(place, data_of(instruction)))) {
      does.updates = true;  // stores a value that depends on what it or another instruction of the loop read
    } else if (instruction.kind == SassKind::atomic && !is_exchange(instruction) && !changes_nothing(flow, place)) {
      does.changes = true;
    } else if (decides &&
               (!judgement.poll_at || (strong && !judgement.strong) || instruction.kind == SassKind::atomic)) {
      judgement.poll_at = place;
      judgement.strong = strong;
      judgement.scans = flow.carried(address);
    }
  }
  return does;
}

/// The ways out of a loop that tries an mbarrier.
struct TriesOut {
  std::optional<std::size_t> place;  ///< a try that decides an exit by itself
  bool counted = false;              ///< an exit depends on what the loop itself carries from round to round
};

TriesOut tries_of(const DataFlow& flow) {
  TriesOut out;
  for (const std::size_t exit : flow.exits()) {
    Places sources = flow.sources(exit, flow.at(exit).guard);
    for (const std::size_t place : sources) {
      if (flow.at(place).kind == SassKind::try_wait && !out.place) out.place = place;
    }
    flow.add_choices(sources);
    for (const std::size_t place : sources) {
      out.counted = out.counted || (flow.carried(place) && !flow.reads_external(place));
    }
  }
  return out;
}

}  // namespace

LoopJudgement judge_loop(const std::vector<SassInstruction>& function, const SassLoop& loop) {
  LoopJudgement judgement;
  const auto because = [&](const LoopReason& reason, LoopKind kind = LoopKind::work) {
    judgement.kind = kind;
    judgement.reason = reason;
    return judgement;
  };
  const auto count = [&](auto counts) {
    return static_cast<std::size_t>(std::ranges::count_if(loop.body, [&](auto i) { return counts(function[i]); }));
  };
  const auto count_kind = [&](SassKind kind) { return count([&](const auto& i) { return i.kind == kind; }); };
  const std::size_t real = count([](const auto& i) { return i.kind != SassKind::other && !is_jump(i); });
  if (loop.body.size() > kMaxWithMoves || real > kMaxInstructions) return because(reasons::too_long);
  const DataFlow flow(function, loop);
  const std::size_t floating = floating_work(flow), tensor = count_kind(SassKind::tensor);
  judgement.arithmetic = floating + tensor;
  Places deciding;  // the instructions that exits depend on
  for (const std::size_t exit : flow.exits()) deciding.merge(flow.sources(exit, flow.at(exit).guard));
  flow.add_choices(deciding);

  Does does = look_at_round(flow, deciding, judgement);
  // An update that a round can do without waits for the value that makes the update possible, as a semaphore does.
  if (does.updates && flow.skips_exchange()) does.updates = false;
  if (does.updates) {
    // A load of the initial value may read the same word, but the update decides when the loop ends.
    judgement.poll_at.reset();
    return because(reasons::repeats_update, LoopKind::atomic_update);
  }
  const TriesOut tries = count_kind(SassKind::try_wait) > 0 ? tries_of(flow) : TriesOut();
  if (tries.place) {
    judgement.integers = integer_work(flow, deciding);
    // Without optimization, the phase that is asked for is divided by floating-point numbers.
    const bool collects = std::ranges::any_of(
        loop.body, [&](std::size_t place) { return flow.at(place).kind == SassKind::floating && flow.carried(place); });
    const bool works = does.stores || does.heartbeats > 0 || does.changes || does.walks || does.chases || tensor > 0 ||
                       collects || count_kind(SassKind::call) > 0 || judgement.integers > kMaxInteger;
    if (works) return because(reasons::works_between_tries);
    if (tries.counted) return because(reasons::counted_tries);
    judgement.poll_at = tries.place;
    judgement.operation = function[*tries.place].operation;
    judgement.waited_for = WaitedFor::mbarrier;
    judgement.strong = true;
    return because(reasons::waits_at_mbarrier, LoopKind::try_wait);
  }
  if (!judgement.poll_at) {
    if (does.chases) return because(reasons::chases_pointers, LoopKind::pointer_chase);
    if (does.changes) return because(reasons::changes_memory);
    return because(does.walks ? reasons::walks_memory : reasons::no_deciding_load);
  }
  if (count_kind(SassKind::call) > 0) return because(reasons::calls);
  if (tensor > 0 || floating > kMaxFloating) return because(reasons::computes);
  const SassInstruction& poll = function[*judgement.poll_at];
  if (does.stores || does.heartbeats > kMaxHeartbeats) return because(reasons::writes_memory);
  if (does.changes) return because(reasons::changes_memory);
  if (does.chases) return because(reasons::follows_pointers);
  // Other loads than the poll: a second flag has a constant address, data does not.
  if (does.walks) return because(reasons::walks_memory);
  if (compares_own_progress(flow, deciding)) return because(reasons::compares_progress);
  judgement.integers = integer_work(flow, deciding);
  if (judgement.integers > kMaxInteger) return because(reasons::computes_integers);

  judgement.operation = poll.operation;
  judgement.waited_for = reads_shared_memory(poll) ? WaitedFor::shared_word : WaitedFor::word;
  judgement.writes = does.heartbeats > 0;
  if (poll.kind == SassKind::atomic && is_exchange(poll)) return because(reasons::takes_lock, LoopKind::lock);
  if (poll.kind == SassKind::atomic) return because(reasons::polls_by_atomic, LoopKind::atomic_poll);
  // Blocks do not meet at a word of shared memory.
  if (judgement.waited_for == WaitedFor::shared_word || !arrives_before(function, loop, poll))
    return because(reasons::polls, LoopKind::poll);
  return because(reasons::arrives_and_polls, LoopKind::grid_barrier);
}

}  // namespace wicprof::analyzer
