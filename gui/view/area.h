// Sums over a stretch of time on selected tracks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/view/timeline.h"

namespace wicprof::gui {

struct AreaSum {
  State state = State::computing;
  double time_ns = 0;       ///< summed over warps, threads, streams
  double mean_at_once = 0;  ///< time_ns / length of the stretch
};

/// The waits at one site, or in one CUDA call, that overlap the stretch, and in one way of waiting.
struct AreaSite {
  std::string name;
  State way = State::polling;  ///< polling, parked; host_waiting where the trace does not say
  std::uint64_t waits = 0;
  TimeNs waiting_ns = 0;              ///< the parts inside of the stretch
  std::optional<TimeNs> wake_p50_ns;  ///< median from the signal, or the arrival if that was later, to the return
};

struct Area {
  TimeNs begin = 0, end = 0;
  std::size_t tracks = 0;
  std::size_t events = 0;       ///< events that overlap the stretch
  std::vector<AreaSum> sums;    ///< most time first; only states that occur
  std::vector<AreaSite> sites;  ///< most waiting time first; only waits whose rows the model has
};

/// Sums over tracks[i] for each i in `which`. `model`: that of the timeline.
Area sum_up(const analyzer::TraceModel& model, const Timeline& timeline, TimeNs begin, TimeNs end,
            const std::vector<std::size_t>& which);

}  // namespace wicprof::gui
