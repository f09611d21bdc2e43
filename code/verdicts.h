// What is said of a loop, in PTX and in machine code: the one list of kinds, verdicts and reasons.
#pragma once

#include <string>
#include <string_view>

namespace wicprof {

/// What a patch may do in a loop.
enum class WaitVerdict {
  wait,                ///< the loop waits, and a visit at its back edge, or behind its poll, changes no result
  wait_not_patchable,  ///< the loop waits, but does more than that, or waits in hardware
  not_a_wait,
  unknown,  ///< the loop is not understood; it stays as it is
};

/// "wait", "wait_not_patchable", "not_a_wait", "unknown".
std::string_view name_of(WaitVerdict verdict);

/// What a loop of machine code does.
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

/// The kind's own name: "grid_barrier".
std::string_view loop_kind_name(LoopKind kind);

/// poll, atomic_poll, lock and grid_barrier: those whose verdict is `wait`.
bool is_polling(LoopKind kind);

/// Why a loop is judged as it is. Each has its sentence in kReasons (verdicts.cpp), in this order.
enum class LoopReason {
  // of PTX and of machine code
  too_long,
  no_deciding_load,
  waits_in_hardware,
  changes_memory,  ///< an atomic does, in each round
  writes_memory,
  calls,

  // of PTX: not a wait
  ordinary_loads,
  reads_nothing,
  no_way_out,
  limit_decides,
  // of PTX: not a wait, or unknown if another way out depends on a poll
  address_changes,
  value_changes,
  polls_twice,
  several_turns,
  counted_turns,
  // of PTX: unknown
  indexed_back_edge,
  two_entries,
  writes_polled_word,
  stores_collected,
  returns_collected,
  // of PTX: a wait that cannot be patched
  words_in_turn,
  takes_first_free,
  several_polls_at_barrier,
  inner_wait_at_barrier,
  called_poll_at_barrier,
  reads_several_devices,
  barrier,
  other_effect,
  // of PTX: a wait
  deciding_load,
  pause_by_clock,
  broadcast,
  vote,
  exchanges_in_warp,
  short_for_lock,
  short_in_shared_memory,
  short_in_turn,

  // of machine code: work
  walks_memory,  ///< addresses of loads vary
  computes,
  compares_progress,  ///< counts or walks to a bound in memory
  follows_pointers,
  computes_integers,
  // of machine code: other kinds, in the order of LoopKind
  chases_pointers,
  repeats_update,
  polls,
  polls_by_atomic,
  takes_lock,
  arrives_and_polls,
};

/// The reason's sentence, in one line. `detail` stands at its "{}", else behind it.
std::string text_of(LoopReason reason, std::string_view detail = {});

}  // namespace wicprof
