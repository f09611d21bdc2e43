// The waits of patched loops, which are counted on the device; only those of at least 20 us are recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// One site, summed over processes, devices and time.
struct CountedWaits {
  SiteId site = 0;
  std::string name;
  std::uint64_t at_least = 0;  ///< waits that went round at least once, of those that the device saw one by one
  /// All of these, estimated; empty, as all estimates are, if the sample has too few for that.
  std::optional<std::uint64_t> counted;
  /// Of `counted`, from the differences between kSampleParts parts of the sample (the method of random groups).
  std::optional<double> standard_error;
  std::uint64_t longer = 0;    ///< those of at least 20 us
  std::uint64_t recorded = 0;  ///< rows of `wait`: most of those of at least 20 us
  /// Of the shorter ones, the sample that their number is estimated from. Waits that begin in the same 1 us are in it
  /// together, so that it says less than as many waits chosen one by one.
  std::uint64_t sampled = 0;
  std::uint64_t one_in = 1;  ///< of so many windows of 1 us, waits that begin in one are in the sample
  /// Per shorter wait, the mean of those that were timed; also empty if the ends are not known.
  std::optional<double> rounds;
  std::optional<TimeNs> mean_ns;  ///< the same of its time, from the first round to the last one's begin
  std::optional<TimeNs> time_ns;  ///< of all shorter waits: that mean x their number
};

/// Estimates come from so many sampled waits at least, and their standard error is so large at most, as a share of
/// what is estimated (both chosen).
inline constexpr std::uint64_t kFewestSampled = 8;
inline constexpr double kLargestError = 0.5;

/// Most waits first.
std::vector<CountedWaits> counted_waits(const TraceModel& model);

}  // namespace wicprof::analyzer
