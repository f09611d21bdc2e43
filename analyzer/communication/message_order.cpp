#include "analyzer/communication/message_order.h"

#include <algorithm>
#include <cmath>

namespace wicprof::analyzer {
namespace {

// Unless a comment says otherwise, these are not fitted by themselves; bench_classification_made judges the answers
// that follow (docs/truth.md).

/// The search looks at the first messages only: it takes O(messages * longest) steps.
constexpr std::size_t kMaxSearched = 100'000;
/// Fewer messages, stretches or runs show no irregularity.
constexpr std::size_t kMinOrdered = 16, kMinStretches = 4, kMinRuns = 8;
/// Below this share of the variation of independent messages, an order is not irregular.
constexpr double kMinVariation = 0.35;
/// Caps the probability that two stretches agree, where Stirling's approximation fails for short ones.
constexpr double kMaxLikelihood = 0.6;
/// Agreement must be e^2 times less likely by chance than one of all tried lengths and starts.
constexpr double kChanceMargin = 2;
constexpr double kTwoPi = 6.28;

// Whether unordered messages could agree like this: from the probability of the most likely count (the peak of a
// binomial distribution, by Stirling), and from the number of lengths and starts that were tried.
bool explained_by_chance(const Counts& unit, std::size_t stretches) {
  const double length = unit.both(), part = unit.back / length;
  const double alike = std::min(kMaxLikelihood, 1 / std::sqrt(kTwoPi * length * part * (1 - part)));
  return static_cast<double>(stretches - 1) * -std::log(alike) < std::log(length * length / 2) + kChanceMargin;
}

// Variance of the counts of stretches over that of independent messages, the least over all lengths; nothing if there
// are too few stretches.
std::optional<double> least_variation(const std::vector<Step>& steps, double back) {
  const std::size_t n = steps.size();
  std::optional<double> least;
  for (const std::size_t length : {8u, 16u, 32u, 64u}) {
    if (n / length < kMinStretches) break;
    double sum = 0, squares = 0;
    const std::size_t stretches = n / length;
    for (std::size_t k = 0; k < stretches; ++k) {
      double count = 0;
      for (std::size_t i = k * length; i < (k + 1) * length; ++i) count += steps[i].back ? 1 : 0;
      sum += count;
      squares += count * count;
    }
    const double mean = sum / static_cast<double>(stretches);
    const double variance = squares / static_cast<double>(stretches) - mean * mean;
    const double variation = variance / (static_cast<double>(length) * back * (1 - back));
    least = std::min(least.value_or(variation), variation);
  }
  return least;
}

}  // namespace

std::optional<RepeatedStretch> shortest_repetition(const std::vector<Step>& steps, double regular,
                                                   std::size_t longest) {
  const std::size_t n = std::min(steps.size(), kMaxSearched);
  std::vector<std::uint32_t> backs(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) backs[i + 1] = backs[i] + (steps[i].back ? 1 : 0);
  std::vector<std::uint32_t> frequency;
  for (std::size_t length = 2; length <= longest && n >= kMinIterations * length; ++length) {
    for (std::size_t start = 0; start < length; ++start) {
      const std::size_t stretches = (n - start) / length;
      if (stretches < kMinIterations) continue;
      frequency.assign(length + 1, 0);
      for (std::size_t k = 0; k < stretches; ++k) {
        ++frequency[backs[start + (k + 1) * length] - backs[start + k * length]];
      }
      const auto most = std::max_element(frequency.begin(), frequency.end());
      const auto back = static_cast<std::uint32_t>(most - frequency.begin());
      const double share = static_cast<double>(*most) / static_cast<double>(stretches);
      if (share < regular || back == 0 || back == length) continue;
      const Counts counts{static_cast<std::uint32_t>(length) - back, back};
      if (!explained_by_chance(counts, stretches)) return RepeatedStretch{length, start, counts, share, stretches};
    }
  }
  return std::nullopt;
}

std::optional<RunLengths> irregular_order(const std::vector<Step>& steps, const Counts& all) {
  const std::size_t n = steps.size();
  if (n < kMinOrdered) return std::nullopt;
  const std::optional<double> variation =
      least_variation(steps, static_cast<double>(all.back) / static_cast<double>(n));
  std::vector<double> runs;
  for (std::size_t i = 0; i < n; ++i) {
    if (i == 0 || steps[i].back != steps[i - 1].back) runs.push_back(0);
    ++runs.back();
  }
  double sum = 0, squares = 0;
  for (const double run : runs) {
    sum += run;
    squares += run * run;
  }
  const double mean = sum / static_cast<double>(runs.size());
  const double spread = std::sqrt(std::max(0.0, squares / static_cast<double>(runs.size()) - mean * mean)) / mean;
  if (!variation || *variation < kMinVariation || spread < kMinVariation || runs.size() < kMinRuns) {
    return std::nullopt;
  }
  const auto [shortest, longest] = std::minmax_element(runs.begin(), runs.end());
  return RunLengths{*shortest, *longest, mean, runs.size(), *variation};
}

double answering_share(const std::vector<Step>& steps) {
  std::size_t answers = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const Step &previous = steps[i - 1], &next = steps[i];
    const bool same_block =
        previous.receiver == next.sender || previous.receiver == Step::kNobody || next.sender == Step::kNobody;
    const bool answer =
        previous.back != next.back && previous.received != 0 && previous.received <= next.at && same_block;
    answers += answer ? 1 : 0;
  }
  return static_cast<double>(answers) / static_cast<double>(steps.size() - 1);
}

}  // namespace wicprof::analyzer
