#include "analyzer/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analyzer/compare/differences.h"
#include "analyzer/compare/segments.h"
#include "analyzer/compare/timed_units.h"
#include "analyzer/measure/bootstrap.h"
#include "analyzer/measure/statistics.h"
#include "analyzer/waits/matching.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// A way of waiting. Segments with the same one are pooled.
struct Way {
  Mode mode = Mode::poll;
  StrategyId strategy = StrategyId::poll;
  bool operator==(const Way&) const = default;
};

using Lists = std::vector<std::vector<TimeNs>>;

Side side_of(std::string label, const Lists& lists) {
  Side side;
  side.label = std::move(label);
  std::vector<TimeNs> pooled;
  for (const auto& list : lists) pooled.insert(pooled.end(), list.begin(), list.end());
  side.iterations = pooled.size();
  if (!pooled.empty()) side.iteration_ns_p50 = percentile(std::move(pooled), 50);
  return side;
}

std::string reason_for(const Comparison& comparison) {
  const Speedup& speedup = *comparison.speedup;
  const std::string interval =
      fmt::format("{} is {:.3g} times as fast as {} (95 % interval {:.3g} to {:.3g})", comparison.after.label,
                  speedup.value, comparison.before.label, speedup.low, speedup.high);
  const std::string tolerance = fmt::format("{:.3g} %", comparison.options.tolerance * 100);
  switch (comparison.verdict) {
    case Verdict::improvement:
    case Verdict::regression:
      return fmt::format("{}: more than the tolerance of {}, and the interval excludes 1", interval, tolerance);
    case Verdict::no_change:
      return fmt::format("{}: the whole interval lies within the tolerance of {}", interval, tolerance);
    case Verdict::inconclusive:
      break;
  }
  return fmt::format("{}: the interval is too wide to tell a change from the tolerance of {}; record more iterations",
                     interval, tolerance);
}

/// Sets the speed-up, the verdict and the reason.
void conclude(Comparison& comparison, const Lists& before, const Lists& after) {
  const std::size_t needed = std::max<std::size_t>(1, comparison.options.min_iterations);
  for (const Side* side : {&comparison.before, &comparison.after}) {
    if (side->iterations < needed) {
      comparison.reason =
          fmt::format("{} has {}; each side needs at least {}: record for longer, or with longer phases", side->label,
                      count_of(side->iterations, "complete iteration"), needed);
      return;
    }
  }
  comparison.speedup = bootstrap_speedup(before, after, comparison.options);
  comparison.verdict = judge(*comparison.speedup, comparison.options.tolerance);
  comparison.reason = reason_for(comparison);
}

void note_losses(const TraceModel& model, std::vector<std::string>& notes) {
  for (const store::StatRow& stat : model.stats) {
    if (stat.severity == store::StatRow::Severity::data_loss && stat.value > 0) {
      notes.push_back(fmt::format("{} lost records, so iterations may be missing or appear to begin late", model.name));
      return;
    }
  }
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
  comparison.predicted_reason = prediction.reason;
  if (comparison.predicted && comparison.speedup) {
    comparison.prediction_error = prediction_error(*comparison.predicted, comparison.speedup->value);
  }
}

std::string no_units(const TraceModel& model, const CompareOptions& options) {
  if (!options.nvtx.empty()) {
    return fmt::format("{} holds no NVTX range {}: the program sets no range of that name, or --trace omits nvtx",
                       model.name, one_line(options.nvtx));
  }
  const bool ranges =
      std::any_of(model.nvtx.begin(), model.nvtx.end(), [](const auto& row) { return row.kind == NvtxKind::range; });
  const std::string remedy = ranges ? "; it has NVTX ranges: name one with --nvtx" : "";
  if (model.waits.empty() && model.host_waits.empty()) {
    return fmt::format("{} holds no waits at wait sites: the program has no wait sites, or never reached one{}",
                       model.name, remedy);
  }
  return fmt::format("{} holds no iterations: no wait site recorded two consecutive iteration numbers{}", model.name,
                     remedy);
}

/// The iterations of a run with that site name, on the host or on a device; nullptr if there are none.
const Iterations* units_of(const RunSeries& run, const std::pair<std::string, bool>& key) {
  const auto found = std::find_if(run.iterations.begin(), run.iterations.end(), [&](const Iterations& units) {
    return units.site_name == key.first && (units.device == kHostDevice) == key.second;
  });
  return found == run.iterations.end() ? nullptr : &*found;
}

