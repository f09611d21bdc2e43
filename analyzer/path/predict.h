// What parking would gain, predicted from how the program polls, before any toggle.
//
// The model. The critical path through the times of polling (critical_path.h) has the length T. If a site parked,
//   - each segment of work on a device would shrink from l to l (1 - x (1 - 1/S)), where x is the part of the segment
//     during which waiters poll at the site on that device, and S the slowdown of work beside such pollers
//     (slowdown.h);
//   - each wake-up at the site, and each wake-up of other sites through host memory that this site's pollers congest,
//     would take as long as a parked one.
//   - launches, returns to the host and host work would keep their lengths or, beside pollers that congest the host's
//     memory, shrink by up to kHostSlowed.
// With the path's length T' after parking, the predicted gain is T / T'. Sites count as independent of each other. S
// depends on the memory that holds the word, on the number of pollers per word and on what bounds the work. A recording
// of polling does not show the bound, so the interval spans everything that was measured, from computing to L2 latency.
// Copies keep their lengths.
//
// Host threads that poll at sites take CPUs. What others would do with these is bounded by host_room.h, and multiplies
// the gain of the whole program.
//
// Where the interval reaches further from its value than an answer may be off (kMostError), there is no answer, only
// bounds: a program whose work beside many pollers of a host word gains nothing or a hundred times looks the same while
// it polls. Neither the rhythm of the looks (even looks of eight pollers slowed the work by 1.0 and by 2.3) nor a
// difference between iterations with early and with late waiters (what made the waiters late changes the work, too)
// decides it; only the change of the mode in random order does, `run --ab`.
//
// T counts only the iterations that poll from begin to end: start-up and end do not change with the mode, and would
// hide the gain of a short recording. Without such an iteration, T counts all the time that polled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/path/critical_path.h"
#include "analyzer/path/slowdown.h"
#include "analyzer/trace/modes.h"
#include "analyzer/waits/iterations.h"
#include "analyzer/waits/sites.h"

namespace wicprof::analyzer {

struct SitePrediction {
  SiteId site = 0;
  std::optional<Gain> gain;     ///< of the program, if only this site parked; nothing where it is not certain enough
  std::optional<Gain> bounds;   ///< the same, however wide; nothing where no measurement covers the site
  std::string reason;           ///< the basis of the gain; without a gain, the reason
  double pollers_per_word = 0;  ///< mean, while anyone polls; for Pollers::each_thread, warps per SM
  double exposed = 0;           ///< share of the path that is device work beside pollers of this site
  /// The shortest wait worth parking; nothing if there is none or if it is unknown.
  std::optional<TimeNs> break_even_ns;
  std::string break_even_reason;
};

struct Prediction {
  std::vector<SitePrediction> sites;  ///< in the order of `stats`
  std::optional<Gain> program;        ///< if all sites parked; nothing where it is not certain enough
  std::optional<Gain> bounds;         ///< the same, however wide; nothing where no measurement covers a site
  std::string reason;                 ///< the basis of the gain; without a gain, the reason, and the command for it
  TimeNs path_ns = 0;                 ///< T
};

/// Counts those `iterations` that poll from begin to end; without any, all the time that polled.
/// `stats` are site_stats(model).
Prediction predict(const TraceModel& model, const CriticalPath& path, const Modes& modes,
                   const std::vector<SiteStats>& stats, const std::vector<Iteration>& iterations);
/// The same with the iterations of the site and device that have the most.
Prediction predict(const TraceModel& model, const CriticalPath& path, const Modes& modes,
                   const std::vector<SiteStats>& stats);

/// (predicted - measured) / measured, of the gains.
double prediction_error(const Gain& predicted, double measured);

}  // namespace wicprof::analyzer
