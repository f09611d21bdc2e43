// What a comparison times: the iterations that wait sites saw, or NVTX ranges that the program set.
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/waits/iterations.h"

namespace wicprof::analyzer {

/// Ranges of that name, NAME or NAME@DOMAIN ("NAME@": the default domain only), thread by thread, as iterations
/// numbered in order of time; most first. Marks and ranges without length are left out.
std::vector<Iterations> find_ranges(const TraceModel& model, std::string_view name);

/// find_ranges() where a name is given, else find_iterations().
std::vector<Iterations> find_units(const TraceModel& model, std::string_view nvtx);

}  // namespace wicprof::analyzer