Lists lists_of(const std::vector<Segment>& segments, const auto& chosen) {
  Lists lists;
  for (const Segment& segment : segments) {
    if (chosen(segment)) lists.push_back(durations(segment.iterations));
  }
  return lists;
}

std::vector<Window> windows_of(const TraceModel& model, const std::vector<Segment>& segments, const auto& chosen) {
  std::vector<Window> windows;
  for (const Segment& segment : segments) {
    if (chosen(segment)) windows.push_back({&model, segment.begin_ns, segment.end_ns});
  }
  return windows;
}

DifferenceOptions difference_options(const CompareOptions& options) {
  return {options.tolerance, options.min_iterations, {options.resamples, options.seed}};
}

/// The site with iterations in all runs of both sides, and of those the one with the most iterations in the run that
/// has the fewest. By name, because ids may differ from run to run.
std::optional<std::pair<std::string, bool>> common_units(const std::vector<const RunSeries*>& runs) {
  std::optional<std::pair<std::string, bool>> best;
  std::size_t best_count = 0;
  for (const Iterations& candidate : runs.front()->iterations) {
    const std::pair key{candidate.site_name, candidate.device == kHostDevice};
    std::size_t fewest = candidate.list.size();
    for (const RunSeries* run : runs) {
      const Iterations* same = units_of(*run, key);
      fewest = std::min(fewest, same == nullptr ? 0 : same->list.size());
    }
    if (fewest > best_count) {
      best = key;
      best_count = fewest;
    }
  }
  return best;
}

/// A whole run as one segment.
Segment whole_of(const RunSeries& run, const Iterations& iterations) {
  Segment segment;
  segment.trace = run.trace;
  segment.begin_ns = run.begin_ns;
  segment.end_ns = run.end_ns;
  segment.mode = run.mode;
  segment.strategy = run.strategy;
  fill(segment, iterations.list);
  return segment;
}

}  // namespace

Speedup bootstrap_speedup(const Lists& before, const Lists& after, const CompareOptions& options) {
  return bootstrap_ratio(before, after, {options.resamples, options.seed});
}

Comparison compare(const TraceModel& model, const CompareOptions& options) {
  Comparison comparison;
  comparison.options = options;
  comparison.before.label = "before";
  comparison.after.label = "after";
  note_losses(model, comparison.notes);
  std::vector<Segment> found = find_segments(model, comparison.notes);
  if (found.size() < 2) {
    comparison.reason = fmt::format(
        "in {} the program never changes how it waits: record it with --schedule poll:2s,park:2s, use wic-prof toggle "
        "while it runs, or compare two traces",
        model.name);
    return comparison;
  }
  comparison.segments = std::move(found);
  const std::vector<Iterations> candidates = find_units(model, options.nvtx);
  if (!candidates.empty()) {
    comparison.measured_at = place_of(model, candidates.front());
    for (Segment& segment : comparison.segments) fill(segment, candidates.front().list);
  }

  // Segments of one mode are pooled whatever their strategies. With a single mode, the strategies are the sides.
  const auto& segments = comparison.segments;
  const bool one_mode =
      std::all_of(segments.begin(), segments.end(), [&](const Segment& s) { return s.mode == segments.front().mode; });
  const auto way = [&](const Segment& s) { return Way{s.mode, one_mode ? s.strategy : StrategyId::poll}; };
  // Polling is the "before" side wherever it occurs in the trace; with a single mode, the first strategy is.
  Way before = one_mode ? way(segments.front()) : Way{Mode::poll, StrategyId::poll};
  Way after = one_mode ? way(segments.back()) : Way{Mode::park, StrategyId::poll};
  for (auto segment = segments.rbegin(); one_mode && after == before && segment != segments.rend(); ++segment) {
    after = way(*segment);
  }
  const auto label = [&](const Way& w) {
    return one_mode ? way_name(w.mode, w.strategy) : std::string(mode_name(w.mode));
  };
  const Lists lists_before = lists_of(segments, [&](const Segment& s) { return way(s) == before; });
  const Lists lists_after = lists_of(segments, [&](const Segment& s) { return way(s) == after; });
  comparison.before = side_of(label(before), lists_before);
  comparison.after = side_of(label(after), lists_after);
  comparison.differences = differences(windows_of(model, segments, [&](const Segment& s) { return way(s) == before; }),
                                       windows_of(model, segments, [&](const Segment& s) { return way(s) == after; }),
                                       difference_options(options));
  if (candidates.empty()) {
    comparison.reason = no_units(model, options);
    return comparison;
  }
  conclude(comparison, lists_before, lists_after);
  predict_speedup(model, !one_mode, comparison);
  return comparison;
}

