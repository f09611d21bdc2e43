// A ratio of medians with an interval, and what it says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "protocol/time.h"

namespace wicprof::analyzer {

/// How many times as fast the second side is as the first: the ratio of the median times.
struct Speedup {
  double value = 1, low = 1, high = 1;  ///< low and high: a 95 % bootstrap interval
};

enum class Verdict { improvement, regression, no_change, inconclusive };
/// "improvement", "regression", "no change" and "inconclusive".
std::string_view verdict_name(Verdict verdict);

/// A change counts when the point is beyond the tolerance and the interval excludes 1; no change, when the whole
/// interval lies within the tolerance.
Verdict judge(const Speedup& speedup, double tolerance);

struct BootstrapOptions {
  std::size_t resamples = 2000;
  std::uint64_t seed = 1;
};

/// A seeded block bootstrap of median(before) / median(after), by percentiles of the resamples' ratios. Each inner list
/// is one segment, in order of time. Segments are drawn first and blocks of neighbours within them, since values of one
/// segment, and neighbours all the more, resemble each other; a block has as many values as the cube root of all. Of
/// more than 20,000 values only every so-manieth block is resampled. 1 where a side is empty.
Speedup bootstrap_ratio(const std::vector<std::vector<TimeNs>>& before, const std::vector<std::vector<TimeNs>>& after,
                        const BootstrapOptions& options);

}  // namespace wicprof::analyzer
