#include "analyzer/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "analyzer/compare/compare_words.h"
#include "analyzer/compare/differences.h"
#include "analyzer/compare/energy.h"
#include "analyzer/compare/run_series.h"
#include "analyzer/compare/segments.h"
#include "analyzer/compare/spread.h"
#include "analyzer/compare/timed_units.h"
#include "analyzer/measure/bootstrap.h"
#include "analyzer/trace/modes.h"
#include "analyzer/waits/matching.h"
#include "analyzer/words/decision.h"
#include "analyzer/words/format.h"
#include "protocol/shell_words.h"

namespace wicprof::analyzer {
namespace {

/// A way of waiting. Segments with the same one are pooled.
struct Way {
  Mode mode = Mode::poll;
  StrategyId strategy = StrategyId::poll;
  bool operator==(const Way&) const = default;
};

/// The units that count, by segment.
std::vector<Unit> units_of(const std::vector<Segment>& segments, TypicalTime typical) {
  std::vector<Unit> units;
  for (const Segment& segment : segments) {
    if (!segment.after || segment.iterations.size() < kFewestInSegment) continue;
    units.push_back({*segment.after, segment.begin_ns + (segment.end_ns - segment.begin_ns) / 2, segment.block,
                     std::log(std::max(1.0, typical_time(segment.iterations, typical)))});
  }
  return units;
}

/// Whether each iteration ends where the next one begins, so that together they are the program's time. Between NVTX
/// ranges lies time that is not theirs.
bool follow_each_other(const std::vector<Segment>& segments) {
  return std::all_of(segments.begin(), segments.end(), [](const Segment& segment) {
    const std::vector<Iteration>& list = segment.iterations;
    const auto gap = [](const Iteration& one, const Iteration& next) {
      return next.run == one.run && next.number == one.number + 1 && next.begin != one.end;
    };
    return std::adjacent_find(list.begin(), list.end(), gap) == list.end();
  });
}

/// Whether the intervals of both ratios are apart by more than the tolerance.
bool differ_clearly(const Speedup& one, const Speedup& other, double tolerance) {
  return other.low > one.high * (1 + tolerance) || other.high * (1 + tolerance) < one.low;
}

std::size_t iterations_of(const std::vector<Segment>& segments, bool after) {
  std::size_t count = 0;
  for (const Segment& segment : segments) {
    if (segment.after == after) count += segment.iterations.size();
  }
  return count;
}

/// Adds the speed-up predicted from the polled times of `model`, and its error.
void predict_speedup(const TraceModel& model, bool poll_to_park, Comparison& comparison) {
  if (!poll_to_park) {
    comparison.predicted_reason = "predictions cover the change from polling to parking; these sides differ otherwise";
    return;
  }
  const Matching matching = match(model);
  const Prediction prediction = predict(model, critical_path(model, matching), Modes(model), site_stats(model));
  comparison.predicted = prediction.program;
  comparison.predicted_bounds = prediction.bounds;
  comparison.predicted_reason = prediction.reason;
  if (comparison.predicted && comparison.speedup) {
    comparison.prediction_error = prediction_error(*comparison.predicted, comparison.speedup->value);
  }
}

std::vector<Window> windows_of(const TraceModel& model, const std::vector<Segment>& segments, bool after) {
  std::vector<Window> windows;
  for (const Segment& segment : segments) {
    if (segment.after == after) windows.push_back({&model, segment.begin_ns, segment.end_ns, segment.block});
  }
  return windows;
}

/// Of a comparison of two traces: one of them, by its own phases of both modes.
std::vector<EnergyUse> energy_of_run(const TraceModel& model, const Comparison& comparison, bool after) {
  std::vector<std::string> noted;  // of no use: the comparison is of all of the trace
  std::vector<Segment> segments = find_segments(model, noted);
  for (const Segment& whole : comparison.segments) {
    if (whole.after != after) continue;
    for (Segment& segment : segments) fill(segment, whole.iterations);
  }
  return energy_use(model, segments);
}

DifferenceOptions difference_options(const Comparison& comparison) {
  const calibration::Spread& spread = calibration::spread_of(comparison.gpu, comparison.unit == UnitKind::phase);
  return {comparison.options.tolerance,
          comparison.options.min_iterations,
          {comparison.unit == UnitKind::phase, 1, comparison.may_stop, comparison.stopped},
          spread.waits,
          spread.latencies};
}

}  // namespace

void conclude(Comparison& comparison) {
  comparison.speedup.reset();
  comparison.per_time.reset();
  comparison.verdict = Verdict::inconclusive;
  comparison.why.clear();
  comparison.settle.clear();
  comparison.estimator.clear();
  comparison.method = UnitMethod::none;
  const calibration::Spread& spread = calibration::spread_of(comparison.gpu, comparison.unit == UnitKind::phase);
  const UnitDesign design{comparison.unit == UnitKind::phase, spread.iterations, comparison.may_stop,
                          comparison.stopped};
  UnitRatio ratio = unit_ratio(units_of(comparison.segments, comparison.typical), design);
  UnitRatio other = unit_ratio(units_of(comparison.segments, TypicalTime::per_time), design);
  const bool differ = differ_clearly(ratio.speedup, other.speedup, comparison.options.tolerance);
  TypicalTime counts = comparison.typical;
  const Verdict by_ratio = judge(ratio.speedup, comparison.options.tolerance);
  const bool finds = by_ratio == Verdict::improvement || by_ratio == Verdict::regression;
  if (differ && finds && by_ratio != judge(other.speedup, comparison.options.tolerance) &&
      follow_each_other(comparison.segments)) {
    counts = TypicalTime::per_time;  // what the program gets done is what its user feels
    std::swap(ratio, other);
  }
  for (const bool after : {false, true}) {
    Side& side = after ? comparison.after : comparison.before;
    side.iterations = iterations_of(comparison.segments, after);
    side.units = after ? ratio.after : ratio.before;
    side.iteration_ns_p50.reset();
    if (side.units > 0) side.iteration_ns_p50 = std::llround(std::exp(after ? ratio.log_after : ratio.log_before));
  }
  const std::size_t needed = std::max<std::size_t>(1, comparison.options.min_iterations);
  for (const Side* side : {&comparison.before, &comparison.after}) {
    if (side->iterations >= needed && side->units > 0) continue;
    comparison.why = "too few iterations";
    comparison.reason = fmt::format("{} has {}; each side needs at least {}: record for longer, or with longer phases",
                                    side->label, count_of(side->iterations, "complete iteration"), needed);
    return;
  }
  comparison.speedup = ratio.speedup;
  comparison.method = ratio.method;
  comparison.verdict = judge(ratio.speedup, comparison.options.tolerance);
  comparison.estimator = estimator_of(comparison, ratio, counts);
  comparison.why = why_of(comparison, ratio);
  comparison.reason = reason_for(comparison, ratio);
  if (differ) {
    comparison.per_time = counts == TypicalTime::per_time ? ratio.speedup : other.speedup;
    comparison.reason += other_measure_text(comparison, other.speedup, counts);
  }
  if (comparison.verdict == Verdict::inconclusive) comparison.settle = settling_command(comparison);
}

Comparison pair_of(const Comparison& comparison, std::size_t before, std::size_t after) {
  Comparison pair;
  pair.options = comparison.options;
  pair.unit = comparison.unit;
  pair.devices = comparison.devices;
  pair.gpu = comparison.gpu;
  pair.command = comparison.command;
  pair.measured_at = comparison.measured_at;
  pair.timed = comparison.timed;
  pair.host_side = comparison.host_side;
  pair.typical = comparison.typical;
  pair.patched = comparison.patched;
  pair.segments = {comparison.segments[before], comparison.segments[after]};
  const auto label = [](const Segment& segment) { return way_name(segment.mode, segment.strategy); };
  pair.before.label = label(pair.segments[0]);
  pair.after.label = label(pair.segments[1]);
  pair.segments[0].after = false;
  pair.segments[1].after = true;
  for (Segment& segment : pair.segments) segment.block.reset();
  conclude(pair);
  return pair;
}

Comparison compare_iterations(const TraceModel& model, const Iterations* units, const CompareOptions& options) {
  Comparison comparison;
  comparison.options = options;
  const std::set<std::string> devices = model.device_names();
  comparison.devices.assign(devices.begin(), devices.end());
  comparison.gpu = model.has_gpu();
  comparison.command = safe_command(model.meta_value(store::MetaKey::command));
  comparison.may_stop = !model.meta_value(store::MetaKey::ab_precision).empty();
  comparison.stopped = model.meta_value(store::MetaKey::ab_end) == "precision";
  comparison.host_side = changes_hosts_only(model);
  comparison.segments = find_segments(model, comparison.notes);
  comparison.typical = typical_time_of(model);
  comparison.patched = is_patched(model);
  if (const std::string note = losses_note(model); !note.empty()) comparison.notes.push_back(note);
  if (!model.decisions.empty()) {
    comparison.notes.push_back(
        fmt::format("the autopilot decided {}, and chose the phases by it; the last: it {}",
                    model.decisions.size() == 1 ? std::string("once") : fmt::format("{} times", model.decisions.size()),
                    decision_text(model.decisions.back())));
  }
  std::vector<Segment>& segments = comparison.segments;
  if (units != nullptr) {
    comparison.measured_at = place_of(model, *units);
    for (Segment& segment : segments) fill(segment, units->list, comparison.typical);
  }
  if (segments.size() < 2) {
    segments.clear();
    comparison.why = "one way of waiting";
    comparison.reason = fmt::format(
        "{} never changed how it waits, so it has no before and after: compare it with a second trace, or record one "
        "with wic-prof run --ab, --schedule poll:2s,park:2s or wic-prof toggle",
        model.name);
    comparison.settle = settling_command(comparison);
    return comparison;
  }

  // Segments of one mode are pooled whatever their strategies. With a single mode, the strategies are the sides.
  const bool one_mode =
      std::all_of(segments.begin(), segments.end(), [&](const Segment& s) { return s.mode == segments.front().mode; });
  const auto way = [&](const Segment& s) { return Way{s.mode, one_mode ? s.strategy : StrategyId::poll}; };
  // Polling is the "before" side wherever it occurs in the trace; with a single mode, the first strategy is.
  const Way before = one_mode ? way(segments.front()) : Way{Mode::poll, StrategyId::poll};
  Way after = one_mode ? way(segments.back()) : Way{Mode::park, StrategyId::poll};
  for (auto segment = segments.rbegin(); one_mode && after == before && segment != segments.rend(); ++segment) {
    after = way(*segment);
  }
  for (Segment& segment : segments) {
    const bool is_before = way(segment) == before, is_after = way(segment) == after;
    if (segment.apart.empty() && is_before != is_after) segment.after = is_after;
  }
  const auto label = [&](const Way& w) {
    return one_mode ? way_name(w.mode, w.strategy) : std::string(mode_name(w.mode));
  };
  comparison.before.label = label(before);
  comparison.after.label = label(after);
  if (!model.meta_value(store::MetaKey::ab_placebo).empty()) {
    comparison.after.label = "poll again";
    comparison.notes.emplace_back(
        "a placebo: the program polled on both sides, so a verdict other than no change is a false alarm");
  }
  if (comparison.typical == TypicalTime::per_time) {
    comparison.notes.emplace_back(
        "the program has a CPU quota, so the time per iteration of a phase counts in place of its median iteration, "
        "which leaves out those in which the quota stops the program");
  }
  if (model.meta_value(store::MetaKey::ab_warm_up) == "not steady") {
    comparison.notes.emplace_back(
        "the program's iterations were not steady yet when the comparison began, after a quarter of its time");
  }
  comparison.both_modes = !one_mode;
  conclude(comparison);
  if (units == nullptr) {
    comparison.why = "no iterations";
    comparison.reason = no_units(model, options);
  }
  return comparison;
}

std::optional<double> joules_per_iteration(double watts, const Side& side) {
  if (!side.iteration_ns_p50) return std::nullopt;
  return watts * static_cast<double>(*side.iteration_ns_p50) / kSecond;
}

Comparison compare(const TraceModel& model, const CompareOptions& options) {
  std::vector<std::string> noted;  // compare_iterations() notes the same
  const TimedUnits timed = find_units(model, options.nvtx, find_segments(model, noted));
  const Iterations* const units = timed.candidates.empty() ? nullptr : &timed.candidates.front();
  Comparison comparison = compare_iterations(model, units, options);
  comparison.timed = timed.why;
  if (comparison.segments.empty()) return comparison;
  comparison.differences = differences(windows_of(model, comparison.segments, false),
                                       windows_of(model, comparison.segments, true), difference_options(comparison));
  if (comparison.both_modes && !model.energy.empty())
    comparison.differences.site_energy = site_energy_differences(energy_use(model, comparison.segments), nullptr);
  if (units != nullptr) predict_speedup(model, comparison.both_modes, comparison);
  return comparison;
}

Comparison compare(const TraceModel& before, const TraceModel& after, const CompareOptions& options) {
  const bool same_name = before.name == after.name;
  Comparison comparison = compare_runs({series_of(before, options)}, {series_of(after, options)},
                                       same_name ? before.name + " (first)" : before.name,
                                       same_name ? after.name + " (second)" : after.name, options);
  comparison.differences = differences({{&before, before.begin, before.end, {}}},
                                       {{&after, after.begin, after.end, {}}}, difference_options(comparison));
  if (!before.energy.empty() && !after.energy.empty()) {
    const std::vector<EnergyUse> used_after = energy_of_run(after, comparison, true);
    comparison.differences.site_energy = site_energy_differences(energy_of_run(before, comparison, false), &used_after);
  }
  if (comparison.segments.size() == 2) {
    const bool poll_to_park = !Modes(before).both() && !Modes(after).both() &&
                              comparison.segments[0].mode == Mode::poll && comparison.segments[1].mode == Mode::park;
    predict_speedup(before, poll_to_park, comparison);
  }
  return comparison;
}

}  // namespace wicprof::analyzer
