// Which mode was in force when: from the trace's mode and its interventions.
#pragma once

#include <map>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

class Modes {
 public:
  /// A change is in force from its `effective` on.
  explicit Modes(const TraceModel& model);

  /// At a site; site 0 stands for those that were never switched by themselves.
  Mode at(SiteId site, TimeNs time) const;
  /// When a mode was in force, within the traced time; between a request and its effect neither is.
  std::vector<Interval> when(SiteId site, Mode mode) const;
  /// Whether both modes were in force somewhere.
  bool both() const;

 private:
  struct Change {
    TimeNs requested = 0, effective = 0;
    Mode mode = Mode::poll;
  };
  const std::vector<Change>& changes_of(SiteId site) const;

  TimeNs begin_ = 0, end_ = 0;
  Mode first_ = Mode::poll;
  std::map<SiteId, std::vector<Change>> changes_;  // 0: of the whole program
};

}  // namespace wicprof::analyzer
