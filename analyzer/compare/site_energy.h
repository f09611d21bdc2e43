// What polling takes at each wait site, from the phases of `run --ab --energy`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/compare/segments.h"
#include "analyzer/trace/trace_model.h"
#include "protocol/time.h"

namespace wicprof::analyzer {

struct MeterReadings;

/// A value with its 95 % interval.
struct Estimate {
  double value = 0, low = 0, high = 0;

  bool is_resolved() const { return low > 0 || high < 0; }
};

/// What polling takes at a site more than parking.
struct PollingEnergy {
  Estimate watts;
  /// Of an iteration, which may take longer than a parked one; nothing where iterations of both modes are not known.
  std::optional<Estimate> joules_per_iteration;
};

/// One site on one meter. Waiters: groups of warps and host threads.
struct SiteEnergy {
  std::string site;    ///< empty: all sites that wait less than those named
  double waiters = 0;  ///< that poll at a time, in the mean over the phases in which the program polls
  PollingEnergy polling;
  double joules = 0;  ///< that polling took in all of these phases: that power times their time

  bool is_resolved() const { return polling.watts.is_resolved(); }
};

/// One site on one meter, before and after.
struct SiteEnergyDifference {
  std::string meter, site;                     ///< the site as in SiteEnergy
  std::optional<PollingEnergy> before, after;  ///< nothing where that is not known of the site
  std::optional<PollingEnergy> more;           ///< after less before; not of the sites that share a row
};

/// The sites that were switched, in order of the time that was polled there: some, and the others as one. Empty: the
/// trace has too few blocks, or these sites wait in one pattern, so that nothing tells them apart.
///
/// The two phases of a block of `segments` differ in power by what those waiters of each site take that poll in one of
/// them alone: least squares of these differences over the numbers of these waiters, without a constant. A waiter polls
/// while its wait has the strategy poll. The interval is that of the
/// coefficient (Student's t; Draper, Smith: Applied Regression Analysis, chapter 5). The energies of an iteration are
/// shared in the same way.
std::vector<SiteEnergy> site_energy(const TraceModel& model, const std::vector<Segment>& segments,
                                    const MeterReadings& meter);

}  // namespace wicprof::analyzer
