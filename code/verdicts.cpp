#include "code/verdicts.h"

#include <array>
#include <cstddef>

namespace wicprof {

namespace {

constexpr std::array<std::string_view, 4> kVerdicts = {"wait", "wait_not_patchable", "not_a_wait", "unknown"};

struct Kind {
  std::string_view name;
  WaitVerdict verdict;
};

constexpr std::array<Kind, 8> kKinds = {{
    {"work", WaitVerdict::not_a_wait},
    {"pointer_chase", WaitVerdict::not_a_wait},
    {"atomic_update", WaitVerdict::not_a_wait},
    {"try_wait", WaitVerdict::wait_not_patchable},
    {"poll", WaitVerdict::wait},
    {"atomic_poll", WaitVerdict::wait},
    {"lock", WaitVerdict::wait},
    {"grid_barrier", WaitVerdict::wait},
}};

constexpr std::array kReasons = std::to_array<std::string_view>({
    "the loop is too long to be understood",
    "no load of the loop decides the way out",
    "the loop waits by an instruction that waits in hardware",
    "the loop changes memory",
    "the loop writes memory",
    "the loop calls {}, which is not understood",

    "the loop reads memory by ordinary loads only",
    "the loop reads no memory that others write",
    "the loop has no way out",
    "a counter, a clock or a limit decides the way out",
    "a way out depends on a load whose address changes from round to round",
    "a way out depends on values that the loop computes from round to round",
    "a way out compares two loads of one word",
    "several ways out depend on words in turn",
    "a count ends a search of words in turn",
    "an indexed branch goes back",
    "the loop has two entries",
    "the loop writes the word that it reads",
    "the loop stores a value that it collects from round to round",
    "the program goes on with a value that the loop collects from round to round",
    "the loop polls several words in turn",
    "takes the first that is free",
    "the block meets in the loop, and its threads poll in several places",
    "the block meets in the loop, and a loop inside it waits",
    "the block meets in the loop, and the poll is in a function that it calls",
    "the loop reads the memory of several devices at once",
    "the loop has a barrier",
    "the loop does something else than polling",
    "a load decides the way out, and the loop does nothing else",
    "the program's own pause follows the clock: rounds are counted, nothing sleeps",
    "a thread passes what it polls on to its block: parked, it pauses, and no thread reads for others",
    "the block votes on what its threads poll: parked, they pause, and no thread reads for others",
    "lanes of the warp exchange values in the loop: sleeps stay short",
    "the loop takes a lock or a token: sleeps stay short",
    "the word is in shared memory: sleeps stay short",
    "the loop polls several words in turn: sleeps stay short",

    "its loads walk through memory",
    "it computes",
    "it counts or walks to a bound in memory",
    "its loads follow pointers",
    "it computes with integers",
    "each load's value is the next load's address",
    "repeats an atomic update with the value that it read",
    "{} of one word, whose value decides when the loop ends; no stores",
    "{} on one word until the word has the expected value",
    "{} tries to take one word until it succeeds",
    "{} of one word, whose value decides when the loop ends; no stores; an atomic on that word precedes the loop",
});
static_assert(kReasons.size() == static_cast<std::size_t>(LoopReason::arrives_and_polls) + 1);

const Kind& row_of(LoopKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

}  // namespace

std::string_view name_of(WaitVerdict verdict) { return kVerdicts[static_cast<std::size_t>(verdict)]; }

std::string_view loop_kind_name(LoopKind kind) { return row_of(kind).name; }

bool is_polling(LoopKind kind) { return row_of(kind).verdict == WaitVerdict::wait; }

std::string text_of(LoopReason reason, std::string_view detail) {
  std::string text(kReasons[static_cast<std::size_t>(reason)]);
  const std::size_t place = text.find("{}");
  return place == text.npos ? text.append(detail) : text.replace(place, 2, detail);
}

}  // namespace wicprof
