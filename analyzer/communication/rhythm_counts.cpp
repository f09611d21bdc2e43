#include "analyzer/communication/rhythm_finder.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace wicprof::analyzer {
namespace {

// As in rhythm_finder.h, none of these is fitted by itself.

/// What equal counts are worth if no message has one of the numbers: once may be a pause, more often is a count.
constexpr double kOneGap = 0.6;
/// The most that equal counts are worth if some iterations may be without a message: records are missing and some
/// number has no message, numbers that start again do not begin and end alike, or the first or last one has other
/// counts.
constexpr double kMaxWithGaps = 0.75;
/// The most that varying counts are worth that change rarely.
constexpr double kMaxIfInPhases = 0.75;
/// Parts of a run in each of which some iterations differ, and what the answer is worth then.
constexpr std::size_t kParts = 4;
constexpr double kVariesThroughout = 0.95;

}  // namespace

void RhythmFinder::judge_counts() {
  const std::vector<Counts> counts = inner_counts(iterations_);
  const auto [usual, share] = most_common(counts);
  const bool both = usual.forth > 0 && usual.back > 0;
  // In a whole trace, nobody sent anything in an iteration without messages.
  const std::size_t gaps = whole() ? empty_stretches(counts) : 0;
  if (share >= kRegular && both && gaps <= 1) {
    set_program_period();
    answer(model_of(usual), share * prior(counts.size()), rhythm_evidence::SameCounts{usual, share, counts.size()});
    if (gaps > 0) rhythm_.confidence *= kOneGap;
    // A gap beside the first or the last iteration counts, too, though these two do not.
    const std::size_t all_gaps = empty_stretches(counts_with_gaps(iterations_));
    // The first and the last iteration may be a start and an end, or parts of phases of which no more is recorded.
    const auto other = [usual = usual](const ProgramIteration& iteration) { return iteration.counts != usual; };
    const bool other_ends = whole() && (other(iterations_.front()) || other(iterations_.back()));
    if (uneven_runs() || all_gaps > gaps || other_ends) {
      rhythm_.confidence = std::min(rhythm_.confidence, kMaxWithGaps);
    }
    if (whole() && share < 1) rhythm_.confidence *= kNearlyRepeats;
    if (usual.forth == usual.back && usual.forth > 1) judge_ping_pong(usual);
    if (usual == Counts{1, 1}) judge_order_of_single_messages();
    return;
  }
  if (in_phases(counts)) {
    rhythm_.evidence = rhythm_evidence::Phases{ranges_of(counts)};
    return;
  }
  if (!whole() || completeness_.least < 1) return judge_thinned_counts();
  if (judge_several_iterations()) return;
  set_program_period();
  // The fewer iterations have the most common counts, the higher the confidence.
  const double varies = varies_throughout(counts, usual) ? kVariesThroughout : 0;
  const double with_gaps = usual.both() > 0 ? static_cast<double>(gaps) / static_cast<double>(gaps + 1) : 0;
  answer(Model::probabilistic, std::max({varies, with_gaps, std::min(1.0, 2 * (1 - share))}) * prior(counts.size()),
         rhythm_evidence::VaryingCounts{ranges_of(counts), usual, share, counts.size()});
  if (may_be_in_phases(counts)) rhythm_.confidence = std::min(rhythm_.confidence, kMaxIfInPhases);
}

std::size_t RhythmFinder::empty_stretches(const std::vector<Counts>& counts) {
  std::size_t stretches = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    stretches += counts[i].both() == 0 && (i == 0 || counts[i - 1].both() > 0) ? 1 : 0;
  }
  return stretches;
}

bool RhythmFinder::uneven_runs() const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> runs;  // first and last number
  for (const ProgramIteration& iteration : iterations_) {
    if (iteration.run == runs.size()) runs.emplace_back(iteration.number, iteration.number);
    runs.back().second = iteration.number;
  }
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].first != runs[0].first || (i + 1 < runs.size() && runs[i].second != runs[0].second)) return true;
  }
  return runs.size() > 1 && runs.back().second > runs[0].second;
}

