// What repeats in the messages between two sides, and which communication model the repetition is.
//
// The models are those of the WIC paper (USENIX ATC 2025), by the transfers of one communication iteration:
//   unidirectional  (D0->D1)^N                       one side always produces, in any amounts
//   alternating     (D0->D1, D1->D0)^N               one transfer each way
//   multiple        ((D0->D1)^n0, (D1->D0)^n1)^N     the same counts every iteration, more than one transfer
//   probabilistic   ((D0->D1)^(e n0), (D1->D0)^(e' n1))^N     direction and count vary
//
// An iteration is the program's own, if its iteration numbers follow the messages in time; otherwise it is the shortest
// stretch of messages that repeats with the same counts each way.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "analyzer/trace/completeness.h"
#include "protocol/time.h"

namespace wicprof::analyzer {

enum class Model { unidirectional, alternating, multiple, probabilistic, unknown };
enum class Pattern { streaming, adjacent, scatter_gather, random, unknown };
std::string_view model_name(Model model);
std::string_view pattern_name(Pattern pattern);

/// Fewer iterations than this show no regularity.
inline constexpr std::size_t kMinIterations = 3;

/// The most that any answer from `n` iterations, repetitions or, without either, messages is worth: whatever they show,
/// the next ones may be other. Above 0.8 takes more than 20. Of the made programs that serve to improve, the answers
/// that were surely wrong had 9 to 17.
constexpr double most_from(std::size_t n) { return static_cast<double>(n) / (static_cast<double>(n) + 5); }

/// One message, in order of time.
struct Step {
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  bool back = false;
  std::uint32_t iteration = 0;
  TimeNs at = 0;
  TimeNs received = 0;                                 ///< 0: unknown
  std::uint32_t sender = kNobody, receiver = kNobody;  ///< blocks, where known
  /// The block or thread that sends, at which site: its numbers follow each other, whoever else is ahead or behind.
  std::uint64_t source = kUnknownSource;
  static constexpr std::uint64_t kUnknownSource = ~std::uint64_t{0};
};

/// Messages each way.
struct Counts {
  std::uint32_t forth = 0, back = 0;
  bool operator==(const Counts&) const = default;
  auto operator<=>(const Counts&) const = default;
  std::uint32_t both() const { return forth + back; }
};

/// The least and the most messages each way in any iteration.
struct CountRanges {
  Counts least, most;
};

/// The communication iteration.
struct Period {
  std::string what;         ///< "the program's iteration", "2 of the program's iterations", "3 transfers"; empty = none
  TimeNs ns = 0;            ///< median distance between the begins of two periods; 0: unknown
  std::uint64_t count = 0;  ///< number of periods in the trace
};

/// The figures behind a rhythm, or behind the refusal to name one. rhythm_words() turns them into a sentence.
namespace rhythm_evidence {
struct NoMessages {};
struct TooFew {
  std::uint64_t count = 0;
  bool iterations = false;  ///< false: `count` counts transfers
  std::uint64_t needed = 0;
};
struct OneSideRecorded {
  double recorded = 1;  ///< Completeness::recorded
};
struct OneWay {
  std::uint64_t main = 0, other = 0;  ///< transfers in the main direction and in the other one
  std::uint64_t iterations = 0;       ///< 0: unknown
  CountRanges ranges;                 ///< per iteration; empty without iterations
};
struct SameCounts {
  Counts usual;
  double share = 0;  ///< of the iterations that have these counts
  std::uint64_t iterations = 0;
};
struct Answers {
  double share = 0;             ///< of the transfers that answer the previous one
  std::uint32_t exchanges = 0;  ///< with the same iteration number
};
struct SeveralIterations {
  Counts counts;
  std::uint64_t length = 0;  ///< iterations of the program per period
  double share = 0;
};
struct Phases {
  CountRanges ranges;
};
struct VaryingCounts {
  CountRanges ranges;
  Counts usual;
  double share = 0;
  std::uint64_t iterations = 0;
};
/// Some messages are missing: of at most `most` messages per iteration, the shares that the trace holds on average.
struct Incomplete {
  enum class Reading { constant, varying, ambiguous } reading = Reading::ambiguous;
  Counts most;
  double forth_kept = 0, back_kept = 0;
  double excess = 0;  ///< variance over the variance that losses explain
};
struct NumbersPerTransfer {
  Counts counts;
  std::uint64_t length = 0;  ///< numbers per period
  double share = 0;          ///< of the transfers that fit
};
struct Repetition {
  Counts counts;
  double share = 0;  ///< of the stretches with these counts
  std::uint64_t stretches = 0;
};
struct IrregularOrder {
  std::uint64_t longest_tried = 0;                         ///< messages
  double shortest_run = 0, longest_run = 0, mean_run = 0;  ///< messages in a row in one direction
};
struct NoRepetition {
  bool numbered = false;  ///< the program numbers its transfers
  std::uint64_t transfers = 0;
};
struct UnnumberedAndIncomplete {};
}  // namespace rhythm_evidence

using RhythmEvidence =
    std::variant<rhythm_evidence::NoMessages, rhythm_evidence::TooFew, rhythm_evidence::OneSideRecorded,
                 rhythm_evidence::OneWay, rhythm_evidence::SameCounts, rhythm_evidence::Answers,
                 rhythm_evidence::SeveralIterations, rhythm_evidence::Phases, rhythm_evidence::VaryingCounts,
                 rhythm_evidence::Incomplete, rhythm_evidence::NumbersPerTransfer, rhythm_evidence::Repetition,
                 rhythm_evidence::IrregularOrder, rhythm_evidence::NoRepetition,
                 rhythm_evidence::UnnumberedAndIncomplete>;

struct Rhythm {
  Model model = Model::unknown;
  double confidence = 0;  ///< from the counts and the number of iterations; losses are not included yet
  RhythmEvidence evidence;
  Period period;
  bool iterations_known = false;    ///< false: `unit` counts messages
  bool numbered = false;            ///< the iterations are the program's own; else repetitions of the messages' order
  std::vector<std::uint32_t> unit;  ///< per step: the number of its iteration, from 0 in order of time
};

/// O(n log n) in the steps for sorting, otherwise linear.
Rhythm find_rhythm(const std::vector<Step>& steps, const Completeness& completeness);

/// The rhythm's evidence as one sentence with its figures; for an unknown model, the reason.
std::string rhythm_words(const Rhythm& rhythm);

}  // namespace wicprof::analyzer
