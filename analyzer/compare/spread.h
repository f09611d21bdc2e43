// How far apart two equal single runs were, and two equal phases of one run: the largest ratio of many pairs. Every
// figure is from files in docs/results; tests/analyzer/spread_test.cpp compares them with those files. Pairs that were
// measured later judge the figures (calibration_wider.vm2.json).
#pragma once

#include <string_view>

namespace wicprof::analyzer::calibration {

/// Ratios above 1.
struct Spread {
  double iterations;        ///< of the time per iteration
  double waits;             ///< of the median wait at a site, at the site with the largest
  double latencies;         ///< of the median wake latency along an edge, at the edge with the largest
  std::string_view origin;  ///< of the ratio of iterations
};

/// The next pair exceeds the largest ratio of n pairs with a probability of 1 / (n + 1). With fewer pairs than this the
/// constant is the cube of the largest ratio, which is a guess on the safe side.
inline constexpr int kManyPairs = 40;

/// Programs whose kernels run on the CPU device, or on no device: rows spread_runs_* and spread_phases_* of
/// calibration.vm2.json (beside compilers) and calibration_busy.vm2.json (beside other recordings, too).
inline constexpr Spread kCpuRuns{21.37, 7078, 821.7, "calibration_busy.vm2.json"};
inline constexpr Spread kCpuPhases{10.73, 298, 195.7, "calibration_busy.vm2.json"};
/// Programs with a GPU: rows spread_runs_* of calibration_shipped.h200.json (the pairs of samples/traces, poll against
/// park, which are equal within 1 % by applications.h200.json), and both kinds of rows of calibration_gpu.h100x2.json
/// and calibration_gpu.h200x2.json (one and two GPUs, with several programs on each).
inline constexpr Spread kGpuRuns{7.969, 914.9, 2383, "calibration_gpu.h100x2.json"};
inline constexpr Spread kGpuPhases{12.34, 1352, 5.464, "calibration_gpu.h200x2.json"};

/// Of a program with or without a GPU.
constexpr const Spread& spread_of(bool gpu, bool phases) {
  if (gpu) return phases ? kGpuPhases : kGpuRuns;
  return phases ? kCpuPhases : kCpuRuns;
}

}  // namespace wicprof::analyzer::calibration
