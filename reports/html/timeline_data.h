// The timeline's data for the script. Its size is bounded, however long the trace is.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/html/lanes.h"

namespace wicprof::reports::html {

/// One JSON object, safe within <script>. Times are nanoseconds since model.begin. Each lane is
/// aggregated over cells of time: a crowded cell of a counted lane holds the mean, of another lane one span. Within
/// `fine` cells are much shorter, so that single waits are visible.
///
///   from, to        the whole trace
///   words           the name of each state in `doing`
///   polling         the name of polling that samples found
///   labels          texts by number
///   marks           [time, mode] of changes of mode
///   fine            [from, to] of the close-ups
///   lanes           group, name, site, doing[], steps or spans
///     steps         time since the last step, then the number of waiters in hundredths for each of `doing`
///     full          beside steps: the largest number of waiters at once
///     spans         begin since the last begin, length, index of `doing`, label, number of stretches in the span
///     polling       beside spans, where a kernel polls: per span the percentage of its time, by samples
///   arrows          lane, time of the signal, lane, time of the wait's end: some of those within the close-ups
std::string timeline_json(const TraceModel& model, const Lanes& lanes, const std::vector<Interval>& fine);

/// The largest number of steps or spans per lane, in a trace with `lanes` lanes.
std::size_t most_entries(std::size_t lanes);

}  // namespace wicprof::reports::html
