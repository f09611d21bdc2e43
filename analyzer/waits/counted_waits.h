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
  std::uint64_t counted = 0;  ///< waits that went round at least once; estimated unless `is_exact`
  bool is_exact = false;      ///< each of them was counted
  /// Of the estimate, from the differences between kSampleParts parts of the sample (the method of random groups);
  /// empty if the number is exact, or the sample smaller than kFewestSampled.
  std::optional<double> standard_error;
  std::uint64_t longer = 0;    ///< those of at least 20 us
  std::uint64_t recorded = 0;  ///< rows of `wait`: those of at least 20 us, but for lost ones
  /// Of the shorter ones, the sample that the estimates come from. Waits that begin in the same 4 us are in it
  /// together, so that it says less than as many waits chosen one by one.
  std::uint64_t sampled = 0;
  std::optional<double> rounds;   ///< per shorter wait, the sample's mean; empty if the sample has none
  std::optional<TimeNs> mean_ns;  ///< the same of its time, from the first round to the last one's begin
  std::optional<TimeNs> time_ns;  ///< of all shorter waits: the sample's mean x their number
};

/// With fewer sampled waits nothing is said about the error of an estimate (chosen).
inline constexpr std::uint64_t kFewestSampled = 8;

/// Most waits first.
std::vector<CountedWaits> counted_waits(const TraceModel& model);

}  // namespace wicprof::analyzer
