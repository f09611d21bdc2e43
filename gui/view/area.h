// Sums over a stretch of time on selected tracks.
#pragma once

#include <string>
#include <vector>

#include "gui/view/timeline.h"

namespace wicprof::gui {

struct AreaSum {
  State state = State::computing;
  double time_ns = 0;       ///< summed over warps, threads, streams
  double mean_at_once = 0;  ///< time_ns / length of the stretch
};

struct Area {
  TimeNs begin = 0, end = 0;
  std::size_t tracks = 0;
  std::size_t events = 0;     ///< events that overlap the stretch
  std::vector<AreaSum> sums;  ///< most time first; only states that occur
};

/// Sums over tracks[i] for each i in `which`.
Area sum_up(const Timeline& timeline, TimeNs begin, TimeNs end, const std::vector<std::size_t>& which);

}  // namespace wicprof::gui
