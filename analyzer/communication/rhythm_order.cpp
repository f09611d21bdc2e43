#include "analyzer/communication/rhythm_finder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace wicprof::analyzer {
namespace {

// As in rhythm_finder.h, none of these is fitted by itself.

/// Totals of an incomplete trace that differ by less than this may be equal.
constexpr double kNearlyEqual = 0.1;
/// A repetition may miss its length in messages, this share of all messages, and so many.
constexpr double kMissedTotal = 0.002, kMaxMissed = 4;
/// The most that a repetition in the order of messages is worth that has any exception: a longer one may have none.
constexpr double kMaxWithExceptions = 0.75;
/// What one message each way is worth where no message answers the one before.
constexpr double kInStepByChance = 0.8;
/// The most that a repetition is worth whose counts have a common divisor: the counts of iterations may be multiples of
/// a smaller exchange, other ones from iteration to iteration.
constexpr double kMaxWithDivisor = 0.75;
/// Totals that are this many times the same counts; what the answer is worth.
constexpr std::uint32_t kFreePeriods = 8;
constexpr double kFreeRunning = 0.75;
/// Irregular order: the confidence rises with the variation from the first by the second, up to the third.
constexpr double kIrregularBase = 0.5, kIrregularGain = 0.4, kIrregularMost = 0.75;

}  // namespace

bool RhythmFinder::mostly_one_message_per_number() const {
  const auto single = std::count_if(iterations_.begin(), iterations_.end(),
                                    [](const ProgramIteration& iteration) { return iteration.counts.both() == 1; });
  return static_cast<double>(single) >= kRegular * static_cast<double>(iterations_.size());
}

void RhythmFinder::judge_numbered_transfers() {
  if (judge_repetition(kRegular, kMaxTransfers) || judge_irregular_order()) return;
  rhythm_.evidence = rhythm_evidence::NoRepetition{true, steps_.size()};
}

void RhythmFinder::judge_unnumbered() {
  if (steps_.size() < 2 * kMinIterations) {
    rhythm_.evidence = rhythm_evidence::TooFew{steps_.size() / 2, true, kMinIterations};
    return;
  }
  if (!whole()) {
    rhythm_.evidence = rhythm_evidence::UnnumberedAndIncomplete{};
    return;
  }
  if (const auto stretch = judge_repetition(kRegular, kMaxTransfers)) {
    rhythm_.iterations_known = true;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      rhythm_.unit[i] = static_cast<std::uint32_t>((i + stretch->length - stretch->start) / stretch->length);
    }
    return;
  }
  if (judge_irregular_order()) return;
  rhythm_.evidence = rhythm_evidence::NoRepetition{false, steps_.size()};
}

std::optional<RepeatedStretch> RhythmFinder::judge_repetition(double regular, std::size_t longest) {
  const auto stretch = shortest_repetition(steps_, regular, longest);
  if (!stretch || !fits_totals(*stretch)) return std::nullopt;
  set_transfers_period(stretch->length);
  answer(model_of(stretch->counts), stretch->share * prior(stretch->stretches),
         rhythm_evidence::Repetition{stretch->counts, stretch->share, stretch->stretches});
  if (stretch->share < kExact) rhythm_.confidence *= kNearlyRepeats;
  if (stretch->share < 1) rhythm_.confidence = std::min(rhythm_.confidence, kMaxWithExceptions);
  // Sides that both send several messages at once may do so one by one, each in answer to the other's.
  if (stretch->counts == Counts{1, 1}) {
    if (answering_share(steps_) < kRegular) rhythm_.confidence *= kInStepByChance;
    rhythm_.confidence = std::min(rhythm_.confidence, kMaxPingPong);
  }
  if (std::gcd(stretch->counts.forth, stretch->counts.back) > 1) {
    rhythm_.confidence = std::min(rhythm_.confidence, kMaxWithDivisor);
  }
  return stretch;
}

bool RhythmFinder::fits_totals(const RepeatedStretch& stretch) const {
  const double forth = all_.forth, back = all_.back;
  const double missed =
      std::abs(forth * stretch.counts.back - back * stretch.counts.forth) / static_cast<double>(stretch.length);
  return missed <= static_cast<double>(stretch.length) + kMissedTotal * (forth + back) || missed <= kMaxMissed;
}

bool RhythmFinder::judge_irregular_order() {
  const auto lengths = irregular_order(steps_, all_);
  if (!lengths) return false;
  // Totals with a large common divisor are no coincidence: two sides that run freely, each with a constant count.
  const double ratio = static_cast<double>(all_.forth) / static_cast<double>(all_.back);
  if (completeness_.least < 1 && std::abs(ratio - 1) < kNearlyEqual) return false;  // one each, and some are missing
  const std::uint32_t periods = std::gcd(all_.forth, all_.back);
  if (periods >= kFreePeriods) {
    const Counts counts{all_.forth / periods, all_.back / periods};
    if (counts.forth == counts.back) return false;  // one each, or several
    set_transfers_period(counts.both());
    answer(Model::multiple, kFreeRunning * prior(periods), rhythm_evidence::Repetition{counts, 1, periods});
    return true;
  }
  const double confidence =
      std::min(kIrregularMost, kIrregularBase + kIrregularGain * std::min(lengths->variation, 1.0));
  answer(Model::probabilistic, confidence * prior(lengths->runs),
         rhythm_evidence::IrregularOrder{kMaxTransfers, lengths->shortest, lengths->longest, lengths->mean});
  rhythm_.period.count = 0;
  return true;
}

}  // namespace wicprof::analyzer
