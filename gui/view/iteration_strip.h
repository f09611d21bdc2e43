// Iteration times with the iteration as the axis: each phase has the same width, however long it lasts, so that eleven
// iterations of a second are as visible as thousands of a millisecond.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/compare/compare.h"

namespace wicprof::gui {

/// A phase without a change of how the program waits.
struct StripPhase {
  Mode mode = Mode::poll;
  std::string label;  ///< "poll", or a trace's name
  std::size_t iterations = 0;
  TimeNs p50 = 0;  ///< 0 without iterations
  /// The iterations of one column of pixels, evenly spread over the phase's width.
  struct Column {
    std::size_t first = 0, last = 0;      ///< indexes of iterations, both included
    TimeNs least = 0, p50 = 0, most = 0;  ///< of their durations
  };
  std::vector<Column> columns;  ///< min(columns per phase, iterations) of them
};

struct IterationStrip {
  std::vector<StripPhase> phases;
  TimeNs least = 0, most = 0;  ///< the shortest and the longest median of a column
  bool logarithmic = false;    ///< medians differ by more than the factor kLogarithmicFrom

  /// 0 at the bottom, 1 at the top.
  double height_of(TimeNs duration) const;
};

/// Not calibrated: on a linear axis, a bar 20 times shorter than another is a few pixels high.
inline constexpr double kLogarithmicFrom = 20;

/// `columns`: at most this many per phase.
struct StripInput {
  Mode mode = Mode::poll;
  std::string label;
  const std::vector<analyzer::Iteration>* iterations = nullptr;
};
IterationStrip iteration_strip(const std::vector<StripInput>& phases, std::size_t columns);

}  // namespace wicprof::gui
