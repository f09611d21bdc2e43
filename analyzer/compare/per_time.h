// The ratio of two sides by their iterations per time. Medians are not moved by the few iterations that take very long,
// such as those in which a CPU quota stops the program; what the program gets done is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/compare/segments.h"
#include "analyzer/measure/unit_ratio.h"

namespace wicprof::analyzer {

/// The ratio, as unit_ratio() finds it. Units are the segments with a side and at least `fewest` iterations.
Speedup ratio_per_time(const std::vector<Segment>& segments, const UnitDesign& design, std::size_t fewest);

/// Whether the intervals of both ratios are apart by more than the tolerance.
bool differ_clearly(const Speedup& by_medians, const Speedup& per_time, double tolerance);

/// Why they differ: "medians leave out the few long iterations: 8 % of those of poll took 60 % of the time, ...".
std::string why_medians_differ(const std::vector<Segment>& segments, std::string_view what, std::string_view before,
                               std::string_view after);

}  // namespace wicprof::analyzer
