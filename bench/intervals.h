// Medians with their intervals, and means of ratios.
#pragma once

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "bench/claim.h"

namespace wicprof::bench {

/// The median with its 95 % confidence interval, from the ranks of a binomial distribution.
struct Middle {
  double value, low, high;
};
inline Middle middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const double reach = 0.98 * std::sqrt(n);
  const auto at = [&](double rank) { return values[static_cast<std::size_t>(std::clamp(rank, 0.0, n - 1))]; };
  return {median(values), at(std::floor(n / 2 - reach)), at(std::ceil(n / 2 + reach))};
}

/// 0 without values.
inline double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}

/// The words of a list that commas separate.
inline std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) words.push_back(word);
  return words;
}

}  // namespace wicprof::bench
