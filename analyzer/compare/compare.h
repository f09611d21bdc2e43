// Before and after: iteration times between the interventions of one trace, or between two traces.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/compare/differences.h"
#include "analyzer/compare/segments.h"
#include "analyzer/measure/bootstrap.h"
#include "analyzer/path/predict.h"
#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/iterations.h"

namespace wicprof::analyzer {

struct CompareOptions {
  /// A smaller change counts as no change. The project promises that parking without any waiters costs less than 2 %.
  double tolerance = 0.02;
  /// Fewer iterations on either side give no verdict: the interval of a median needs about ten values.
  std::size_t min_iterations = 10;
  std::size_t resamples = 2000;
  std::uint64_t seed = 1;
  /// Times these NVTX ranges, NAME or NAME@DOMAIN, instead of the iterations at wait sites; empty: iterations.
  std::string nvtx = {};
};

/// One side of the comparison.
struct Side {
  std::string label;  ///< "poll", or the trace's name
  std::size_t iterations = 0;
  std::optional<TimeNs> iteration_ns_p50;
};

struct Comparison {
  std::vector<Segment> segments;
  Side before, after;
  std::optional<Speedup> speedup;  ///< nothing if a side has too few iterations
  Verdict verdict = Verdict::inconclusive;
  std::string reason;  ///< the reason for the verdict, in one sentence with figures
  /// The speed-up predicted from the polled times alone (predict.h), if the sides are polling and parking.
  std::optional<Gain> predicted;
  std::string predicted_reason;            ///< the basis of the prediction, or why there is none
  std::optional<double> prediction_error;  ///< (predicted - measured) / measured; nothing unless both exist
  std::string measured_at;                 ///< the site of the timed iterations and their device
  std::vector<std::string> notes;          ///< what weakens the answer: losses, interventions at single sites
  Differences differences;                 ///< per site and per edge; empty between many runs
  CompareOptions options;
};

/// One recorded run, reduced to what a comparison needs, so that many runs fit in memory where their traces would not.
struct RunSeries {
  std::string trace;  ///< its name, for people
  Mode mode = Mode::poll;
  StrategyId strategy = StrategyId::poll;
  TimeNs begin_ns = 0, end_ns = 0;
  std::vector<Iterations> iterations;  ///< most first
  std::vector<std::string> places;     ///< per entry of `iterations`, its site and device, for people
  std::string why_none;                ///< why there are no iterations; empty if there are any
  std::set<std::string> devices;       ///< names of the devices, without the CPU
  std::vector<std::string> notes;
};
RunSeries series_of(const TraceModel& model, const CompareOptions& options = {});

/// Between repeated runs. Each run is one segment, so the interval covers the variation between runs.
Comparison compare_runs(const std::vector<RunSeries>& before, const std::vector<RunSeries>& after,
                        std::string before_label, std::string after_label, const CompareOptions& options = {});

/// Around the interventions of one trace.
Comparison compare(const TraceModel& model, const CompareOptions& options = {});

/// Between two traces.
Comparison compare(const TraceModel& before, const TraceModel& after, const CompareOptions& options = {});

/// bootstrap_ratio() with the comparison's options.
Speedup bootstrap_speedup(const std::vector<std::vector<TimeNs>>& before, const std::vector<std::vector<TimeNs>>& after,
                          const CompareOptions& options);

}  // namespace wicprof::analyzer
