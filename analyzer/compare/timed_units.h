// The units that a comparison times: iterations at wait sites, the program's NVTX ranges, its collectives of MPI, its
// launches or its calls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/compare/segments.h"
#include "analyzer/waits/iterations.h"

namespace wicprof::analyzer {

/// The ranges of that name, NAME or NAME@DOMAIN ("NAME@": the default domain only), per thread, as iterations numbered
/// in order of time; most first. Where no range has the name itself, those that have it without_numbers(). Omits marks
/// and ranges without length.
std::vector<Iterations> find_ranges(const TraceModel& model, std::string_view name);

/// From one launch of a kernel on a device to its next launch there, per kernel, fewest launches first: a kernel that
/// is launched once per step of the program is a better clock than one that is launched many times.
std::vector<Iterations> find_launches(const TraceModel& model);

/// From one end of a collective of MPI to the next of the same operation on the same communicator, in the process that
/// took part most often, fewest first: all ranks leave a collective at about the same time.
std::vector<Iterations> find_collectives(const TraceModel& model);

/// What shows the program's steps; the earlier is the better clock.
enum class UnitSource { iterations, ranges, collectives, launches, calls };

struct TimedUnits {
  std::vector<Iterations> candidates;  ///< the best first
  std::string why;  ///< what is timed instead of iterations, and why, in one sentence; empty for iterations
  UnitSource source = UnitSource::iterations;
};

/// find_ranges() if `nvtx` is not empty. Otherwise all that shows the program's steps in most of the segments, the best
/// first: iterations at its own wait sites; the NVTX ranges that take the most time (where none repeats, those whose
/// names differ in numbers only); collectives of MPI; launches of a kernel; what its host threads' waits in calls of
/// CUDA show. Nothing else where it has wait sites of its own. `at_sites`: find_iterations().
std::vector<TimedUnits> all_units(const TraceModel& model, std::string_view nvtx, const std::vector<Segment>& segments,
                                  std::vector<Iterations> at_sites);

/// The best of all_units(): what every view of one trace times. Without candidates if there are none.
TimedUnits find_units(const TraceModel& model, std::string_view nvtx, const std::vector<Segment>& segments,
                      std::vector<Iterations> at_sites);
/// For callers that have no iterations yet.
TimedUnits find_units(const TraceModel& model, std::string_view nvtx, const std::vector<Segment>& segments);

}  // namespace wicprof::analyzer
