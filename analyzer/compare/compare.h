// Before and after: iteration times between the interventions of one trace, or between two traces.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/compare/differences.h"
#include "analyzer/compare/segments.h"
#include "analyzer/compare/typical_time.h"
#include "analyzer/measure/bootstrap.h"
#include "analyzer/measure/unit_ratio.h"
#include "analyzer/path/predict.h"
#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/iterations.h"

namespace wicprof::analyzer {

struct CompareOptions {
  /// A smaller change counts as no change. The project promises that parking without any waiters costs less than 2 %.
  double tolerance = 0.02;
  std::size_t min_iterations = kFewestOfSide;
  /// Times these NVTX ranges, NAME or NAME@DOMAIN, instead of the iterations at wait sites; empty: iterations.
  std::string nvtx = {};
};

/// One side of the comparison.
struct Side {
  std::string label;      ///< "poll", or the trace's name
  std::size_t units = 0;  ///< phases or runs that count
  std::size_t iterations = 0;
  /// The geometric mean of the units' typical times, so that before / after is the ratio; without the drift where the
  /// method takes one out.
  std::optional<TimeNs> iteration_ns_p50;
};

/// What varies independently and so counts as one value.
enum class UnitKind { phase, run };
/// "phase" and "run".
std::string_view unit_name(UnitKind unit);

struct Comparison {
  std::vector<Segment> segments;
  Side before, after;
  std::optional<Speedup> speedup;  ///< nothing if a side has too few iterations
  /// By TypicalTime::per_time; only where that clearly differs from the medians. It counts where it does not bear out
  /// what these find and iterations follow each other: parking may move waits from some iterations to others, so that
  /// medians change and the program's rate does not.
  std::optional<Speedup> per_time;
  Verdict verdict = Verdict::inconclusive;
  std::string why;     ///< why the verdict is inconclusive, in a few words: "one run each"; empty for other verdicts
  std::string reason;  ///< the reason for the verdict, in one sentence with figures
  std::string settle;  ///< the command that leads to a verdict, if the verdict is inconclusive
  UnitKind unit = UnitKind::phase;
  UnitMethod method = UnitMethod::none;
  std::string estimator;                   ///< what the ratio and its interval are, in one sentence
  std::vector<std::string> devices;        ///< names of the program's devices, without the CPU
  bool gpu = false;                        ///< one of them is a GPU
  bool may_stop = false, stopped = false;  ///< as in UnitDesign
  bool host_side = false;                  ///< only waits of host threads in calls of CUDA changed
  bool both_modes = false;                 ///< the sides are polling and parking, in one trace
  std::string command;  ///< the program's, as the trace names it; empty if the sides ran different commands
  /// The speed-up predicted from the polled times alone (predict.h), if the sides are polling and parking.
  std::optional<Gain> predicted;
  std::optional<Gain> predicted_bounds;    ///< what the polling leaves open, also where it is too wide for an answer
  std::string predicted_reason;            ///< the basis of the prediction, or why there is none
  std::optional<double> prediction_error;  ///< (predicted - measured) / measured; nothing unless both exist
  std::string measured_at;                 ///< the site of the timed iterations and their device
  std::string timed;               ///< what is timed instead of iterations at wait sites, and why; empty for these
  std::vector<std::string> notes;  ///< what weakens the answer: losses, interventions at single sites
  bool patched = false;            ///< the trace is one of patched loops, which a comparison needs patched again
  TypicalTime typical = TypicalTime::median;  ///< what counts of each segment's iterations
  Differences differences;                    ///< per site and per edge; empty between many runs
  CompareOptions options;
};

/// Around the interventions of one trace, without differences and prediction. `units` are the iterations to be timed;
/// nullptr: there are none.
Comparison compare_iterations(const TraceModel& model, const Iterations* units, const CompareOptions& options = {});

/// Around the interventions of one trace.
Comparison compare(const TraceModel& model, const CompareOptions& options = {});

/// Between two traces.
Comparison compare(const TraceModel& before, const TraceModel& after, const CompareOptions& options = {});

/// Energy per iteration at a mean power; nothing where iterations are not known.
std::optional<double> joules_per_iteration(double watts, const Side& side);

/// Sets what follows from the segments and their sides: sides, speed-up, verdict and its reasons.
void conclude(Comparison& comparison);

/// The same comparison of two of its segments alone.
Comparison pair_of(const Comparison& comparison, std::size_t before, std::size_t after);

}  // namespace wicprof::analyzer
