// The program's iterations, seen from its wait sites: iteration k begins when the first waiter arrives with number k.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

class Waiters;

struct Iteration {
  std::uint32_t run = 0;  ///< counts how often the numbering started again (another kernel, say)
  std::uint32_t number = 0;
  TimeNs begin = 0;
  TimeNs end = 0;  ///< when iteration number + 1 of the same run began
  TimeNs duration() const { return end - begin; }
};

/// The iterations seen at one site by the waiters of one device (kHostDevice for host threads).
struct Iterations {
  SiteId site = 0;
  std::string site_name;
  DeviceId device = kHostDevice;
  std::uint32_t runs = 0;
  std::vector<Iteration>
      list;  ///< in order of time; an iteration without a successor in its run has no length and is left out
};

/// For people: "left on NVIDIA H200".
std::string place_of(const TraceModel& model, const Iterations& iterations);

/// Where the numbering of one site's waiters on one device starts again: an arrival at or after runs[i] belongs to run
/// i + 1.
struct RunBoundaries {
  std::vector<TimeNs> starts;
  std::uint32_t run_of(TimeNs arrival) const;
};

/// A numbering that starts again does so, for one waiter, somewhere in (after, upto].
struct Restart {
  TimeNs after = 0, upto = 0;
};
/// The fewest points in time that explain all restarts.
RunBoundaries boundaries_of(std::vector<Restart> restarts);

/// All sites and devices that have iterations, most iterations first.
std::vector<Iterations> find_iterations(const TraceModel& model);
/// The same, where the waiters are known already.
std::vector<Iterations> find_iterations(const TraceModel& model, const Waiters& waiters);

}  // namespace wicprof::analyzer
