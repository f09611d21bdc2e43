#include "analyzer/measure/unit_ratio.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <map>

namespace wicprof::analyzer {
namespace {

/// The prior precision of the standardized effect in the mixture, the number of blocks that it weighs as much as: 0.3
/// makes the interval narrow for 8 to 30 blocks (computed for 0.01 to 3; the width at 15 differs by 5 %).
constexpr double kMixture = 0.3;

/// Beyond this a correlation of neighbours is taken for this: the variance would otherwise have no bound.
constexpr double kMaxCorrelation = 0.9;

/// The variance of two runs is too uncertain for Welch's interval: with 30 % slow runs, two against eight had 16 %
/// false verdicts (simulated in tests/analyzer/unit_ratio_test.cpp).
constexpr std::size_t kFewestForWelch = 3;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

struct Estimate {
  double log_before = 0, log_after = 0;
  double half_width = kUnbounded;
};

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// The sum of squared distances from the mean.
double squares_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

double t_quantile(double degrees, double miss) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(degrees), miss / 2));
}

/// (1 + r) / (1 - r) for the correlation r of neighbours if positive, else 1: by how much the variance of a mean of
/// correlated values exceeds that of independent ones (a first-order autoregression).
double correlation_factor(const std::vector<double>& values) {
  const double mean = mean_of(values), squares = squares_of(values);
  if (squares <= 0) return 1;
  double products = 0;
  for (std::size_t i = 1; i < values.size(); ++i) products += (values[i] - mean) * (values[i - 1] - mean);
  const double r = std::clamp(products / squares, 0.0, kMaxCorrelation);
  return (1 + r) / (1 - r);
}

std::vector<double> logs_of(const std::vector<Unit>& units, bool after) {
  std::vector<double> logs;
  for (const Unit& unit : units) {
    if (unit.after == after) logs.push_back(unit.log_time);
  }
  return logs;
}

Estimate welch(const std::vector<double>& before, const std::vector<double>& after, double miss) {
  Estimate estimate;
  estimate.log_before = mean_of(before);
  estimate.log_after = mean_of(after);
  if (before.size() < 2 || after.size() < 2) return estimate;
  double variance = 0, below = 0;
  for (const std::vector<double>* side : {&before, &after}) {
    const auto n = static_cast<double>(side->size());
    const double part = squares_of(*side) / (n - 1) / n;
    variance += part;
    below += part * part / (n - 1);
  }
  const double degrees =
      below > 0 ? variance * variance / below : static_cast<double>(before.size() + after.size() - 2);
  estimate.half_width = t_quantile(degrees, miss) * std::sqrt(variance);
  return estimate;
}

/// Student's interval where both sides vary alike.
Estimate pooled(const std::vector<double>& before, const std::vector<double>& after, double miss) {
  Estimate estimate;
  estimate.log_before = mean_of(before);
  estimate.log_after = mean_of(after);
  const auto n = static_cast<double>(before.size()), m = static_cast<double>(after.size());
  const double variance = (squares_of(before) + squares_of(after)) / (n + m - 2) * (1 / n + 1 / m);
  estimate.half_width = t_quantile(n + m - 2, miss) * std::sqrt(variance);
  return estimate;
}

/// The blocks that have units of both sides.
struct Blocks {
  std::vector<double> before, after, differences;  // in order of the blocks
};

Blocks blocks_of(const std::vector<Unit>& units) {
  std::map<std::uint32_t, std::array<std::vector<double>, 2>> all;
  for (const Unit& unit : units) {
    if (unit.block) all[*unit.block][unit.after ? 1 : 0].push_back(unit.log_time);
  }
  Blocks blocks;
  for (const auto& [number, sides] : all) {
    if (sides[0].empty() || sides[1].empty()) continue;
    blocks.before.push_back(mean_of(sides[0]));
    blocks.after.push_back(mean_of(sides[1]));
    blocks.differences.push_back(blocks.before.back() - blocks.after.back());
  }
  return blocks;
}

