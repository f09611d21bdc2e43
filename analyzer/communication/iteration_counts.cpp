#include "analyzer/communication/iteration_counts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "analyzer/communication/numbering.h"

namespace wicprof::analyzer {
namespace {

// None of these is fitted by itself; bench_classification_made judges the answers that follow (docs/truth.md).

/// The first and last iterations are left out from this many on.
constexpr std::size_t kTrimFrom = 6;
/// Messages may be this many iterations behind others, whose tags differ: an eighth of all, within these bounds.
constexpr std::uint32_t kOverlapPart = 8, kMinOverlap = 2, kMaxOverlap = 16;
/// Numbers that jump further from one message to the next do not count iterations. Lost messages cause shorter jumps.
constexpr std::uint32_t kLongestJump = 8;
/// So do programs that exchange messages in some iterations only: up to this part of all numbers.
constexpr std::uint32_t kJumpPart = 4;
/// Numbers count iterations if fewer than a tenth are out of order and runs have at least four messages on average.
constexpr std::size_t kOutOfOrderPart = 10, kMessagesPerRun = 4;
/// A whole iteration of many messages may not be in the trace, so the constant may exceed the largest count by this
/// factor.
constexpr double kLargestUnseen = 1.4;
/// From so many iterations on there may be phases: counts that this share of the iterations has, nearly all iterations
/// of a part of the run and none of the rest; and the share of all such iterations.
constexpr std::size_t kPhasesFrom = 9;
constexpr std::size_t kMinPhase = 3;  // iterations: a count that occurs once or twice is no phase
constexpr double kPhaseShare = 0.1, kPhaseSpan = 0.8, kPhaseDensity = 0.5, kInPhases = 0.5;
/// Phases follow each other: together they are hardly longer than the run. Counts that losses change overlap.
constexpr double kPhaseOverlap = 1.1;
/// Phases may also return. Counts that change at this share of the places at most where independent counts would, and
/// so many standard deviations less often, are in phases.
constexpr double kFewChanges = 0.4, kChangesMargin = 3;
/// Up to this share, they may be.
constexpr double kRatherFewChanges = 0.7;

/// The run of each step; nothing if the numbers do not count iterations. Each source numbers for itself: the blocks of
/// a server and its clients may be any number of iterations apart.
std::optional<std::vector<std::uint32_t>> runs_of(const std::vector<Step>& steps) {
  std::vector<std::uint32_t> run(steps.size());
  const auto [least, most] = std::minmax_element(
      steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.iteration < b.iteration; });
  const std::uint32_t overlap =
      std::clamp((most->iteration - least->iteration) / kOverlapPart, kMinOverlap, kMaxOverlap);
  std::map<std::uint64_t, Numbering> sources;
  std::uint32_t current = 0;
  std::size_t out_of_order = 0;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const std::uint32_t i = steps[k].iteration;
    const auto [found, added] = sources.try_emplace(steps[k].source, Numbering{current, i, i});
    Numbering& own = found->second;
    if (i + overlap < own.top) {
      if (i <= own.first + kFirstNumbers) {
        own = {own.run + 1, i, i};
      } else {
        ++out_of_order;
      }
    } else if (i > own.top + std::max({kLongestJump, overlap, (most->iteration - least->iteration) / kJumpPart})) {
      ++out_of_order;
    }
    own.top = std::max(own.top, i);
    current = std::max(current, own.run);
    run[k] = own.run;
  }
  if (kOutOfOrderPart * out_of_order > steps.size() || kMessagesPerRun * std::size_t{current} > steps.size()) {
    return std::nullopt;
  }
  return run;
}

}  // namespace

std::optional<NumberedSteps> number_iterations(const std::vector<Step>& steps) {
  if (steps.empty()) return std::nullopt;
  const auto runs = runs_of(steps);
  if (!runs) return std::nullopt;
  const std::vector<std::uint32_t>& run = *runs;
  std::vector<std::uint32_t> order(steps.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(run[a], steps[a].iteration) < std::tie(run[b], steps[b].iteration);
  };
  if (!std::is_sorted(order.begin(), order.end(), earlier)) std::stable_sort(order.begin(), order.end(), earlier);
  NumberedSteps numbered;
  std::vector<ProgramIteration>& all = numbered.iterations;
  numbered.iteration_of.assign(steps.size(), 0);
  for (const std::uint32_t k : order) {
    const Step& step = steps[k];
    if (all.empty() || all.back().run != run[k] || all.back().number != step.iteration) {
      all.push_back({run[k], step.iteration, step.at, {}});
    }
    ProgramIteration& iteration = all.back();
    iteration.begin = std::min(iteration.begin, step.at);
    ++(step.back ? iteration.counts.back : iteration.counts.forth);
    numbered.iteration_of[k] = static_cast<std::uint32_t>(all.size() - 1);
  }
  return numbered;
}

std::vector<Counts> all_counts(const std::vector<ProgramIteration>& iterations) {
  std::vector<Counts> counts;
  for (const ProgramIteration& iteration : iterations) counts.push_back(iteration.counts);
  return counts;
}

