// Remembers each segment of a growing trace after its rows are dropped. A program that waits often loses rows within
// fractions of a second, but the effect of its changes stays visible for as long as the program runs.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/compare/timed_units.h"
#include "gui/view/segments.h"

namespace wicprof::gui {

/// One thread at a time. Bounded: keeps some thousand evenly spread iterations per segment and place, and forgets old
/// segments.
class SegmentMemory {
 public:
  /// Adds the segments of the model, and what a comparison times in them (analyzer/compare/timed_units.h).
  /// `known_from`: the model may lack rows that ended before this time.
  void observe(const analyzer::TraceModel& model, TimeNs known_from);
  /// Completes the segments with everything observed, and compares the last two again. Both arguments must come from
  /// the model that was observed last.
  void complete(analyzer::Comparison& comparison, BeforeAfter& values) const;

 private:
  /// What is timed, and where: a site's waiters on a device, the ranges of a name, a kernel's launches.
  using Place = std::tuple<analyzer::UnitSource, SiteId, DeviceId, std::string>;

  /// Iterations observed at one place, ordered by time.
  struct Iterations {
    std::string measured_at, timed;  ///< as in Comparison
    std::size_t rank = 0;            ///< among the places of its source, the best first
    std::size_t seen = 0;
    std::size_t step = 1;      ///< keeps every step-th iteration
    analyzer::Iteration last;  ///< the last observed one
    std::vector<analyzer::Iteration> list;

    /// Adds those of `observed`, not empty, that are later than the last one and within [from, until]. Without `whole`,
    /// the first may be cut.
    void add(const std::vector<analyzer::Iteration>& observed, TimeNs from, TimeNs until, bool whole);
  };
  struct Seen {
    SegmentLine line;  ///< its wait figures come from the longest stretch observed at once
    std::map<Place, Iterations> places;
    std::size_t at(const Place& place) const;
    Iterations* place(const Place& place);  ///< nullptr: too many
  };

  static TimeNs key_of(const std::vector<analyzer::Segment>& segments, std::size_t index);
  const Seen* find(const std::vector<analyzer::Segment>& segments, std::size_t index) const;
  /// The best clock that both of the last two segments hold enough of; of wait sites, the one with the most iterations
  /// there, on a tie, in all segments.
  std::optional<Place> best_place(const std::vector<analyzer::Segment>& segments) const;

  std::map<TimeNs, Seen> segments_;  // by begin; the first segment has key 0, because later models may begin later
};

}  // namespace wicprof::gui
