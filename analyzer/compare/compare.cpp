#include "analyzer/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include "analyzer/compare/differences.h"
#include "analyzer/compare/per_time.h"
#include "analyzer/compare/segments.h"
#include "analyzer/compare/spread.h"
#include "analyzer/compare/timed_units.h"
#include "analyzer/measure/bootstrap.h"
#include "analyzer/measure/statistics.h"
#include "analyzer/trace/modes.h"
#include "analyzer/waits/matching.h"
#include "analyzer/words/change.h"
#include "analyzer/words/format.h"
#include "analyzer/words/patch_and_compare.h"
#include "protocol/shell_words.h"

namespace wicprof::analyzer {
namespace {

/// A way of waiting. Segments with the same one are pooled.
struct Way {
  Mode mode = Mode::poll;
  StrategyId strategy = StrategyId::poll;
  bool operator==(const Way&) const = default;
};

Unit unit_of(const Segment& segment, bool means) {
  const std::vector<TimeNs> times = durations(segment.iterations);
  return {*segment.after, segment.begin_ns + (segment.end_ns - segment.begin_ns) / 2, segment.block,
          std::log(std::max(1.0, means ? mean(times) : median_between_ticks(times)))};
}

/// The units that count, by segment.
std::vector<Unit> units_of_segments(const std::vector<Segment>& segments, bool means) {
  std::vector<Unit> units;
  for (const Segment& segment : segments) {
    if (segment.after && segment.iterations.size() >= kFewestInSegment) units.push_back(unit_of(segment, means));
  }
  return units;
}

std::size_t iterations_of(const std::vector<Segment>& segments, bool after) {
  std::size_t count = 0;
  for (const Segment& segment : segments) {
    if (segment.after == after) count += segment.iterations.size();
  }
  return count;
}

const calibration::Spread& spread_of(const Comparison& comparison) {
  const bool phases = comparison.unit == UnitKind::phase;
  if (comparison.gpu) return phases ? calibration::kGpuPhases : calibration::kGpuRuns;
  return phases ? calibration::kCpuPhases : calibration::kCpuRuns;
}

std::string units_text(const Comparison& comparison, std::size_t count) {
  return count_of(count, unit_name(comparison.unit));
}

std::string estimator_of(const Comparison& comparison, const UnitRatio& ratio) {
  const std::string_view unit = unit_name(comparison.unit);
  const std::string_view typical = comparison.means ? "means" : "medians";
  const std::string times = ratio.before == 1 && ratio.after == 1
                                ? fmt::format("the ratio of the {} of one {} each", typical, unit)
                                : fmt::format("the ratio of the geometric means of the {} of {} before and {} after",
                                              typical, ratio.before, units_text(comparison, ratio.after));
  switch (ratio.method) {
    case UnitMethod::spread:
      return fmt::format("{}; its interval is the largest ratio of two equal {}s that was measured ({:.3g}, {})", times,
                         unit, spread_of(comparison).iterations, spread_of(comparison).origin);
    case UnitMethod::welch:
      return fmt::format("{}; 95 % interval by what varies from run to run (Welch)", times);
    case UnitMethod::pooled:
      return fmt::format("{}; 95 % interval by what varies from run to run, taken to be the same on both sides", times);
    case UnitMethod::drift:
      return fmt::format(
          "{}, without a drift of {:+.2g} % over the trace; 95 % interval by what varies from phase to "
          "phase",
          times, (ratio.drift_per_span - 1) * 100);
    case UnitMethod::blocks:
      return fmt::format(
          "the pseudo-median of the ratios within {} of one {} per side in random order (Hodges, Lehmann); "
          "95 % interval by the signed-rank test; both times are at the blocks' typical level",
          count_of(ratio.before, "block"), unit);
    case UnitMethod::looks:
      return fmt::format(
          "the geometric mean of the ratios within {} of one {} per side in random order; the recording "
          "ended once the interval was narrow, and the interval holds at every such look",
          count_of(ratio.before, "block"), unit);
    case UnitMethod::none:
      break;
  }
  return {};
}

/// In a few words; empty if the verdict is not inconclusive.
std::string why_of(const Comparison& comparison, const UnitRatio& ratio) {
  if (comparison.verdict != Verdict::inconclusive) return {};
  const std::string_view unit = unit_name(comparison.unit);
  if (ratio.method == UnitMethod::spread) {
    if (ratio.before == 1 && ratio.after == 1) return fmt::format("one {} each", unit);
    return fmt::format("{} before and {} after are too few", units_text(comparison, ratio.before),
                       units_text(comparison, ratio.after));
  }
  const Speedup& speedup = ratio.speedup;
  const bool excludes_none = speedup.low > 1 || speedup.high < 1;
  return excludes_none ? "the change may be smaller than the tolerance" : "the interval is too wide";
}

std::string reason_for(const Comparison& comparison, const UnitRatio& ratio) {
  const Speedup& speedup = *comparison.speedup;
  const bool known = ratio.method == UnitMethod::spread;
  const std::string_view unit = unit_name(comparison.unit);
  const ChangeRange change = change_of_speedup(speedup.value, speedup.low, speedup.high);
  const std::string_view what = comparison.options.nvtx.empty() ? "iterations" : "ranges";
  const std::string than = comparative_text(change.value, kTimeWords, "");
  const std::string interval = fmt::format("{} of {} are {} those of {} ({}: {})", what, comparison.after.label,
                                           than.empty() ? "as long as" : than + " than", comparison.before.label,
                                           known ? "interval" : "95 % interval", change_interval_text(change));
  const std::string tolerance = fmt::format("{:.3g} %", comparison.options.tolerance * 100);
  const calibration::Spread& spread = spread_of(comparison);
  switch (comparison.verdict) {
    case Verdict::improvement:
    case Verdict::regression:
      if (known) {
        return fmt::format("{}: beyond the ratio of up to {:.3g} that two equal {}s had ({})", interval,
                           spread.iterations, unit, spread.origin);
      }
      return fmt::format("{}: more than the tolerance of {}, and the interval excludes 0 %", interval, tolerance);
    case Verdict::no_change:
      return fmt::format("{}: the whole interval lies within the tolerance of {}", interval, tolerance);
    case Verdict::inconclusive:
      break;
  }
  if (known) {
    const bool one_each = ratio.before == 1 && ratio.after == 1;
    const std::string units = one_each ? fmt::format("one {} each does", unit)
                                       : fmt::format("{} before and {} after do", units_text(comparison, ratio.before),
                                                     units_text(comparison, ratio.after));
    return fmt::format("{}: two equal {}s differed by a ratio of up to {:.3g} ({}), and {} not average this out",
                       interval, unit, spread.iterations, spread.origin, units);
  }
  if (speedup.low > 1 || speedup.high < 1) {
    return fmt::format("{}: the interval excludes 0 %, but a change within the tolerance of {} remains possible",
                       interval, tolerance);
  }
  return fmt::format("{}: the interval contains 0 % and changes of more than the tolerance of {}", interval, tolerance);
}

/// What the ratio by medians hides; follows the reason.
std::string per_time_text(const Comparison& comparison) {
  const std::string_view what = comparison.options.nvtx.empty() ? "iterations" : "ranges";
  const ChangeRange change =
      change_of_speedup(comparison.per_time->value, comparison.per_time->low, comparison.per_time->high);
  return fmt::format("; by {} per time, they are {} (interval: {}), since {}", what, comparative_text(change.value),
                     change_interval_text(change),
                     why_medians_differ(comparison.segments, what, comparison.before.label, comparison.after.label));
}

/// The command that leads to a verdict.
std::string settling_command(const Comparison& comparison) {
  const std::string program = comparison.command.empty() ? "APP ARGS..." : comparison.command;
  if (comparison.patched) return fmt::format("wic-prof run {} -- {}", kPatchAndCompare, program);
  const bool looked = comparison.method == UnitMethod::blocks || comparison.method == UnitMethod::looks;
  if (comparison.unit == UnitKind::phase || !comparison.command.empty()) {
    // What ended since its interval was narrow would end as early again.
    return fmt::format("wic-prof run --ab{} --for {}{} -- {}", comparison.host_side ? " --side host" : "",
                       looked ? "5m" : "1m", comparison.stopped ? " --precision 0%" : "", program);
  }
  return "wic-prof run --repeat 6 -- APP ARGS...";
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
  comparison.predicted_bounds = prediction.bounds;
  comparison.predicted_reason = prediction.reason;
  if (comparison.predicted && comparison.speedup) {
    comparison.prediction_error = prediction_error(*comparison.predicted, comparison.speedup->value);
  }
}

/// 0 for what is no number.
TimeNs number_of(const std::string& text) {
  TimeNs number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string no_units(const TraceModel& model, const CompareOptions& options) {
  if (!options.nvtx.empty()) {
    return fmt::format("{} holds no NVTX range {}: the program sets no range of that name, or --trace omits nvtx",
                       model.name, one_line(options.nvtx));
  }
  const bool ranges =
      std::any_of(model.nvtx.begin(), model.nvtx.end(), [](const auto& row) { return row.kind == NvtxKind::range; });
  const std::string remedy =
      ranges
          ? "; it has NVTX ranges: name one with --nvtx"
          : "; mark a step of the program with an NVTX range and name that with --nvtx, which also takes --trace nvtx";
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

std::vector<Window> windows_of(const TraceModel& model, const std::vector<Segment>& segments, bool after) {
  std::vector<Window> windows;
  for (const Segment& segment : segments) {
    if (segment.after == after) windows.push_back({&model, segment.begin_ns, segment.end_ns, segment.block});
  }
  return windows;
}

DifferenceOptions difference_options(const Comparison& comparison) {
  const calibration::Spread& spread = spread_of(comparison);
  return {comparison.options.tolerance,
          comparison.options.min_iterations,
          {comparison.unit == UnitKind::phase, 1, comparison.may_stop, comparison.stopped},
          spread.waits,
          spread.latencies};
}

bool has_gpu(const TraceModel& model) {
  return std::any_of(model.devices.begin(), model.devices.end(),
                     [](const store::DeviceRow& device) { return device.kind == DeviceKind::cuda; });
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

std::string_view unit_name(UnitKind unit) { return unit == UnitKind::phase ? "phase" : "run"; }

void conclude(Comparison& comparison) {
  comparison.speedup.reset();
  comparison.per_time.reset();
  comparison.verdict = Verdict::inconclusive;
  comparison.why.clear();
  comparison.settle.clear();
  comparison.estimator.clear();
  comparison.method = UnitMethod::none;
  const std::vector<Unit> units = units_of_segments(comparison.segments, comparison.means);
  const calibration::Spread& spread = spread_of(comparison);
  const UnitDesign design{comparison.unit == UnitKind::phase, spread.iterations, comparison.may_stop,
                          comparison.stopped};
  const UnitRatio ratio = unit_ratio(units, design);
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
  comparison.estimator = estimator_of(comparison, ratio);
  comparison.why = why_of(comparison, ratio);
  comparison.reason = reason_for(comparison, ratio);
  const Speedup per_time = ratio_per_time(comparison.segments, design, kFewestInSegment);
  if (!comparison.means && differ_clearly(ratio.speedup, per_time, comparison.options.tolerance)) {
    comparison.per_time = per_time;
    comparison.reason += per_time_text(comparison);
  }
  if (comparison.verdict == Verdict::inconclusive) comparison.settle = settling_command(comparison);
}

Comparison pair_of(const Comparison& comparison, std::size_t before, std::size_t after) {
  Comparison pair;
  pair.options = comparison.options;
  pair.unit = comparison.unit;
  pair.gpu = comparison.gpu;
  pair.command = comparison.command;
  pair.measured_at = comparison.measured_at;
  pair.timed = comparison.timed;
  pair.host_side = comparison.host_side;
  pair.means = comparison.means;
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
  comparison.gpu = has_gpu(model);
  comparison.command = safe_command(model.meta_value(store::MetaKey::command));
  comparison.may_stop = !model.meta_value(store::MetaKey::ab_precision).empty();
  comparison.stopped = model.meta_value(store::MetaKey::ab_end) == "precision";
  comparison.host_side = changes_hosts_only(model);
  comparison.segments = find_segments(model, comparison.notes);
  comparison.means = means_count(model);
  comparison.patched = is_patched(model);
  note_losses(model, comparison.notes);
  std::vector<Segment>& segments = comparison.segments;
  if (units != nullptr) {
    comparison.measured_at = place_of(model, *units);
    for (Segment& segment : segments) fill(segment, units->list, comparison.means);
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
  if (comparison.means) {
    comparison.notes.emplace_back(
        "the program has a CPU quota, so the mean of a phase's iterations counts in place of the median, which leaves "
        "out "
        "those in which the quota stops the program");
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

Comparison compare(const TraceModel& model, const CompareOptions& options) {
  std::vector<std::string> noted;  // compare_iterations() notes the same
  const TimedUnits timed = find_units(model, options.nvtx, find_segments(model, noted));
  const Iterations* const units = timed.candidates.empty() ? nullptr : &timed.candidates.front();
  Comparison comparison = compare_iterations(model, units, options);
  comparison.timed = timed.why;
  if (comparison.segments.empty()) return comparison;
  comparison.differences = differences(windows_of(model, comparison.segments, false),
                                       windows_of(model, comparison.segments, true), difference_options(comparison));
  if (units != nullptr) predict_speedup(model, comparison.both_modes, comparison);
  return comparison;
}

RunSeries series_of(const TraceModel& model, const CompareOptions& options) {
  RunSeries run;
  run.trace = model.name;
  run.begin_ns = model.begin;
  run.end_ns = model.end;
  // A run counts as waiting in the way in which it ends.
  run.mode = mode_from_name(model.meta_value(store::MetaKey::mode)).value_or(Mode::poll);
  run.strategy = default_strategy(run.mode);
  const std::vector<store::InterventionRow> interventions = program_interventions(model);
  for (const store::InterventionRow& row : interventions) {
    if (row.site != 0) continue;
    run.mode = row.new_mode;
    run.strategy = row.new_strategy;
  }
  run.iterations = options.nvtx.empty() ? find_iterations(model) : find_ranges(model, options.nvtx);
  if (run.iterations.empty()) {
    Segment whole;
    whole.begin_ns = model.begin;
    whole.end_ns = model.end;
    run.iterations = find_units(model, options.nvtx, {whole}).candidates;
  }
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
  run.gpu = has_gpu(model);
  run.command = safe_command(model.meta_value(store::MetaKey::command));
  run.started_ns = number_of(model.meta_value(store::MetaKey::started_ns));
  note_losses(model, run.notes);
  const auto whole = std::count_if(interventions.begin(), interventions.end(),
                                   [](const auto& row) { return row.old_mode != row.new_mode && row.site == 0; });
  if (whole > 0) {
    run.notes.push_back(fmt::format(
        "{} switched between polling and parking during the run; the comparison uses all of it", model.name));
  }
  return run;
}

namespace {

/// Notes where the sides ran one after the other: what the machine did meanwhile then counts as a change.
void note_order(const std::vector<RunSeries>& before, const std::vector<RunSeries>& after,
                std::vector<std::string>& notes) {
  std::vector<std::pair<TimeNs, bool>> runs;
  for (const RunSeries& run : before) runs.emplace_back(run.started_ns, false);
  for (const RunSeries& run : after) runs.emplace_back(run.started_ns, true);
  const bool known = std::all_of(runs.begin(), runs.end(), [](const auto& run) { return run.first > 0; });
  if (!known || std::min(before.size(), after.size()) < 2) return;
  std::sort(runs.begin(), runs.end());
  std::size_t turns = 0;
  for (std::size_t i = 1; i < runs.size(); ++i) turns += runs[i].second != runs[i - 1].second ? 1 : 0;
  if (turns > 1) return;
  notes.emplace_back(
      "all runs of one side were recorded before those of the other, so a change of the machine in between would count "
      "as a change of the program; alternate the sides (wic-prof run --ab --repeat N, or wic-prof ci)");
}

}  // namespace

Comparison compare_runs(const std::vector<RunSeries>& before, const std::vector<RunSeries>& after,
                        std::string before_label, std::string after_label, const CompareOptions& options) {
  Comparison comparison;
  comparison.options = options;
  comparison.unit = UnitKind::run;
  comparison.before.label = std::move(before_label);
  comparison.after.label = std::move(after_label);
  std::vector<const RunSeries*> all;
  for (const auto* side : {&before, &after}) {
    for (const RunSeries& run : *side) {
      all.push_back(&run);
      comparison.notes.insert(comparison.notes.end(), run.notes.begin(), run.notes.end());
      comparison.gpu = comparison.gpu || run.gpu;
    }
  }
  if (before.empty() || after.empty()) {
    comparison.why = "no runs";
    comparison.reason =
        fmt::format("{} has no runs", before.empty() ? comparison.before.label : comparison.after.label);
    return comparison;
  }
  const bool same_command =
      std::all_of(all.begin(), all.end(), [&](const RunSeries* run) { return run->command == all.front()->command; });
  // Two modes of one program: --ab settles it. Otherwise the sides differ in the program.
  const bool two_modes = before.front().mode != after.front().mode;
  if (same_command && two_modes) comparison.command = all.front()->command;
  for (const RunSeries* run : all) {
    if (!run->iterations.empty()) continue;
    comparison.why = "no iterations";
    comparison.reason = run->why_none;
    return comparison;
  }
  const auto common = common_units(all);
  if (!common) {
    comparison.why = "no common wait site";
    comparison.reason = fmt::format("{} and {} have no common wait site with iterations", comparison.before.label,
                                    comparison.after.label);
    return comparison;
  }
  note_order(before, after, comparison.notes);
  for (const bool is_after : {false, true}) {
    for (const RunSeries& run : is_after ? after : before) {
      const Iterations& units = *units_of(run, *common);
      if (comparison.measured_at.empty()) {
        comparison.measured_at = run.places[static_cast<std::size_t>(&units - run.iterations.data())];
      }
      comparison.segments.push_back(whole_of(run, units));
      comparison.segments.back().after = is_after;
    }
  }
  conclude(comparison);
  return comparison;
}

Comparison compare(const TraceModel& before, const TraceModel& after, const CompareOptions& options) {
  const bool same_name = before.name == after.name;
  Comparison comparison = compare_runs({series_of(before, options)}, {series_of(after, options)},
                                       same_name ? before.name + " (first)" : before.name,
                                       same_name ? after.name + " (second)" : after.name, options);
  comparison.differences = differences({{&before, before.begin, before.end, {}}},
                                       {{&after, after.begin, after.end, {}}}, difference_options(comparison));
  if (comparison.segments.size() == 2) {
    const bool poll_to_park = !Modes(before).both() && !Modes(after).both() &&
                              comparison.segments[0].mode == Mode::poll && comparison.segments[1].mode == Mode::park;
    predict_speedup(before, poll_to_park, comparison);
  }
  return comparison;
}

}  // namespace wicprof::analyzer
