// The timeline's data for the script. Its size is bounded, however long the trace is.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/html/lanes.h"

namespace wicprof::reports::html {

/// One JSON object, safe within <script>. Times are nanoseconds since model.begin. Each lane is
/// aggregated over cells of time: in a cell, a counted lane becomes its mean, and stretches become one. Within `fine`
/// cells are much shorter, so that single waits are visible.
///
///   from, to        the whole, in nanoseconds
///   labels          texts by number
///   marks           [time, mode] of changes of mode
///   fine            [from, to] of the close-ups
///   lanes           group, name, site, doing[], steps or spans
///     steps         since the last step, then a hundredth of waiters for each of `doing`; `full`: the most waiters at
///     once spans         begin since the last begin, length, index of `doing`, label, how many they are
///   arrows          lane, time of the signal, lane, time of the wait's end: some of those within the close-ups
std::string timeline_json(const TraceModel& model, const Lanes& lanes, const std::vector<Interval>& fine);

/// The largest number of steps or spans per lane, in a trace with `lanes` lanes.
std::size_t most_entries(std::size_t lanes);

}  // namespace wicprof::reports::html
