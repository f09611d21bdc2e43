// What a loop of machine instructions waits for, if it waits.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/machine_code/loops.h"

namespace wicprof::analyzer {

enum class LoopKind {
  work,           ///< does something: computes, stores, walks through memory
  pointer_chase,  ///< each load's value is the next load's address
  atomic_update,  ///< repeats an update until nobody came between: waits for nobody in particular
  try_wait,       ///< waits at an mbarrier, where the hardware puts the warp to sleep
  poll,           ///< reads a word until somebody has written it
  atomic_poll,    ///< the same by an atomic operation
  lock,           ///< tries to take a lock until it is free
  grid_barrier,   ///< a poll on a word at which the block has just arrived itself, by an atomic
};
std::string_view loop_kind_name(LoopKind kind);

/// poll, atomic_poll, lock and grid_barrier.
bool is_polling(LoopKind kind);

struct LoopJudgement {
  LoopKind kind = LoopKind::work;
  std::optional<std::size_t> look;  ///< the instruction that reads the word (index into the function)
  bool strong = false;              ///< it has to see what others store
  bool sleeps = false;              ///< NANOSLEEP between two looks
  bool fences = false;
  bool deadline = false;       ///< reads a clock, and leaves on that as well
  std::size_t arithmetic = 0;  ///< floating-point operations
  std::size_t integers = 0;    ///< integer operations that serve neither a look nor the ways out that it decides
  std::string why;             ///< one line for people
};

/// `function`: all its instructions by offset; `loop`: one of find_loops(function).
LoopJudgement judge_loop(const std::vector<SassInstruction>& function, const SassLoop& loop);

}  // namespace wicprof::analyzer