/// The largest k for which the signed-rank statistic of n differences is at most k with a probability of miss / 2; -1
/// if there is none.
std::int64_t signed_rank_limit(std::size_t n, double miss) {
  // Beyond this the normal approximation is within a rank of the exact distribution.
  constexpr std::size_t kMaxExact = 60;
  if (n > kMaxExact) {
    const auto m = static_cast<double>(n);
    const double mean = m * (m + 1) / 4, deviation = std::sqrt(m * (m + 1) * (2 * m + 1) / 24);
    const double quantile = boost::math::quantile(boost::math::normal(), miss / 2);
    return static_cast<std::int64_t>(std::floor(mean + quantile * deviation - 0.5));
  }
  // The distribution: each rank from 1 to n counts or not, with equal chances.
  std::vector<double> chance(n * (n + 1) / 2 + 1, 0);
  chance[0] = 1;
  std::size_t most = 0;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    most += rank;
    for (std::size_t sum = most + 1; sum-- > 0;) {
      chance[sum] = (chance[sum] + (sum >= rank ? chance[sum - rank] : 0)) / 2;
    }
  }
  double below = 0;
  std::int64_t limit = -1;
  for (const double each : chance) {
    below += each;
    if (below > miss / 2) break;
    ++limit;
  }
  return limit;
}

/// The pseudo-median of the differences and the ends of its interval.
struct Location {
  double value = 0, low = -kUnbounded, high = kUnbounded;
};

/// Hodges and Lehmann's estimate, and the interval that inverts Wilcoxon's signed-rank test. Where a coin decides the
/// order within each block, the signs of equal sides are coins too, whatever the noise: the interval then misses with
/// `miss` under any drift, correlation or outliers.
Location signed_rank_interval(const std::vector<double>& differences, double miss) {
  std::vector<double> averages;
  averages.reserve(differences.size() * (differences.size() + 1) / 2);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    for (std::size_t j = i; j < differences.size(); ++j) averages.push_back((differences[i] + differences[j]) / 2);
  }
  std::sort(averages.begin(), averages.end());
  const std::size_t n = averages.size();
  Location location;
  location.value = (averages[(n - 1) / 2] + averages[n / 2]) / 2;
  const std::int64_t limit = signed_rank_limit(differences.size(), miss);
  if (limit < 0) return location;
  location.low = averages[static_cast<std::size_t>(limit)];
  location.high = averages[n - 1 - static_cast<std::size_t>(limit)];
  return location;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// The most differences whose pairs are all averaged: beyond, neighbours are averaged first.
constexpr std::size_t kMaxDifferences = 2000;

std::vector<double> thinned(std::vector<double> differences) {
  while (differences.size() > kMaxDifferences) {
    for (std::size_t i = 0; i + 1 < differences.size(); i += 2)
      differences[i / 2] = (differences[i] + differences[i + 1]) / 2;
    differences.resize(differences.size() / 2);
  }
  return differences;
}

/// Least squares of log time on 1, side and time.
Estimate with_drift(const std::vector<Unit>& units, double miss, double& drift_per_span) {
  const auto n = static_cast<double>(units.size());
  TimeNs first = units.front().at, last = units.front().at;
  for (const Unit& unit : units) {
    first = std::min(first, unit.at);
    last = std::max(last, unit.at);
  }
  const double span = static_cast<double>(std::max<TimeNs>(1, last - first));
  double mean_time = 0, mean_side = 0, mean_log = 0;
  const auto time = [&](const Unit& unit) { return static_cast<double>(unit.at - first) / span; };
  const auto side = [](const Unit& unit) { return unit.after ? 0.0 : 1.0; };
  for (const Unit& unit : units) {
    mean_time += time(unit) / n;
    mean_side += side(unit) / n;
    mean_log += unit.log_time / n;
  }
  double tt = 0, ss = 0, ts = 0, tl = 0, sl = 0;
  for (const Unit& unit : units) {
    const double t = time(unit) - mean_time, s = side(unit) - mean_side, l = unit.log_time - mean_log;
    tt += t * t, ss += s * s, ts += t * s, tl += t * l, sl += s * l;
  }
  Estimate estimate;
  const double determinant = tt * ss - ts * ts;
  // Without any overlap in time, side and drift cannot be distinguished.
  constexpr double kMinOverlap = 0.05;  // of the side's variance; not calibrated
  if (determinant <= kMinOverlap * tt * ss) return estimate;
  const double of_side = (sl * tt - tl * ts) / determinant, of_time = (tl * ss - sl * ts) / determinant;
  // Both sides' times at the mean time of all units; side is 1 before and 0 after.
  estimate.log_before = mean_log + of_side * (1 - mean_side);
  estimate.log_after = mean_log - of_side * mean_side;
  drift_per_span = std::exp(of_time);
  double squares = 0;
  for (const Unit& unit : units) {
    const double rest =
        unit.log_time - mean_log - of_side * (side(unit) - mean_side) - of_time * (time(unit) - mean_time);
    squares += rest * rest;
  }
  if (units.size() <= 3) return estimate;
  const double variance = squares / (n - 3) * tt / determinant;
  estimate.half_width = t_quantile(n - 3, miss) * std::sqrt(variance);
  return estimate;
}

