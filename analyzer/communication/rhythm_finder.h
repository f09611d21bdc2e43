// How a rhythm is found: from the counts of the program's iterations, from what is left of them where messages are
// missing, or from the messages' order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/communication/iteration_counts.h"
#include "analyzer/communication/message_order.h"
#include "analyzer/communication/rhythm.h"

namespace wicprof::analyzer {

/// One search. Each function that judges either answers or leaves the reason for no answer in the rhythm.
class RhythmFinder {
 public:
  RhythmFinder(const std::vector<Step>& steps, const Completeness& completeness)
      : steps_(steps), completeness_(completeness) {
    for (const Step& step : steps) ++(step.back ? all_.back : all_.forth);
  }
  Rhythm run();

 private:
  // No threshold is fitted by itself. They were chosen on the made programs that serve to improve; the answers that
  // follow are judged on others (bench_classification_made, docs/truth.md).

  /// Counts that hold in this share of all iterations are the program's; the rest may be start-up.
  static constexpr double kRegular = 0.9;
  /// Stricter threshold where agreement could be coincidence: searches and solvers take similar steps each time.
  static constexpr double kExact = 0.98;
  /// For numbers and answers that losses cannot imitate.
  static constexpr double kNearlyAll = 0.97;
  /// The number of iterations that halves what equal counts are worth: 8 iterations give 0.8, 200 give 0.99, before
  /// most_from() limits the answer.
  static constexpr double kPriorIterations = 2;
  /// Longest repetition that the search tries, in iterations of the program and in messages.
  static constexpr std::size_t kMaxIterations = 8, kMaxTransfers = 256;
  /// A repetition has to occur this often.
  static constexpr std::size_t kMinPeriods = 4;
  /// Above this the trace counts as whole.
  static constexpr double kWhole = 0.98;
  /// Stricter threshold for records that full rings dropped: a few iterations may have lost all of them.
  static constexpr double kWholeRecord = 0.999;
  /// Numbers count messages if the last ones of the two directions are this far apart.
  static constexpr std::uint32_t kMinTopsApart = 3;
  /// What an answer is worth whose numbers may count messages instead of iterations.
  static constexpr double kNumbersMayCountMessages = 0.75;
  /// The most that turns are worth which the program does not count as iterations: it counts several as one, or none.
  static constexpr double kMaxPingPong = 0.75;
  /// What a repetition is worth of which some stretches or iterations differ.
  static constexpr double kNearlyRepeats = 0.85;
  /// Confidence of answers from incomplete or indirect evidence, relative to complete counts per iteration.
  static constexpr double kIndirect = 0.9, kMaxThinned = 0.8, kOftenWhole = 0.75, kVaryingBeyondLosses = 0.8;

  static double prior(std::size_t n) { return static_cast<double>(n) / (static_cast<double>(n) + kPriorIterations); }
  static Model model_of(const Counts& counts);
  bool whole() const { return completeness_.seen >= kWhole && completeness_.recorded >= kWholeRecord; }
  /// What the answer rests on: iterations with a message, or what the order of messages repeats.
  std::size_t observed() const;
  void judge();
  void answer(Model model, double confidence, RhythmEvidence evidence);
  void set_program_period(std::size_t length = 1);
  void set_transfers_period(std::size_t length);
  /// The side that sends less does so at the begin and the end only.
  bool sent_aside() const;
  /// The program's numbers show that the side that sends less does so all along, even if its thread ran ahead.
  bool in_many_iterations() const;
  /// The side that sends less does so at the begin or the end only, a little: in the first or last iteration by the
  /// program's numbers, or in time.
  bool at_ends_only() const;
  /// In time, the messages of the side that sends less are the very first or the very last, whatever their numbers.
  bool first_or_last() const;
  void judge_one_way(double aside);
  /// Blocks or sides that number their own messages, and send different amounts: their numbers run away from each
  /// other. Numbers of iterations may be apart, but all end at the same one.
  bool numbers_drift_apart() const;
  void forget_numbers();

  // --- the program numbers its iterations (rhythm_counts.cpp)

  void judge_counts();
  static std::size_t empty_stretches(const std::vector<Counts>& counts);
  /// Whether numbers that start again begin or end with other ones than before; the last run may be cut short.
  bool uneven_runs() const;
  /// One message each way per number: either the numbers count iterations, or each side numbers its messages. In turn,
  /// both are the same. Otherwise the order may show longer iterations, or leaves both possible.
  void judge_order_of_single_messages();
  /// How far the highest numbers of the two directions are apart. Where numbers count iterations, both sides end with
  /// the same one.
  std::uint32_t tops_apart() const;
  /// How far one side's number is ever ahead of the other side's. With one message each way per iteration, sides that
  /// overtake each other within an iteration are one ahead; within a longer one, a side sends several before the other.
  std::uint32_t longest_lead() const;
  /// Iterations with other counts occur in every part of the run: they are neither start-up nor a disturbance.
  static bool varies_throughout(const std::vector<Counts>& counts, const Counts& usual);
  /// Several exchanges with one iteration number, in each of which a side answers the other.
  void judge_ping_pong(const Counts& usual);
  /// A few iterations of the program that have the same counts only together.
  bool judge_several_iterations();

  // --- some messages are missing (rhythm_losses.cpp)

  void judge_order_of_thinned_messages();
  void judge_thinned_counts();
  /// Whether more iterations are without any message than losses explain; nothing if losses explain them all. `forth`
  /// and `back`: the messages per iteration.
  std::optional<bool> gaps_beyond_losses(const std::vector<Counts>& counts, const Spread& forth,
                                         const Spread& back) const;
  bool one_message_per_number() const;
  /// The numbers count transfers, not iterations: all numbers with the same remainder have one direction, whatever is
  /// missing.
  bool judge_residues();

  // --- only the order of the messages is known (rhythm_order.cpp)

  bool mostly_one_message_per_number() const;
  void judge_numbered_transfers();
  void judge_unnumbered();
  std::optional<RepeatedStretch> judge_repetition(double regular, std::size_t longest);
  /// Counts that nearly repeat, such as one each way in 33 forth and 34 back, miss the same part of every repetition.
  bool fits_totals(const RepeatedStretch& stretch) const;
  bool judge_irregular_order();

  const std::vector<Step>& steps_;
  const Completeness completeness_;
  Counts all_;
  std::vector<ProgramIteration> iterations_;
  Rhythm rhythm_;
};

}  // namespace wicprof::analyzer