RunSeries series_of(const TraceModel& model, const CompareOptions& options) {
  RunSeries run;
  run.trace = model.name;
  run.begin_ns = model.begin;
  run.end_ns = model.end;
  // A run counts as waiting in the way in which it ends.
  run.mode = mode_from_name(model.meta_value("mode")).value_or(Mode::poll);
  run.strategy = default_strategy(run.mode);
  for (const store::InterventionRow& row : model.interventions) {
    if (row.site != 0) continue;
    run.mode = row.new_mode;
    run.strategy = row.new_strategy;
  }
  run.iterations = find_units(model, options.nvtx);
  if (run.iterations.empty()) run.why_none = no_units(model, options);
  for (const Iterations& units : run.iterations) {
    run.places.push_back(place_of(model, units));
    // NVTX ranges may begin before the first event on a device, and end after the last one.
    run.begin_ns = std::min(run.begin_ns, units.list.front().begin);
    run.end_ns = std::max(run.end_ns, units.list.back().end);
  }
  for (const store::DeviceRow& device : model.devices) {
    if (device.id != kHostDevice) run.devices.insert(device.name);
  }
  note_losses(model, run.notes);
  const auto whole = std::count_if(model.interventions.begin(), model.interventions.end(),
                                   [](const auto& row) { return row.old_mode != row.new_mode && row.site == 0; });
  if (whole > 0) {
    run.notes.push_back(fmt::format(
        "{} switched between polling and parking during the run; the comparison uses all of it", model.name));
  }
  return run;
}

Comparison compare_runs(const std::vector<RunSeries>& before, const std::vector<RunSeries>& after,
                        std::string before_label, std::string after_label, const CompareOptions& options) {
  Comparison comparison;
  comparison.options = options;
  comparison.before.label = std::move(before_label);
  comparison.after.label = std::move(after_label);
  std::vector<const RunSeries*> all;
  for (const auto* side : {&before, &after}) {
    for (const RunSeries& run : *side) {
      all.push_back(&run);
      comparison.notes.insert(comparison.notes.end(), run.notes.begin(), run.notes.end());
    }
  }
  if (before.empty() || after.empty()) {
    comparison.reason =
        fmt::format("{} has no runs", before.empty() ? comparison.before.label : comparison.after.label);
    return comparison;
  }
  for (const RunSeries* run : all) {
    if (!run->iterations.empty()) continue;
    comparison.reason = run->why_none;
    return comparison;
  }
  const auto common = common_units(all);
  if (!common) {
    comparison.reason = fmt::format("{} and {} have no common wait site with iterations", comparison.before.label,
                                    comparison.after.label);
    return comparison;
  }
  Lists lists[2];
  const std::vector<RunSeries>* const sides[2] = {&before, &after};
  for (int side = 0; side < 2; ++side) {
    for (const RunSeries& run : *sides[side]) {
      const Iterations& units = *units_of(run, *common);
      if (comparison.measured_at.empty()) {
        comparison.measured_at = run.places[static_cast<std::size_t>(&units - run.iterations.data())];
      }
      comparison.segments.push_back(whole_of(run, units));
      lists[side].push_back(durations(comparison.segments.back().iterations));
    }
  }
  comparison.before = side_of(comparison.before.label, lists[0]);
  comparison.after = side_of(comparison.after.label, lists[1]);
  conclude(comparison, lists[0], lists[1]);
  return comparison;
}

Comparison compare(const TraceModel& before, const TraceModel& after, const CompareOptions& options) {
  const bool same_name = before.name == after.name;
  Comparison comparison = compare_runs({series_of(before, options)}, {series_of(after, options)},
                                       same_name ? before.name + " (first)" : before.name,
                                       same_name ? after.name + " (second)" : after.name, options);
  comparison.differences = differences({{&before, before.begin, before.end}}, {{&after, after.begin, after.end}},
                                       difference_options(options));
  if (comparison.segments.size() == 2) {
    const bool poll_to_park = !Modes(before).both() && !Modes(after).both() &&
                              comparison.segments[0].mode == Mode::poll && comparison.segments[1].mode == Mode::park;
    predict_speedup(before, poll_to_park, comparison);
  }
  return comparison;
}

}  // namespace wicprof::analyzer
