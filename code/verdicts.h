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

/// What a loop waits for.
enum class WaitedFor {
  unknown,
  word,          ///< not known to be in shared memory
  shared_word,   ///< of its own block
  cluster_word,  ///< in shared memory that the blocks of a cluster reach
  mbarrier,      ///< in shared memory, which completes phases
};

/// "word", "word in shared memory", "word in shared memory of the cluster", "mbarrier in shared memory"; of `unknown`
/// nothing.
std::string_view name_of(WaitedFor object);

/// Why a loop is judged as it is: a sentence, in which "{}" stands for a detail.
struct LoopReason {
  std::string_view sentence;
  bool operator==(const LoopReason&) const = default;
};

/// All reasons.
namespace reasons {

// of PTX and of machine code
inline constexpr LoopReason too_long{"the loop is too long to be understood"};
inline constexpr LoopReason no_deciding_load{"no load of the loop decides the way out"};
inline constexpr LoopReason waits_at_mbarrier{"the loop waits at an mbarrier, where the hardware suspends the warp"};
inline constexpr LoopReason works_between_tries{"the loop tries an mbarrier, and works between its tries"};
inline constexpr LoopReason counted_tries{"the loop tries an mbarrier, and a count ends the tries"};
inline constexpr LoopReason changes_memory{"the loop changes memory"};  // an atomic does, in each round
inline constexpr LoopReason writes_memory{"the loop writes memory"};
inline constexpr LoopReason calls{"the loop calls {}, which is not understood"};

// of PTX: not a wait
inline constexpr LoopReason ordinary_loads{"the loop reads memory by ordinary loads only"};
inline constexpr LoopReason reads_nothing{"the loop reads no memory that others write"};
inline constexpr LoopReason no_way_out{"the loop has no way out"};
inline constexpr LoopReason limit_decides{"a counter, a clock or a limit decides the way out"};
// of PTX: not a wait, or unknown if another way out depends on a poll
inline constexpr LoopReason address_changes{"a way out depends on a load whose address changes from round to round"};
inline constexpr LoopReason value_changes{"a way out depends on values that the loop computes from round to round"};
inline constexpr LoopReason polls_twice{"a way out compares two loads of one word"};
inline constexpr LoopReason several_turns{"several ways out depend on words in turn"};
inline constexpr LoopReason counted_turns{"a count ends a search of words in turn"};
// of PTX: unknown
inline constexpr LoopReason indexed_back_edge{"an indexed branch goes back"};
inline constexpr LoopReason two_entries{"the loop has two entries"};
inline constexpr LoopReason writes_polled_word{"the loop writes the word that it reads"};
inline constexpr LoopReason may_stay{"a round may poll and change nothing that decides the way out"};
inline constexpr LoopReason stores_collected{"the loop stores a value that it collects from round to round"};
inline constexpr LoopReason returns_collected{
    "the program goes on with a value that the loop collects from round to round"};
// of PTX: a wait that cannot be patched
inline constexpr LoopReason waits_in_hardware{"the loop waits by an instruction that waits in hardware"};
inline constexpr LoopReason words_in_turn{"the loop polls several words in turn"};
inline constexpr LoopReason takes_first_free{"takes the first that is free"};
inline constexpr LoopReason several_polls_at_barrier{
    "the block meets in the loop, and its threads poll in several places"};
inline constexpr LoopReason inner_wait_at_barrier{"the block meets in the loop, and a loop inside it waits"};
inline constexpr LoopReason called_poll_at_barrier{
    "the block meets in the loop, and the poll is in a function that it calls"};
inline constexpr LoopReason reads_several_devices{"the loop reads the memory of several devices at once"};
inline constexpr LoopReason barrier{"the loop has a barrier"};
inline constexpr LoopReason other_effect{"the loop does something else than polling"};
// of PTX: a wait
inline constexpr LoopReason deciding_load{"a load decides the way out, and the loop does nothing else"};
inline constexpr LoopReason pause_by_clock{
    "the program's own pause follows the clock: rounds are counted, nothing sleeps"};
inline constexpr LoopReason broadcast{
    "a thread passes what it polls on to its block: parked, it pauses, and no thread reads for others"};
inline constexpr LoopReason vote{
    "the block votes on what its threads poll: parked, they pause, and no thread reads for others"};
inline constexpr LoopReason exchanges_in_warp{"lanes of the warp exchange values in the loop: sleeps stay short"};
inline constexpr LoopReason short_for_lock{"the loop takes a lock or a token: sleeps stay short"};
inline constexpr LoopReason short_in_shared_memory{"the word is in shared memory: sleeps stay short"};
inline constexpr LoopReason short_in_cluster{"the word is in shared memory of the cluster: sleeps stay short"};
inline constexpr LoopReason short_in_turn{"the loop polls several words in turn: sleeps stay short"};

// of machine code: work
inline constexpr LoopReason walks_memory{"its loads walk through memory"};
inline constexpr LoopReason computes{"it computes"};
inline constexpr LoopReason compares_progress{"it counts or walks to a bound in memory"};
inline constexpr LoopReason follows_pointers{"its loads follow pointers"};
inline constexpr LoopReason computes_integers{"it computes with integers"};
// of machine code: other kinds, in the order of LoopKind
inline constexpr LoopReason chases_pointers{"each load's value is the next load's address"};
inline constexpr LoopReason repeats_update{"repeats an atomic update with the value that it read"};
inline constexpr LoopReason polls{"{} of one word, whose value decides when the loop ends; no stores"};
inline constexpr LoopReason polls_by_atomic{"{} on one word until the word has the expected value"};
inline constexpr LoopReason takes_lock{"{} tries to take one word until it succeeds"};
inline constexpr LoopReason arrives_and_polls{
    "{} of one word, whose value decides when the loop ends; no stores; an atomic on that word precedes the loop"};

}  // namespace reasons

/// The sentence with the detail at its "{}", else behind it.
std::string text_of(const LoopReason& reason, std::string_view detail = {});

}  // namespace wicprof
