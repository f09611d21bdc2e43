// What happened over time, in lanes: the same for the picture that stands still and for the one that can be zoomed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/measure/statistics.h"
#include "reports/parts/analyzer_names.h"

namespace wicprof::reports::html {

enum class Doing : std::uint8_t {
  polling,
  parked,
  at_barrier,
  host_waiting,
  computing,
  transferring,
  calling,
  range,
  signalling
};
inline constexpr std::size_t kDoings = 9;
/// Its colour, as analyzer/words/colours.h names it.
std::string_view token_of(Doing doing);
/// "polling", "parked", "CPU thread waits", ...
std::string_view words_of(Doing doing);

struct Stretch {
  Interval when;
  Doing doing = Doing::polling;
  std::uint32_t label = 0;  ///< index of Lanes::labels
  std::uint32_t count = 1;  ///< of a counted lane: so many at once
};

struct Lane {
  std::string group;  ///< neighbours of one group stand under one heading
  std::string name;
  SiteId site = 0;        ///< 0 = not of a wait site
  bool counted = false;   ///< several stretches at once: the lane shows how many; else they follow each other
  bool on_paper = false;  ///< worth its place in the picture that stands still
  std::vector<Stretch> stretches{};
  double waiters = 1;  ///< at once, at most: what a counted lane's full height stands for
};

/// From a signal to the wait that it ended.
struct Arrow {
  std::size_t from = 0, to = 0;  ///< indexes of Lanes::list
  TimeNs signalled = 0, resumed = 0;
};

struct Lanes {
  std::vector<Lane> list;
  std::vector<std::string> labels;  ///< the first is empty
  std::vector<Arrow> arrows;        ///< of the waits whose lanes are there
};

/// The wait sites with most waiting, each on some of its SMs; streams, managed memory, and the busiest host threads.
Lanes gather_lanes(const TraceModel& model, const Analysis& analysis);

/// Short stretches of time in which single iterations can be seen: around changes of the way of waiting, or from the
/// middle of the run where it never changed. In order of time; they do not overlap.
std::vector<Interval> close_ups(const TraceModel& model, const Analysis& analysis);

}  // namespace wicprof::reports::html
