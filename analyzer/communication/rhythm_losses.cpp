#include "analyzer/communication/rhythm_finder.h"

#include <algorithm>
#include <cmath>

namespace wicprof::analyzer {
namespace {

// As in rhythm_finder.h, none of these is fitted by itself.

/// Above this variance over that of a thinned constant, a count is not constant.
constexpr double kThinnedConstant = 1.6;
/// From this variance over that which losses explain, a count varies.
constexpr double kVaries = 2.5;
/// How far the shares of kept messages may differ between the two sides, and from the share of kept records.
constexpr double kKeptTolerance = 0.2;
/// The largest counts each way are the constant if they occur in this share of the iterations.
constexpr double kInStretches = 0.5;
/// Iterations without a message in an incomplete trace are the program's beyond so many and this multiple of those that
/// losses explain, in so many places; up to the first number, losses explain them.
constexpr double kSomeGaps = 1, kManyGaps = 3, kTimesExpected = 3;
constexpr std::size_t kMinGaps = 3;

}  // namespace

void RhythmFinder::judge_order_of_thinned_messages() {
  rhythm_.confidence *= kNumbersMayCountMessages;
  if (tops_apart() >= kMinTopsApart) {
    rhythm_.model = Model::unknown;
    rhythm_.evidence = rhythm_evidence::NoRepetition{true, steps_.size()};
  }
}

void RhythmFinder::judge_thinned_counts() {
  using Reading = rhythm_evidence::Incomplete::Reading;
  const std::vector<Counts> counts = inner_counts(iterations_);
  const Spread forth = spread_of(counts, &Counts::forth, completeness_);
  const Spread back = spread_of(counts, &Counts::back, completeness_);
  const auto [usual, share] = most_common(counts);
  const double kept = std::min(forth.kept, back.kept);
  const Counts most{static_cast<std::uint32_t>(forth.most), static_cast<std::uint32_t>(back.most)};
  rhythm_evidence::Incomplete evidence{Reading::ambiguous, most, forth.kept, back.kept, 0};
  set_program_period();
  const std::optional<bool> gaps = gaps_beyond_losses(counts, forth, back);
  if (gaps && *gaps) {
    evidence.reading = Reading::varying;
    evidence.excess = std::max(forth.least_excess, back.least_excess);
    return answer(Model::probabilistic, kVaryingBeyondLosses * prior(counts.size()), evidence);
  }
  const bool constant = !gaps && forth.excess <= kThinnedConstant && back.excess <= kThinnedConstant &&
                        std::abs(forth.kept - back.kept) <= kKeptTolerance &&
                        kept >= completeness_.seen - kKeptTolerance;
  const bool in_stretches = !gaps && share >= kInStretches && usual.forth >= forth.most && usual.back >= back.most;
  if (constant || in_stretches) {
    evidence.reading = Reading::constant;
    answer(model_of(most), (constant ? kIndirect : kOftenWhole) * prior(counts.size()), evidence);
    if (most == Counts{1, 1}) judge_order_of_thinned_messages();
    rhythm_.confidence = std::min(rhythm_.confidence, kMaxThinned);
    return;
  }
  // Whole iterations that a full ring dropped also leave varying counts.
  const bool dropped = completeness_.recorded < kWholeRecord && kept >= completeness_.recorded - kKeptTolerance;
  evidence.excess = std::max(forth.least_excess, back.least_excess);
  if (evidence.excess >= kVaries && !dropped) {
    evidence.reading = Reading::varying;
    return answer(Model::probabilistic, kVaryingBeyondLosses * prior(counts.size()), evidence);
  }
  rhythm_.evidence = evidence;
}

std::optional<bool> RhythmFinder::gaps_beyond_losses(const std::vector<Counts>& counts, const Spread& forth,
                                                     const Spread& back) const {
  const auto n = static_cast<double>(counts.size());
  const auto empty =
      static_cast<double>(std::count_if(counts.begin(), counts.end(), [](const Counts& c) { return c.both() == 0; }));
  // Full rings drop whole iterations, other losses each message by itself.
  const double lost = 1 - completeness_.seen;
  double expected = completeness_.recorded < 1 ? lost : std::pow(lost, forth.most + back.most);
  // More may be lost of these two sides than of all.
  if (std::min(forth.kept, back.kept) >= completeness_.seen - kKeptTolerance) {
    expected = std::max(expected, std::pow(1 - forth.kept, forth.most) * std::pow(1 - back.kept, back.most));
  }
  if (empty <= kSomeGaps + expected * n) return std::nullopt;
  return empty >= kManyGaps + kTimesExpected * expected * n && empty_stretches(counts) >= kMinGaps;
}

bool RhythmFinder::one_message_per_number() const {
  return std::all_of(iterations_.begin(), iterations_.end(),
                     [](const ProgramIteration& iteration) { return iteration.counts.both() <= 1; });
}

bool RhythmFinder::judge_residues() {
  const std::size_t n = iterations_.size();
  for (std::size_t length = 2; length <= kMaxTransfers && n >= kMinPeriods * length; ++length) {
    std::vector<Counts> classes(length);
    for (const ProgramIteration& iteration : iterations_) {
      Counts& c = classes[iteration.number % length];
      ++(iteration.counts.back > 0 ? c.back : c.forth);
    }
    std::size_t pure = 0;
    Counts sum;
    bool complete = true;
    for (const Counts& c : classes) {
      pure += std::max(c.forth, c.back);
      complete = complete && c.both() > 0;
      ++(c.back > c.forth ? sum.back : sum.forth);
    }
    const double share = static_cast<double>(pure) / static_cast<double>(n);
    if (!complete || share < kNearlyAll || sum.forth == 0 || sum.back == 0) continue;
    set_program_period(length);
    answer(model_of(sum), kNumbersMayCountMessages * share * prior(n / length),
           rhythm_evidence::NumbersPerTransfer{sum, length, share});
    return true;
  }
  return false;
}

}  // namespace wicprof::analyzer
