// A ratio of medians with a confidence interval, and the verdict on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "protocol/time.h"

namespace wicprof::analyzer {

/// The median time of the first side / the median time of the second: above 1, the second is shorter.
struct Speedup {
  double value = 1, low = 1, high = 1;  ///< low and high: a 95 % bootstrap interval
};

enum class Verdict { improvement, regression, no_change, inconclusive };
/// "improvement", "regression", "no change" and "inconclusive".
std::string_view verdict_name(Verdict verdict);

/// Improvement or regression: the value exceeds the tolerance and the interval excludes 1. No change: the whole
/// interval is within the tolerance. Inconclusive otherwise.
Verdict judge(const Speedup& speedup, double tolerance);

struct BootstrapOptions {
  std::size_t resamples = 2000;
  std::uint64_t seed = 1;
};

/// A seeded block bootstrap of median(before) / median(after); the interval is from percentiles of the resamples'
/// ratios. Each inner list is one segment, in order of time. A resample draws segments, then blocks of neighbouring
/// values within them, because values of one segment are correlated, and neighbours even more. The block length is the
/// cube root of the number of values. Beyond 20,000 values, only every n-th block takes part. 1 if a side is empty.
Speedup bootstrap_ratio(const std::vector<std::vector<TimeNs>>& before, const std::vector<std::vector<TimeNs>>& after,
                        const BootstrapOptions& options);

}  // namespace wicprof::analyzer
