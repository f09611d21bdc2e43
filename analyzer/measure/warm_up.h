// Where a program's warm-up ends.
#pragma once

#include <cstddef>
#include <vector>

namespace wicprof::analyzer {

/// How many of the first values belong to the warm-up: the truncation that minimizes the standard error of the mean of
/// the rest, over the means of batches of five (MSER-5: White 1997, "An effective truncation heuristic for bias
/// reduction in simulation output"). `values` in order of time; at least kFewestForWarmUp, otherwise all of them are
/// warm-up.
std::size_t warm_up_length(const std::vector<double>& values);
inline constexpr std::size_t kFewestForWarmUp = 20;

/// Whether the values have become steady: the warm-up ends in their first half. Past that, the rule's own authors call
/// the series too short (White, Cobb, Spratt 2000).
bool is_steady(const std::vector<double>& values);

}  // namespace wicprof::analyzer
