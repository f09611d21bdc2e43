#include "analyzer/measure/warm_up.h"

#include <algorithm>
#include <limits>

namespace wicprof::analyzer {

std::size_t warm_up_length(const std::vector<double>& values) {
  // Batches of five values as in MSER-5, or of fewer where the series is short.
  constexpr std::size_t kBatch = 5;
  /// The variance of fewer batches says nothing; the rule is known to pick the very end otherwise.
  constexpr std::size_t kFewestLeft = kFewestForWarmUp / 4;
  if (values.size() < kFewestForWarmUp) return values.size();
  const std::size_t length = std::clamp<std::size_t>(values.size() / kFewestForWarmUp, 1, kBatch);
  const std::size_t batches = values.size() / length;
  std::vector<double> means(batches, 0);
  for (std::size_t i = 0; i < batches * length; ++i) means[i / length] += values[i] / static_cast<double>(length);
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  // From the end, so that the sums of the rest grow by one batch each. About the last batch, which keeps them small.
  double sum = 0, squares = 0;
  for (std::size_t left = 1; left <= batches; ++left) {
    const double value = means[batches - left] - means.back();
    sum += value;
    squares += value * value;
    if (left < kFewestLeft) continue;
    const auto n = static_cast<double>(left);
    const double error = (squares - sum * sum / n) / (n * n);
    if (error <= least) {
      least = error;
      best = batches - left;
    }
  }
  return best * length;
}

bool is_steady(const std::vector<double>& values) {
  return values.size() >= kFewestForWarmUp && 2 * warm_up_length(values) <= values.size();
}

}  // namespace wicprof::analyzer
