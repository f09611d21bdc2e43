#include "analyzer/measure/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {
namespace {

using Lists = std::vector<std::vector<TimeNs>>;

/// The ends of the 95 % interval.
constexpr double kLowQuantile = 0.025, kHighQuantile = 0.975;

/// Every resample reads every value; this limit keeps a comparison of any length within about a second.
constexpr std::size_t kMaxValues = 20'000;

/// The blocks of neighbouring values that a resample draws as units, by segment.
struct Blocked {
  std::vector<std::pair<TimeNs, std::uint32_t>> sorted;  // (duration, block), by duration
  std::uint32_t blocks = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> segments;  // first block, number of blocks
};

/// Keeps every n-th block of each segment if there are more than kMaxValues values. This widens the interval and never
/// narrows it.
void thin(Blocked& blocked) {
  const std::size_t every = (blocked.sorted.size() + kMaxValues - 1) / kMaxValues;
  if (every <= 1) return;
  constexpr std::uint32_t kGone = 0xffffffffu;
  std::vector<std::uint32_t> renumbered(blocked.blocks, kGone);
  std::uint32_t kept = 0;
  for (auto& [first, count] : blocked.segments) {
    const std::uint32_t begin = kept;
    for (std::uint32_t i = 0; i < count; i += static_cast<std::uint32_t>(every)) renumbered[first + i] = kept++;
    first = begin;
    count = kept - begin;
  }
  std::erase_if(blocked.sorted, [&](const auto& value) { return renumbered[value.second] == kGone; });
  for (auto& [duration, block] : blocked.sorted) block = renumbered[block];
  blocked.blocks = kept;
}

Blocked blocks_of(const Lists& lists) {
  std::size_t total = 0;
  for (const auto& list : lists) total += list.size();
  // The usual block length for a bootstrap of correlated neighbours: the cube root of the number of values.
  const auto length = static_cast<std::size_t>(std::max(1.0, std::floor(std::cbrt(static_cast<double>(total)))));
  Blocked blocked;
  blocked.sorted.reserve(total);
  for (const auto& list : lists) {
    const std::uint32_t first = blocked.blocks;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i % length == 0) ++blocked.blocks;
      blocked.sorted.emplace_back(list[i], blocked.blocks - 1);
    }
    if (blocked.blocks != first) blocked.segments.emplace_back(first, blocked.blocks - first);
  }
  thin(blocked);
  std::sort(blocked.sorted.begin(), blocked.sorted.end());
  return blocked;
}

/// The median of one resample: draws, with replacement, as many segments as there are, and from each as many blocks as
/// it has. So the interval also covers differences between several periods of the same mode.
double resampled_median(const Blocked& blocked, std::vector<std::uint32_t>& weight, std::vector<std::uint32_t>& size,
                        std::mt19937_64& random) {
  std::fill(weight.begin(), weight.end(), 0);
  std::uniform_int_distribution<std::size_t> draw_segment(0, blocked.segments.size() - 1);
  std::uint64_t total = 0;
  for (std::size_t s = 0; s < blocked.segments.size(); ++s) {
    const auto [first, count] = blocked.segments[draw_segment(random)];
    std::uniform_int_distribution<std::uint32_t> draw(first, first + count - 1);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t block = draw(random);
      ++weight[block];
      total += size[block];
    }
  }
  const std::uint64_t half = (total + 1) / 2;
  std::uint64_t seen = 0;
  for (const auto& [duration, block] : blocked.sorted) {
    seen += weight[block];
    if (seen >= half) return static_cast<double>(duration);
  }
  return static_cast<double>(blocked.sorted.back().first);
}

std::vector<std::uint32_t> block_sizes(const Blocked& blocked) {
  std::vector<std::uint32_t> sizes(blocked.blocks, 0);
  for (const auto& entry : blocked.sorted) ++sizes[entry.second];
  return sizes;
}

TimeNs median_of(const Lists& lists) {
  std::vector<TimeNs> pooled;
  for (const auto& list : lists) pooled.insert(pooled.end(), list.begin(), list.end());
  return percentile(std::move(pooled), 50);
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::improvement:
      return "improvement";
    case Verdict::regression:
      return "regression";
    case Verdict::no_change:
      return "no change";
    case Verdict::inconclusive:
      break;
  }
  return "inconclusive";
}

Verdict judge(const Speedup& speedup, double tolerance) {
  if (speedup.low > 1 && speedup.value >= 1 + tolerance) return Verdict::improvement;
  if (speedup.high < 1 && speedup.value <= 1 - tolerance) return Verdict::regression;
  if (speedup.low >= 1 - tolerance && speedup.high <= 1 + tolerance) return Verdict::no_change;
  return Verdict::inconclusive;
}

Speedup bootstrap_ratio(const Lists& before, const Lists& after, const BootstrapOptions& options) {
  const Blocked sides[2] = {blocks_of(before), blocks_of(after)};
  if (sides[0].blocks == 0 || sides[1].blocks == 0) return {};
  std::vector<std::uint32_t> sizes[2] = {block_sizes(sides[0]), block_sizes(sides[1])};
  std::vector<std::uint32_t> weights[2] = {sizes[0], sizes[1]};
  std::mt19937_64 random(options.seed);
  std::vector<double> ratios(std::max<std::size_t>(options.resamples, 1));
  for (double& ratio : ratios) {
    const double slow = resampled_median(sides[0], weights[0], sizes[0], random);
    const double fast = resampled_median(sides[1], weights[1], sizes[1], random);
    ratio = slow / std::max(1.0, fast);
  }
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](double share) {
    return ratios[static_cast<std::size_t>(std::lround(share * static_cast<double>(ratios.size() - 1)))];
  };
  Speedup speedup;
  speedup.value = static_cast<double>(median_of(before)) / static_cast<double>(std::max<TimeNs>(1, median_of(after)));
  speedup.low = std::min(at(kLowQuantile), speedup.value);
  speedup.high = std::max(at(kHighQuantile), speedup.value);
  return speedup;
}

}  // namespace wicprof::analyzer
