// The timeline's data for the script: bounded, however long the trace.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/html/lanes.h"

namespace wicprof::reports::html {

/// One JSON object, safe within <script>. Times are nanoseconds since model.begin. Of each lane, what shares a short
/// time is summed up: a counted lane becomes its mean there, stretches become one. Around `fine` these times are much
/// shorter, so that single waits can be seen.
///
///   from, to        the whole, in nanoseconds
///   labels          texts by number
///   marks           [time, mode] of changes of the way of waiting
///   fine            [from, to] of the close-ups
///   lanes           group, name, site, doing[], steps or spans
///     steps         since the last step, then a hundredth of waiters for each of `doing`; `full`: the most waiters at
///     once spans         begin since the last begin, length, index of `doing`, label, how many they are
///   arrows          lane, time of the signal, lane, time of the wait's end: some of those within the close-ups
std::string timeline_json(const TraceModel& model, const Lanes& lanes, const std::vector<Interval>& fine);

/// At most so many steps or spans has a lane of a trace with so many lanes.
std::size_t most_entries(std::size_t lanes);

}  // namespace wicprof::reports::html
