// What parking would change: predicted from how the program polls, before anything is toggled.
//
// The model. The critical path through the times of polling (critical_path.h) has the length T. Were a site parked,
//   - each stretch of work on a device would shrink from l to l (1 - x (1 - 1/S)): x is the part of it in which
//   somebody
//     polls at the site on that device, S how many times as long work takes beside such pollers as beside parked
//     waiters;
//   - each wake-up at the site would take as long as a parked one does.
// With T' the path's length then, the predicted gain is T / T'. Sites count as independent of each other. S comes from
// measurements on an H200 (prediction_constants.h) and depends on where the word lies, how many poll one word and what
// the work is bound by. The last is not in a trace: it is taken to be memory streaming; the interval reaches over
// everything that was measured, from computing to L2 latency.
// Copies, launches and the CPU's own work are taken to last as long as before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/path/critical_path.h"
#include "analyzer/trace/modes.h"
#include "analyzer/waits/sites.h"

namespace wicprof::analyzer {

/// How many times as fast parked as polled; `low` and `high` span what the model's assumptions leave open.
struct Gain {
  double value = 1, low = 1, high = 1;
};

struct SitePrediction {
  SiteId site = 0;
  std::optional<Gain> gain;   ///< of the program, were this site alone parked
  std::string reason;         ///< what the gain rests on; without one, why there is none
  double pollers_a_word = 0;  ///< mean, while anybody polls; where every thread polls, warps an SM
  double exposed = 0;         ///< the part of the path that is device work beside pollers of this site
  /// The shortest wait that is worth parking; nothing where none is, or where it is not known.
  std::optional<TimeNs> break_even_ns;
  std::string break_even_reason;
};

struct Prediction {
  std::vector<SitePrediction> sites;  ///< in the order of `stats`
  std::optional<Gain> program;        ///< all sites parked
  std::string reason;                 ///< likewise
  TimeNs path_ns = 0;                 ///< T
};

/// Uses nothing of the times in which sites were parked. `stats` are site_stats(model).
Prediction predict(const TraceModel& model, const CriticalPath& path, const Modes& modes,
                   const std::vector<SiteStats>& stats);

/// (predicted - measured) / measured, of the gains.
double prediction_error(const Gain& predicted, double measured);

/// How many times as long work takes beside `pollers` of a word as beside parked ones. Exposed for tests.
struct SlowdownRange {
  Gain by_work;      ///< value: bound by streaming; low and high: over all that was measured
  std::string from;  ///< the measurement
};
/// Nothing where it was not measured; `why` then says so.
std::optional<SlowdownRange> slowdown_beside(const SiteStats& site, double pollers, std::string& why);

}  // namespace wicprof::analyzer
