// Before and after: iteration times between the interventions of one trace, or between two traces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/iterations.h"
#include "analyzer/predict.h"
#include "analyzer/trace_model.h"

namespace wicprof::analyzer {

struct CompareOptions {
  /// A change smaller than this is no change. 2 % is what the project promises of parking beside no waiters at all.
  double tolerance = 0.02;
  /// Fewer iterations than this on either side say nothing: the interval of a median needs about ten values.
  std::size_t min_iterations = 10;
  std::size_t resamples = 2000;
  std::uint64_t seed = 1;
};

/// A time during which the program waited in one way.
struct Segment {
  std::string trace;  ///< the trace's name, for people
  Mode mode = Mode::poll;
  StrategyId strategy = StrategyId::poll;
  TimeNs begin_ns = 0, end_ns = 0;  ///< iterations that reach over either end are left out
  std::vector<Iteration> iterations;
  std::optional<TimeNs> iteration_ns_p50;  ///< nothing without iterations
};

/// How many times as fast the second side is as the first: the ratio of the median iteration times.
struct Speedup {
  double value = 1, low = 1, high = 1;  ///< low and high: a 95 % bootstrap interval
};

enum class Verdict { improvement, regression, no_change, inconclusive };
/// "improvement", "regression", "no change" and "inconclusive".
std::string_view verdict_name(Verdict verdict);

/// One side of the comparison.
struct Side {
  std::string label;  ///< "poll", or the trace's name
  std::size_t iterations = 0;
  std::optional<TimeNs> iteration_ns_p50;
};

struct Comparison {
  std::vector<Segment> segments;
  Side before, after;
  std::optional<Speedup> speedup;  ///< nothing when a side has too few iterations
  Verdict verdict = Verdict::inconclusive;
  std::string reason;              ///< why this verdict, in one sentence with its numbers
  /// The speed-up as predicted from the polled times alone (predict.h), where polling is compared with parking.
  std::optional<Gain> predicted;
  std::string predicted_reason;             ///< what it rests on, or why there is none
  std::optional<double> prediction_error;   ///< (predicted - measured) / measured; nothing without either
  std::string measured_at;         ///< the site whose iterations were timed, and on which device
  std::vector<std::string> notes;  ///< what weakens the answer: losses, single-site interventions
  CompareOptions options;
};

/// Around the interventions of one trace.
Comparison compare(const TraceModel& model, const CompareOptions& options = {});

/// Between two traces.
Comparison compare(const TraceModel& before, const TraceModel& after, const CompareOptions& options = {});

/// A seeded block bootstrap of median(before) / median(after). Each inner list is one segment, in order of time. Segments
/// are drawn first and blocks of neighbours within them, since iterations of one segment, and neighbours all the more,
/// resemble each other.
Speedup bootstrap_speedup(const std::vector<std::vector<TimeNs>>& before, const std::vector<std::vector<TimeNs>>& after,
                          const CompareOptions& options);

Verdict judge(const Speedup& speedup, double tolerance);

}  // namespace wicprof::analyzer
