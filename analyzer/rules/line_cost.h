// What waiters cost the work beside them, by where the word lies and who polls it. All of it measured on an H200.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/waits/sites.h"

namespace wicprof::analyzer {

// Measured on an H200: 528 leaders that poll one word in pinned host memory slow HBM streaming by more than a factor of
// 100 (docs/results: hot_flag, interference); leaders on a line each cost nothing. The limits come from an earlier and
// gentler measurement (9.5 times): in proportion, 8 leaders cost about 0.13, well above what a comparison can tell
// apart, and 64 about double the time. They are cautious, therefore, and not measured themselves.
inline constexpr std::uint32_t kHostWordWaiters = 8;
inline constexpr std::uint32_t kHostWordWaitersCritical = 64;

// Measured on an H200: 2,096 leaders that poll one word in device memory cost L2-bound work 1.04; 524 of them cost
// nothing.
inline constexpr std::uint32_t kDeviceWordLeaders = 2000;

// Measured on an H200: 48 warps an SM whose threads all poll one word in device memory slow HBM streaming 1.6 times and
// L2-bound work 4.65 times. In proportion, 4 warps an SM cost HBM streaming about 0.05.
inline constexpr double kPollingWarpsPerSm = 4;
inline constexpr double kPollingWarpsPerSmCritical = 24;

/// How much `waiters` of a site at once matter.
enum class LineCost { none, noticeable, severe };

struct LineJudgement {
  LineCost cost = LineCost::none;
  std::string measured;  ///< the measurement that says so, for people
};

/// For a site whose layout the trace declares.
LineJudgement judge_line(const SiteStats& site, std::uint32_t waiters);

}  // namespace wicprof::analyzer
