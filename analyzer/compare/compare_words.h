// The sentences of a comparison.
#pragma once

#include <string>

#include "analyzer/compare/compare.h"
#include "analyzer/measure/unit_ratio.h"

namespace wicprof::analyzer {

/// What the ratio and its interval are, in one sentence; empty without a ratio. `counts`: what it is the ratio of.
std::string estimator_of(const Comparison& comparison, const UnitRatio& ratio, TypicalTime counts);

/// In a few words; empty if the verdict is not inconclusive.
std::string why_of(const Comparison& comparison, const UnitRatio& ratio);

/// The reason for the verdict; the comparison has its speed-up.
std::string reason_for(const Comparison& comparison, const UnitRatio& ratio);

/// What the measure says that does not count, and why both differ; follows the reason.
std::string other_measure_text(const Comparison& comparison, const Speedup& other, TypicalTime counts);

/// The command that leads to a verdict.
std::string settling_command(const Comparison& comparison);

/// Why there is nothing to time.
std::string no_units(const TraceModel& model, const CompareOptions& options);

/// That records were lost; empty if none were.
std::string losses_note(const TraceModel& model);

}  // namespace wicprof::analyzer
