// How far the GPU's times may be off beside the host's, from the order that things must have happened in: no kernel
// starts before the call that launched it began, and none ends after a call that waited for it returned.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/trace/device_work.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// The error (the GPU's time as recorded minus the true one) within a window of time lies between low and high.
struct ClockWindow {
  TimeNs begin = 0, end = 0;
  std::optional<TimeNs> low, high;
  std::uint64_t lows = 0, highs = 0;  ///< what the bounds were chosen from

  /// No one error fits: the clock is wrong by different amounts within the window.
  bool contradictory() const { return low && high && *low > *high; }
  /// By how much the clock is proven wrong here; 0 where 0 is within the bounds.
  TimeNs proven_error() const;
};

struct ClockBounds {
  DeviceId device = 0;
  std::vector<ClockWindow> windows;  ///< those with any bound, in order of time
  std::optional<TimeNs> low, high;   ///< the error was never outside of these: over the windows that have both
  TimeNs proven_error = 0;           ///< the most of any window
  TimeNs proven_drift = 0;           ///< by how much the error has changed at least from one window to another
};

inline constexpr TimeNs kClockWindow = 1'000'000'000;

/// Devices in order of number; those without any bound are left out.
std::vector<ClockBounds> clock_bounds(const TraceModel& model, TimeNs window = kClockWindow);
std::vector<ClockBounds> clock_bounds(const TraceModel& model, const DeviceWork& work, TimeNs window = kClockWindow);

}  // namespace wicprof::analyzer
