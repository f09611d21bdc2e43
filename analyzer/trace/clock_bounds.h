// Bounds the error of the GPU's times relative to the host's, from the order in which events must happen: no kernel
// starts before the call that launched it began, and none ends after a call that waited for it returned.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/trace/device_work.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// Bounds within one window of time on the error: recorded GPU time minus true time.
struct ClockWindow {
  TimeNs begin = 0, end = 0;
  std::optional<TimeNs> low, high;
  std::uint64_t lows = 0, highs = 0;  ///< how many observations each bound was chosen from

  /// No constant error fits: the error changes within the window.
  bool contradictory() const { return low && high && *low > *high; }
  /// The smallest absolute error that the bounds allow; 0 if they include 0.
  TimeNs proven_error() const;
};

struct ClockBounds {
  DeviceId device = 0;
  std::vector<ClockWindow> windows;  ///< windows with at least one bound, in order of time
  std::optional<TimeNs> low, high;   ///< bounds on the error in all windows that have both bounds
  TimeNs proven_error = 0;           ///< largest proven_error() of any window
  TimeNs proven_drift = 0;           ///< the error changed by at least this much between two windows
};

inline constexpr TimeNs kClockWindow = 1'000'000'000;

/// One element per device with at least one bound, in order of device number. `window`: length of a window in ns.
std::vector<ClockBounds> clock_bounds(const TraceModel& model, TimeNs window = kClockWindow);
std::vector<ClockBounds> clock_bounds(const TraceModel& model, const CallIndex& calls, const DeviceWork& work,
                                      TimeNs window = kClockWindow);

}  // namespace wicprof::analyzer