std::vector<Counts> counts_with_gaps(const std::vector<ProgramIteration>& iterations) {
  std::uint32_t usual = 1;
  std::map<std::uint32_t, std::size_t> distances;
  for (std::size_t i = 1; i < iterations.size(); ++i) {
    if (iterations[i].run == iterations[i - 1].run) ++distances[iterations[i].number - iterations[i - 1].number];
  }
  if (!distances.empty()) usual = distances.begin()->first;
  for (const auto& [distance, times] : distances) usual = std::gcd(usual, distance);
  std::vector<Counts> counts;
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    if (i > 0 && iterations[i].run == iterations[i - 1].run) {
      const std::uint32_t gap = std::min((iterations[i].number - iterations[i - 1].number) / usual, kLongestJump);
      counts.insert(counts.end(), gap - 1, Counts{});
    }
    counts.push_back(iterations[i].counts);
  }
  return counts;
}

std::vector<Counts> inner_counts(const std::vector<ProgramIteration>& iterations) {
  if (iterations.size() < kTrimFrom) return counts_with_gaps(iterations);
  std::vector<ProgramIteration> inner;
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    const bool first = i == 0 || iterations[i - 1].run != iterations[i].run;
    const bool last = i + 1 == iterations.size() || iterations[i + 1].run != iterations[i].run;
    if (!first && !last) inner.push_back(iterations[i]);
  }
  return counts_with_gaps(inner.size() < kMinIterations ? iterations : inner);
}

std::pair<Counts, double> most_common(std::vector<Counts> counts) {
  std::sort(counts.begin(), counts.end());
  Counts best;
  std::size_t most = 0;
  for (std::size_t begin = 0, end; begin < counts.size(); begin = end) {
    for (end = begin + 1; end < counts.size() && counts[end] == counts[begin]; ++end) {
    }
    if (end - begin > most) {
      most = end - begin;
      best = counts[begin];
    }
  }
  return {best, counts.empty() ? 0 : static_cast<double>(most) / static_cast<double>(counts.size())};
}

CountRanges ranges_of(const std::vector<Counts>& counts) {
  CountRanges ranges{{~0u, ~0u}, {}};
  for (const Counts& c : counts) {
    ranges.least.forth = std::min(ranges.least.forth, c.forth);
    ranges.least.back = std::min(ranges.least.back, c.back);
    ranges.most.forth = std::max(ranges.most.forth, c.forth);
    ranges.most.back = std::max(ranges.most.back, c.back);
  }
  return ranges;
}

namespace {

struct Changes {
  double seen = 0, expected = 0, deviation = 0;  ///< from iteration to iteration; expected of independent counts
};

Changes changes_of(const std::vector<Counts>& counts) {
  std::map<Counts, double> share;
  std::size_t changes = 0;
  const auto n = static_cast<double>(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    share[counts[i]] += 1 / n;
    changes += i > 0 && counts[i] != counts[i - 1] ? 1 : 0;
  }
  double alike = 0;  // the chance that two counts are equal
  for (const auto& [count, part] : share) alike += part * part;
  const double expected = (n - 1) * (1 - alike);
  return {static_cast<double>(changes), expected, std::sqrt(expected * alike)};
}

/// Whether the counts stay the same for long, and change far more rarely than in any other order.
bool seldom_change(const std::vector<Counts>& counts) {
  const Changes changes = changes_of(counts);
  return changes.seen <= kFewChanges * changes.expected &&
         changes.seen + kChangesMargin * changes.deviation <= changes.expected &&
         static_cast<double>(kMinPhase) * (changes.seen + 1) <= static_cast<double>(counts.size());
}

}  // namespace

bool may_be_in_phases(const std::vector<Counts>& counts) {
  const Changes changes = changes_of(counts);
  return changes.seen <= kRatherFewChanges * changes.expected;
}

bool in_phases(const std::vector<Counts>& counts) {
  if (counts.size() >= kPhasesFrom && seldom_change(counts)) return true;
  struct Occurrences {
    std::size_t first = 0, last = 0, times = 0;
  };
  std::map<Counts, Occurrences> values;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    Occurrences& value = values.try_emplace(counts[i], Occurrences{i, i, 0}).first->second;
    value.last = i;
    ++value.times;
  }
  // Some messages may be missing, so that other counts occur too.
  const auto n = static_cast<double>(counts.size());
  std::size_t phases = 0;
  double share = 0, spans = 0;
  for (const auto& [count, value] : values) {
    const auto span = static_cast<double>(value.last - value.first + 1), times = static_cast<double>(value.times);
    if (value.times < kMinPhase || times < kPhaseShare * n || span > kPhaseSpan * n || times < kPhaseDensity * span)
      continue;
    ++phases;
    share += times / n;
    spans += span / n;
  }
  return counts.size() >= kPhasesFrom && phases >= 2 && share >= kInPhases && spans <= kPhaseOverlap;
}

Spread spread_of(const std::vector<Counts>& counts, std::uint32_t Counts::*side, const Completeness& completeness) {
  Spread spread;
  double sum = 0, squares = 0;
  for (const Counts& c : counts) {
    const double v = c.*side;
    spread.most = std::max(spread.most, v);
    sum += v;
    squares += v * v;
  }
  const auto n = static_cast<double>(counts.size());
  if (n == 0 || spread.most == 0) return spread;
  spread.mean = sum / n;
  const double expected = std::round(spread.mean / completeness.seen);
  if (expected <= kLargestUnseen * spread.most) spread.most = std::max(spread.most, expected);
  spread.kept = spread.mean / spread.most;
  const double variance = std::max(0.0, squares / n - spread.mean * spread.mean);
  const double thinned = spread.mean * (1 - spread.kept);
  spread.excess = thinned > 1e-9 ? variance / thinned : 0;
  spread.least_excess = std::min(spread.excess, variance / std::max(spread.mean * (1 - completeness.least), 1e-9));
  return spread;
}

}  // namespace wicprof::analyzer
