// Classifies a loop of machine instructions: whether it waits, and for what.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/machine_code/loops.h"

namespace wicprof::analyzer {

enum class LoopKind {
  work,           ///< not a wait: computes, stores, or walks through memory
  pointer_chase,  ///< each load's value is the next load's address
  atomic_update,  ///< repeats an update until no other thread interferes; waits for no particular thread
  try_wait,       ///< waits at an mbarrier, where the hardware suspends the warp
  poll,           ///< loads a word until another thread has written it
  atomic_poll,    ///< like poll, but with an atomic operation
  lock,           ///< tries to take a lock until it is free
  grid_barrier,   ///< polls a word after arriving at it with an atomic
};
std::string_view loop_kind_name(LoopKind kind);

/// poll, atomic_poll, lock and grid_barrier.
bool is_polling(LoopKind kind);

/// Why a loop has its kind; reason_text() (loop_text.h) has the sentences.
enum class LoopReason {
  // work
  too_long,
  changes_word,      ///< an atomic changes the word in each round
  walks_memory,      ///< addresses of loads vary
  no_deciding_load,  ///< no load decides when the loop ends
  calls,
  computes,
  compares_progress,  ///< counts or walks to a bound in memory
  stores,
  follows_pointers,
  computes_integers,
  // other kinds, in the order of LoopKind
  chases_pointers,
  repeats_update,
  waits_at_mbarrier,
  polls,
  polls_by_atomic,
  takes_lock,
  arrives_and_polls,
};

struct LoopJudgement {
  LoopKind kind = LoopKind::work;
  LoopReason reason = LoopReason::no_deciding_load;
  std::optional<std::size_t> poll_at;  ///< the instruction that reads the word (index into the function)
  std::string operation;               ///< of that instruction, for a loop that polls: "LDG.E.STRONG.SYS"
  bool strong = false;                 ///< that instruction must observe other threads' stores
  bool sleeps = false;                 ///< NANOSLEEP between two polls
  bool fences = false;
  bool scans = false;          ///< polls several words in turn
  bool writes = false;         ///< writes a sign of life in its rounds
  bool deadline = false;       ///< reads a clock, which can also end the loop
  std::size_t arithmetic = 0;  ///< floating-point and tensor operations
  std::size_t integers = 0;    ///< integer operations that serve neither an address, a sleep nor an exit decision
};

/// `function`: all instructions of a function by offset; `loop`: one of find_loops(function).
LoopJudgement judge_loop(const std::vector<SassInstruction>& function, const SassLoop& loop);

}  // namespace wicprof::analyzer