void RhythmFinder::judge_order_of_single_messages() {
  if (tops_apart() >= kMinTopsApart) {
    rhythm_.model = Model::unknown;
    rhythm_.evidence = rhythm_evidence::NoRepetition{true, steps_.size()};
    if (whole() && !judge_repetition(kRegular, kMaxTransfers)) judge_irregular_order();
    return;
  }
  std::size_t in_turn = 0;
  for (std::size_t i = 1; i < steps_.size(); ++i) in_turn += steps_[i].back != steps_[i - 1].back ? 1 : 0;
  if (static_cast<double>(in_turn) >= kRegular * static_cast<double>(steps_.size() - 1)) return;
  const auto stretch = shortest_repetition(steps_, kExact, kMaxTransfers);
  if (stretch && stretch->length > 2 && longest_lead() > 1) {
    set_transfers_period(stretch->length);
    return answer(model_of(stretch->counts), kNumbersMayCountMessages * stretch->share * prior(stretch->stretches),
                  rhythm_evidence::Repetition{stretch->counts, stretch->share, stretch->stretches});
  }
  rhythm_.confidence *= kNumbersMayCountMessages;
}

std::uint32_t RhythmFinder::tops_apart() const {
  std::uint32_t forth = 0, back = 0;
  for (const Step& step : steps_) {
    std::uint32_t& top = step.back ? back : forth;
    top = std::max(top, step.iteration);
  }
  return std::max(forth, back) - std::min(forth, back);
}

std::uint32_t RhythmFinder::longest_lead() const {
  std::uint32_t top[2] = {iterations_.front().number - 1, iterations_.front().number - 1}, lead = 0;
  for (const Step& step : steps_) {
    top[step.back] = std::max(top[step.back], step.iteration);
    lead = std::max(lead, std::max(top[0], top[1]) - std::min(top[0], top[1]));
  }
  return lead;
}

bool RhythmFinder::varies_throughout(const std::vector<Counts>& counts, const Counts& usual) {
  for (std::size_t part = 0; part < kParts; ++part) {
    const auto begin = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() * part / kParts);
    const auto end = counts.begin() + static_cast<std::ptrdiff_t>(counts.size() * (part + 1) / kParts);
    if (std::count(begin, end, usual) == end - begin) return false;
  }
  return true;
}

void RhythmFinder::judge_ping_pong(const Counts& usual) {
  const double share = answering_share(steps_);
  if (share < kNearlyAll) return;
  // Sides that send several messages each, and wait for room in between, take turns, too.
  answer(Model::alternating, std::min(kMaxPingPong, share * prior(steps_.size() / 2)),
         rhythm_evidence::Answers{share, usual.forth});
  set_transfers_period(2);
}

bool RhythmFinder::judge_several_iterations() {
  const std::vector<Counts> all = counts_with_gaps(iterations_);
  for (std::size_t length = 2; length <= kMaxIterations && all.size() >= kMinPeriods * length; ++length) {
    std::size_t holds = 0;
    Counts sum;
    for (std::size_t at = 0; at < length; ++at) {
      std::vector<Counts> counts;
      for (std::size_t i = at; i < all.size(); i += length) counts.push_back(all[i]);
      const auto [usual, share] = most_common(counts);
      holds += static_cast<std::size_t>(std::lround(share * static_cast<double>(counts.size())));
      sum.forth += usual.forth;
      sum.back += usual.back;
    }
    const double share = static_cast<double>(holds) / static_cast<double>(all.size());
    if (share < kExact || sum.forth == 0 || sum.back == 0) continue;
    set_program_period(length);
    answer(model_of(sum), kIndirect * share * prior(all.size() / length),
           rhythm_evidence::SeveralIterations{sum, length, share});
    return true;
  }
  return false;
}

}  // namespace wicprof::analyzer
