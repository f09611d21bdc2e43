// Polled beside parked, for the figures that need both: one trace around its interventions, or two traces.
#pragma once

#include <vector>

#include "analyzer/compare/compare.h"
#include "analyzer/figures/figure.h"

namespace wicprof::analyzer {

struct PolledAndParked {
  const FigureTrace* polled = nullptr;  ///< the same as `parked` where one trace has both
  const FigureTrace* parked = nullptr;
  Comparison comparison;
};

/// Each trace with both modes by itself; of the others, the n-th that polls with the n-th that parks.
std::vector<PolledAndParked> polled_and_parked(const FigureInput& input);

/// Why there are none.
inline constexpr const char* kNoPairs =
    "both modes are needed: record with --schedule poll:2s,park:2s, or give a trace of each mode";

}  // namespace wicprof::analyzer
