// The units that a comparison times: iterations at wait sites, or the program's NVTX ranges.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/waits/iterations.h"

namespace wicprof::analyzer {

/// The ranges of that name, NAME or NAME@DOMAIN ("NAME@": the default domain only), per thread, as iterations numbered
/// in order of time; most first. Omits marks and ranges without length.
std::vector<Iterations> find_ranges(const TraceModel& model, std::string_view name);

/// find_ranges() if `nvtx` is not empty, otherwise find_iterations().
std::vector<Iterations> find_units(const TraceModel& model, std::string_view nvtx);

}  // namespace wicprof::analyzer
