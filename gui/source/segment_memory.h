// Remembers each segment of a growing trace after its rows are dropped. A program that waits often loses rows within
// fractions of a second, but the effect of its last change stays visible for as long as the program runs.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gui/view/segments.h"

namespace wicprof::gui {

/// One thread at a time. Bounded: keeps some thousand evenly spread iterations per segment, and forgets old segments.
class SegmentMemory {
 public:
  /// Adds the segments and iterations of the model. `known_from`: the model may lack waits that ended before this time.
  void observe(const analyzer::TraceModel& model, TimeNs known_from);
  /// Completes the segments with everything observed, and compares the last two again. Both arguments must come from
  /// the model that was observed last.
  void complete(analyzer::Comparison& comparison, BeforeAfter& values) const;

 private:
  using Place = std::pair<SiteId, DeviceId>;

  /// Iterations observed at one place, ordered by time.
  struct Iterations {
    std::string place;  ///< for display
    std::size_t seen = 0;
    std::size_t step = 1;  ///< keeps every step-th iteration
    TimeNs end = 0;        ///< end of the last observed iteration
    std::vector<analyzer::Iteration> list;

    void add(const analyzer::Iteration& iteration);
  };
  struct Seen {
    SegmentLine line;  ///< its wait figures come from the longest stretch observed at once
    std::map<Place, Iterations> places;
    std::size_t at(Place place) const;
  };

  static TimeNs key_of(const std::vector<analyzer::Segment>& segments, std::size_t index);
  const Seen* find(const std::vector<analyzer::Segment>& segments, std::size_t index) const;
  /// The place with the most iterations in the last two segments; on a tie, in all segments.
  std::optional<Place> best_place(const std::vector<analyzer::Segment>& segments) const;

  std::map<TimeNs, Seen> segments_;  // by begin; the first segment has key 0, because later models may begin later
};

}  // namespace wicprof::gui
