// What was seen of each segment of a growing trace while its rows were there. Those of a program that waits often are
// let go of within fractions of a second; what the last change did is to be seen for as long as the program runs.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gui/view/segments.h"

namespace wicprof::gui {

/// One thread at a time. Bounded: iterations beyond some thousands of a segment are left out evenly, and old segments
/// forgotten.
class SegmentMemory {
 public:
  /// Adds what the model shows. `known_from`: waits that ended before may be missing from it.
  void look(const analyzer::TraceModel& model, TimeNs known_from);
  /// Makes the segments what has been seen of them in all, and compares the last two again. Both are of the model that
  /// was looked at last.
  void recall(analyzer::Comparison& comparison, BeforeAfter& values) const;

 private:
  using Place = std::pair<SiteId, DeviceId>;

  /// Iterations seen at one place, in order of time.
  struct Iterations {
    std::string place;  ///< for people
    std::size_t seen = 0;
    std::size_t step = 1;  ///< each step-th is kept
    TimeNs end = 0;        ///< of the last that was seen
    std::vector<analyzer::Iteration> list;

    void add(const analyzer::Iteration& iteration);
  };
  struct Seen {
    SegmentLine line;  ///< waits: of the longest stretch that was seen at once
    std::map<Place, Iterations> places;
    std::size_t at(Place place) const;
  };

  static TimeNs key_of(const std::vector<analyzer::Segment>& segments, std::size_t index);
  const Seen* find(const std::vector<analyzer::Segment>& segments, std::size_t index) const;
  /// Where the last two segments have most, and of those that are alike where all have most.
  std::optional<Place> best_place(const std::vector<analyzer::Segment>& segments) const;

  std::map<TimeNs, Seen> segments_;  // by when they begin; the first by 0, since a model may begin later
};

}  // namespace wicprof::gui