Speedup speedup_of(const Estimate& estimate) {
  const double log_ratio = estimate.log_before - estimate.log_after;
  return {std::exp(log_ratio), std::exp(log_ratio - estimate.half_width), std::exp(log_ratio + estimate.half_width)};
}

}  // namespace

std::string_view method_name(UnitMethod method) {
  switch (method) {
    case UnitMethod::spread:
      return "spread";
    case UnitMethod::welch:
      return "welch";
    case UnitMethod::pooled:
      return "pooled";
    case UnitMethod::drift:
      return "drift";
    case UnitMethod::blocks:
      return "blocks";
    case UnitMethod::looks:
      return "looks";
    case UnitMethod::none:
      break;
  }
  return "none";
}

bool separate_rarely(std::size_t before, std::size_t after) {
  if (before == 0 || after == 0) return false;
  const auto n = static_cast<double>(before), m = static_cast<double>(after);
  const double orders = std::exp(std::lgamma(n + m + 1) - std::lgamma(n + 1) - std::lgamma(m + 1));
  return 2 / orders < kMiss;
}

std::optional<double> anytime_half_width(const std::vector<double>& differences, double miss) {
  if (differences.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(differences.size());
  // With S the squares about the mean and T = n (mean - m)^2, the mixture's likelihood ratio against m is
  // sqrt(g) ((S + T) / (S + g T))^(n/2), g = c / (n + c); the interval holds every m for which it is below 1 / miss.
  const double g = kMixture / (n + kMixture);
  const double limit = std::pow(1 / (miss * miss * g), 1 / n);
  if (limit * g >= 1) return std::nullopt;
  const double squares = squares_of(differences) * correlation_factor(differences);
  return std::sqrt(squares * (limit - 1) / (1 - limit * g) / n);
}

UnitRatio unit_ratio(const std::vector<Unit>& units, const UnitDesign& design) {
  const std::vector<double> before = logs_of(units, false), after = logs_of(units, true);
  UnitRatio ratio;
  ratio.before = before.size();
  ratio.after = after.size();
  if (before.empty() || after.empty()) return ratio;
  const Blocks blocks = blocks_of(units);
  Estimate estimate;
  if (blocks.differences.size() >= kFewestBlocks) {
    ratio.before = ratio.after = blocks.differences.size();
    if (!design.stopped) {
      ratio.method = UnitMethod::blocks;
      const Location location =
          signed_rank_interval(thinned(blocks.differences), design.may_stop ? kMiss - kMissAtLooks : kMiss);
      // Both sides' times at the typical level of the blocks.
      std::vector<double> levels;
      for (std::size_t i = 0; i < blocks.before.size(); ++i) levels.push_back((blocks.before[i] + blocks.after[i]) / 2);
      const double level = median_of(std::move(levels));
      ratio.log_before = level + location.value / 2;
      ratio.log_after = level - location.value / 2;
      ratio.speedup = {std::exp(location.value), std::exp(location.low), std::exp(location.high)};
      return ratio;
    }
    ratio.method = UnitMethod::looks;
    estimate.log_before = mean_of(blocks.before);
    estimate.log_after = mean_of(blocks.after);
    estimate.half_width = anytime_half_width(blocks.differences, design.miss_at_looks).value_or(kUnbounded);
  } else if (separate_rarely(before.size(), after.size()) && std::min(before.size(), after.size()) >= kFewestForWelch) {
    ratio.method = design.phases ? UnitMethod::drift : UnitMethod::welch;
    estimate = design.phases ? with_drift(units, kMiss, ratio.drift_per_span) : welch(before, after, kMiss);
  }
  if (!std::isfinite(estimate.half_width) && !design.phases &&
      std::max(before.size(), after.size()) >= kManyForOne * std::min(before.size(), after.size())) {
    ratio.method = UnitMethod::pooled;
    estimate = pooled(before, after, kMiss);
  }
  if (!std::isfinite(estimate.half_width)) {
    ratio.method = UnitMethod::spread;
    ratio.before = before.size();
    ratio.after = after.size();
    estimate = welch(before, after, kMiss);
    const std::size_t fewest = std::min(before.size(), after.size());
    const double known = std::log(design.spread) / std::sqrt(static_cast<double>(fewest));
    estimate.half_width = std::isfinite(estimate.half_width) ? std::max(known, estimate.half_width) : known;
  }
  ratio.log_before = estimate.log_before;
  ratio.log_after = estimate.log_after;
  ratio.speedup = speedup_of(estimate);
  return ratio;
}

}  // namespace wicprof::analyzer
