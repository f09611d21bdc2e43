// The ratio of two sides from their units: the phases of one run, or whole runs.
//
// Iterations of one phase resemble each other more than those of two phases do, and two runs differ by more than
// either. So a unit counts as one value, the median of its iterations (between the clock's ticks), whatever their
// number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/measure/bootstrap.h"
#include "protocol/time.h"

namespace wicprof::analyzer {

struct Unit {
  bool after = false;                       ///< the side
  TimeNs at = 0;                            ///< the middle of its time
  std::optional<std::uint32_t> block = {};  ///< of a randomized design: a block has one unit of each side
  double log_time = 0;                      ///< the natural logarithm of its time per iteration
};

enum class UnitMethod {
  none,    ///< a side has no unit
  spread,  ///< too few units: the known spread of single units
  welch,   ///< whole runs: Welch's t-interval
  pooled,  ///< many runs against few: the t-interval for equal variances
  drift,   ///< phases: least squares with a line through time
  blocks,  ///< randomized blocks: the signed-rank interval over the blocks' differences
  looks,   ///< randomized blocks of a run that ended once the interval was narrow: a bound that holds at every look
};

/// The enumerator's own word.
std::string_view method_name(UnitMethod method);

struct UnitRatio {
  Speedup speedup;
  UnitMethod method = UnitMethod::none;
  std::size_t before = 0, after = 0;     ///< units that count
  double log_before = 0, log_after = 0;  ///< the sides' times that the ratio's value is the ratio of, as logarithms
  double drift_per_span = 1;  ///< method drift: the factor by which times grew from the first to the last unit
};

/// Equal sides of n and m units separate completely by chance in 2 / C(n + m, n) of all orders: 10 % for three a side,
/// 2.9 % for four. Below 5 %, the sides' own variation says enough.
bool separate_rarely(std::size_t before, std::size_t after);
/// So many blocks all have the same sign by chance in 2 / 2^n: 3.1 % for six.
inline constexpr std::size_t kFewestBlocks = 6;
/// A side with so many times the units of the other says how much single units of the other side vary, if both vary
/// alike. Where a share p of the runs is slow, one slow run meets six fast ones with a probability of p (1 - p)^6,
/// which is at most 5.7 %.
inline constexpr std::size_t kManyForOne = 6;

/// The probability that an interval misses, in all.
inline constexpr double kMiss = 0.05;
/// The part of kMiss that goes to a run that may end early, at any look; the rest goes to the interval at its end. By
/// the sum of both, the two together miss with kMiss at most.
inline constexpr double kMissAtLooks = 0.01;

struct UnitDesign {
  bool phases = false;                  ///< the units follow each other in one run; otherwise they are runs
  double spread = 1;                    ///< the largest ratio of two equal units that is known, above 1
  bool may_stop = false;                ///< the run looked at the interval while it ran, and could end early
  bool stopped = false;                 ///< ... and did
  double miss_at_looks = kMissAtLooks;  ///< with `stopped`: the probability that the interval misses at any look
};

/// The time before / the time after: the ratio of the geometric means of the units' times, which method drift adjusts
/// to one time; with method blocks, the pseudo-median of the blocks' ratios.
///
/// Blocks (at least kFewestBlocks): Hodges and Lehmann's estimate (1963) with the interval of Wilcoxon's signed-rank
/// test, exact where a coin decides the order within each block. Stopped early: the t-mixture confidence sequence (Lai
/// 1976; Wang, Ramdas 2023, "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance"),
/// which holds at all looks together; its variance grows by (1 + r) / (1 - r) where neighbouring differences have a
/// correlation r above 0. Phases without blocks: ordinary least squares of log time on side and time. Runs: Welch 1947.
/// With too few units: the ratio times and by spread^(1/sqrt(units of the smaller side)), and at least Welch's
/// interval.
UnitRatio unit_ratio(const std::vector<Unit>& units, const UnitDesign& design);

/// The interval's half width, as a logarithm, of the confidence sequence over `differences` that misses with
/// probability `miss` at any time; nothing while it has no bound. For the run that decides whether to end.
std::optional<double> anytime_half_width(const std::vector<double>& differences, double miss);

}  // namespace wicprof::analyzer
