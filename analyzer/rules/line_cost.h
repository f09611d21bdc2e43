// What waiters cost concurrent work, by the memory that holds the word and by who polls it. Measured on an H200.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/waits/sites.h"

namespace wicprof::analyzer {

// Measured on an H200: 528 leaders that poll one word in pinned host memory slow HBM streaming by more than a factor of
// 100 (docs/results: hot_flag, interference); leaders with one line each cost nothing. The limits scale down an
// earlier, lower measurement (9.5 times): 8 leaders then cost about 0.13, well above the resolution of a comparison,
// and 64 about double the time. So the limits are conservative, and not measured themselves.
inline constexpr std::uint32_t kHostWordWaiters = 8;
inline constexpr std::uint32_t kHostWordWaitersCritical = 64;

// Measured on an H200: 2,096 leaders that poll one word in device memory slow L2-bound work 1.04 times; 524 leaders
// cost nothing.
inline constexpr std::uint32_t kDeviceWordLeaders = 2000;

// Measured on an H200: 48 warps per SM whose threads all poll one word in device memory slow HBM streaming 1.6 times
// and L2-bound work 4.65 times. In proportion, 4 warps per SM cost HBM streaming about 0.05. 24 warps are half of the
// measured 48; that limit is not calibrated.
inline constexpr double kPollingWarpsPerSm = 4;
inline constexpr double kPollingWarpsPerSmCritical = 24;

/// How much a site's concurrent waiters cost.
enum class LineCost { none, noticeable, severe };

struct LineJudgement {
  LineCost cost = LineCost::none;
  std::string measured;  ///< the measurement on an H200 behind `cost`, for measured_on_h200()
};

/// The cost of `waiters` concurrent waiters at a site whose layout the trace declares.
LineJudgement judge_line(const SiteStats& site, std::uint32_t waiters);

}  // namespace wicprof::analyzer
