// Pairs of polled and parked runs, for the figures that need both: one trace around its interventions, or two traces.
#pragma once

#include <vector>

#include "analyzer/compare/compare.h"
#include "analyzer/figures/figure.h"

namespace wicprof::analyzer {

struct PolledAndParked {
  const FigureTrace* polled = nullptr;  ///< the same as `parked` if one trace has both modes
  const FigureTrace* parked = nullptr;
  Comparison comparison;
};

/// Each trace with both modes is a pair by itself; of the others, the n-th that polls pairs with the n-th that parks.
std::vector<PolledAndParked> polled_and_parked(const FigureInput& input);

/// The reason if there are no pairs.
inline constexpr const char* kNoPairs =
    "the figure needs both modes: record with --schedule poll:2s,park:2s, or give a trace of each mode";

}  // namespace wicprof::analyzer
