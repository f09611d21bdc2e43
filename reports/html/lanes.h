// What happened over time, in lanes, for both the still picture and the interactive timeline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/measure/statistics.h"
#include "analyzer/words/colours.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports::html {

struct Stretch {
  Interval when;
  State state = State::polling;
  std::uint32_t label = 0;  ///< index of Lanes::labels
  std::uint32_t count = 1;  ///< in a counted lane: how many waiters at once; in others: how many events it stands for
  float polling = 0;        ///< the part of its time that it polls, by samples
  TimeNs length() const { return when.end - when.begin; }
};

struct Lane {
  std::string group;  ///< neighbours of one group share a heading
  std::string name;
  SiteId site = 0;                   ///< 0 = the lane does not belong to a wait site
  bool counted = false;              ///< stretches overlap and the lane shows how many; else they follow each other
  bool on_paper = false;             ///< shown in the still picture
  std::vector<Stretch> stretches{};  ///< in order of begin, except in counted lanes
  double waiters = 1;                ///< the most at once: the full height of a counted lane
  Looks looks{};                     ///< what occurs in it
};

/// From a signal to the wait that it ended.
struct Arrow {
  std::size_t from = 0, to = 0;  ///< indexes of Lanes::list
  TimeNs signalled = 0, resumed = 0;
};

struct Lanes {
  std::vector<Lane> list;
  std::vector<std::string> labels;  ///< the first is empty
  std::vector<Arrow> arrows;        ///< within the close-ups, for waits whose lanes are in `list`
};

/// Gathers the wait sites with the most waiting, each on some of its SMs; streams; managed memory; and the busiest host
/// threads. Memory does not grow with the number of events (lane_row.h). `edges`: the wake edges of the model
/// (match()). `fine`: the close-ups.
Lanes gather_lanes(const TraceModel& model, const Analysis& analysis, const std::vector<WakeEdge>& edges,
                   const std::vector<Interval>& fine);

/// Short windows in which single iterations are visible: around changes of mode, or from the middle of the run if the
/// mode never changed. In order of time, without overlap.
std::vector<Interval> close_ups(const TraceModel& model, const Analysis& analysis);

}  // namespace wicprof::reports::html
