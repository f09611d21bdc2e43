// The mode of each site at each time, from the trace's first mode and its interventions.
//
// A change of the whole program is one of warps and declared sites, one of host threads in calls of CUDA, or two at
// once, one of each. In a trace with both, the program's own mode is that of its warps and declared sites.
#pragma once

#include <map>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// The interventions that speak for the whole program or for single sites: without those of host threads on the whole
/// program where others exist. In order of time.
std::vector<store::InterventionRow> program_interventions(const TraceModel& model);
/// Whether interventions changed the waits of host threads in calls of CUDA, and nothing else.
bool changes_hosts_only(const TraceModel& model);
/// Whether the waiting loops of the program's kernels were patched.
bool is_patched(const TraceModel& model);

class Modes {
 public:
  /// A change counts from its `effective` time on.
  explicit Modes(const TraceModel& model);

  /// Site 0 means every site that no intervention names.
  Mode at(SiteId site, TimeNs time) const;
  /// The intervals within the traced time with this mode. Between a change's request and its effect, neither mode
  /// counts.
  std::vector<Interval> when(SiteId site, Mode mode) const;
  /// Whether any site had both modes.
  bool both() const;

 private:
  struct Change {
    TimeNs requested = 0, effective = 0;
    Mode mode = Mode::poll;
  };
  const std::vector<Change>& changes_of(SiteId site) const;

  TimeNs begin_ = 0, end_ = 0;
  Mode first_ = Mode::poll;
  std::map<SiteId, std::vector<Change>> changes_;  // site 0: changes of the whole program
};

}  // namespace wicprof::analyzer
