#include "analyzer/communication/iteration_counts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace wicprof::analyzer {
namespace {

// None of these is calibrated; tests/analyzer/classify_property_test.cpp checks the answers that follow from them.

/// The first and last iterations are left out from this many on.
constexpr std::size_t kTrimFrom = 6;
/// Messages may be this many iterations behind others, whose tags differ: an eighth of all, within these bounds.
constexpr std::uint32_t kOverlapPart = 8, kLeastOverlap = 2, kMaxOverlap = 16;
/// A numbering that starts again does so with one of its first numbers.
constexpr std::uint32_t kFirstNumbers = 2;
/// Numbers that jump further from one message to the next do not count iterations. Lost messages cause shorter jumps.
constexpr std::uint32_t kLongestJump = 8;
/// Numbers count iterations if fewer than a tenth are out of order and runs have at least four messages on average.
constexpr std::size_t kOutOfOrderPart = 10, kMessagesPerRun = 4;
/// A whole iteration of many messages may not be in the trace, so the constant may exceed the largest count by this
/// factor.
constexpr double kLargestUnseen = 1.4;
/// From so many iterations on, neighbours that agree this often show phases.
constexpr std::size_t kPhasesFrom = 9;
constexpr double kNeighboursAgree = 0.8;

/// The run of each step; nothing if the numbers do not count iterations.
std::optional<std::vector<std::uint32_t>> runs_of(const std::vector<Step>& steps) {
  std::vector<std::uint32_t> run(steps.size());
  const auto [least, most] = std::minmax_element(
      steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.iteration < b.iteration; });
  const std::uint32_t overlap =
      std::clamp((most->iteration - least->iteration) / kOverlapPart, kLeastOverlap, kMaxOverlap);
  std::uint32_t current = 0, top = steps[0].iteration, first = top;
  std::size_t out_of_order = 0;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const std::uint32_t i = steps[k].iteration;
    if (i + overlap < top) {
      if (i <= first + kFirstNumbers) {
        ++current;
        top = first = i;
      } else {
        ++out_of_order;
      }
    } else if (i > top + std::max(kLongestJump, overlap)) {
      ++out_of_order;
    }
    top = std::max(top, i);
    run[k] = current;
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

std::vector<Counts> inner_counts(const std::vector<ProgramIteration>& iterations) {
  if (iterations.size() < kTrimFrom) return all_counts(iterations);
  std::vector<Counts> counts;
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    const bool first = i == 0 || iterations[i - 1].run != iterations[i].run;
    const bool last = i + 1 == iterations.size() || iterations[i + 1].run != iterations[i].run;
    if (!first && !last) counts.push_back(iterations[i].counts);
  }
  return counts.size() < kMinIterations ? all_counts(iterations) : counts;
}

std::vector<Counts> counts_with_gaps(const std::vector<ProgramIteration>& iterations) {
  std::vector<Counts> counts;
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    if (i > 0 && iterations[i].run == iterations[i - 1].run) {
      const std::uint32_t gap = std::min(iterations[i].number - iterations[i - 1].number, kLongestJump);
      counts.insert(counts.end(), gap - 1, Counts{});
    }
    counts.push_back(iterations[i].counts);
  }
  return counts;
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

bool in_phases(const std::vector<Counts>& counts) {
  std::size_t same = 0;
  for (std::size_t i = 1; i < counts.size(); ++i) same += counts[i] == counts[i - 1] ? 1 : 0;
  return counts.size() >= kPhasesFrom &&
         static_cast<double>(same) >= kNeighboursAgree * static_cast<double>(counts.size() - 1);
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
