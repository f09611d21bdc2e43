// The sentences of a comparison.
#pragma once

#include <string>

#include "analyzer/compare/compare.h"
#include "analyzer/measure/unit_ratio.h"

namespace wicprof::analyzer {

/// What the ratio and its interval are, in one sentence; empty without a ratio.
std::string estimator_of(const Comparison& comparison, const UnitRatio& ratio);

/// In a few words; empty if the verdict is not inconclusive.
std::string why_of(const Comparison& comparison, const UnitRatio& ratio);

/// The reason for the verdict; the comparison has its speed-up.
std::string reason_for(const Comparison& comparison, const UnitRatio& ratio);

/// What the ratio by medians hides; follows the reason. The comparison has its ratio per time.
std::string per_time_text(const Comparison& comparison);

/// The command that leads to a verdict.
std::string settling_command(const Comparison& comparison);

/// Why there is nothing to time.
std::string no_units(const TraceModel& model, const CompareOptions& options);

/// That records were lost; empty if none were.
std::string losses_note(const TraceModel& model);

}  // namespace wicprof::analyzer
