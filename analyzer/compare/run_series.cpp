#include "analyzer/compare/run_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "analyzer/compare/compare_words.h"
#include "analyzer/trace/modes.h"
#include "analyzer/words/format.h"
#include "protocol/shell_words.h"

namespace wicprof::analyzer {

namespace {

/// 0 for what is no number.
TimeNs number_of(const std::string& text) {
  TimeNs number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

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
  Segment all;
  all.begin_ns = model.begin;
  all.end_ns = model.end;
  for (TimedUnits& timed : all_units(model, options.nvtx, {all}, find_iterations(model))) {
    for (Iterations& units : timed.candidates) {
      // NVTX ranges may begin before the first event on a device, and end after the last one.
      run.begin_ns = std::min(run.begin_ns, units.list.front().begin);
      run.end_ns = std::max(run.end_ns, units.list.back().end);
      std::string place = place_of(model, units);
      run.units.push_back({std::move(units), timed.source, std::move(place), timed.why});
    }
  }
  if (run.units.empty()) run.why_none = no_units(model, options);
  run.devices = model.device_names();
  run.gpu = model.has_gpu();
  run.command = safe_command(model.meta_value(store::MetaKey::command));
  run.started_ns = number_of(model.meta_value(store::MetaKey::started_ns));
  if (const std::string note = losses_note(model); !note.empty()) run.notes.push_back(note);
  const auto whole = std::count_if(interventions.begin(), interventions.end(),
                                   [](const auto& row) { return row.old_mode != row.new_mode && row.site == 0; });
  if (whole > 0) {
    run.notes.push_back(fmt::format(
        "{} switched between polling and parking during the run; the comparison uses all of it", model.name));
  }
  return run;
}

namespace {

/// What a run has of the same name, on the host or on a device; nullptr if there is nothing. By name, because ids may
/// differ from run to run.
const RunUnits* same_units(const RunSeries& run, const RunUnits& as) {
  const auto found = std::find_if(run.units.begin(), run.units.end(), [&](const RunUnits& units) {
    return units.source == as.source && units.iterations.site_name == as.iterations.site_name &&
           (units.iterations.device == kHostDevice) == (as.iterations.device == kHostDevice);
  });
  return found == run.units.end() ? nullptr : &*found;
}

/// The best that all runs of both sides have, of the first of them; nullptr if they have nothing in common. Of wait
/// sites and calls the one with the most iterations in the run that has the fewest.
const RunUnits* common_units(const std::vector<const RunSeries*>& runs) {
  const RunUnits* best = nullptr;
  std::size_t best_count = 0;
  for (const RunUnits& candidate : runs.front()->units) {
    const bool by_count = candidate.source == UnitSource::iterations || candidate.source == UnitSource::calls;
    if (best != nullptr && (!by_count || candidate.source != best->source)) continue;
    std::size_t fewest = candidate.iterations.list.size();
    for (const RunSeries* run : runs) {
      const RunUnits* same = same_units(*run, candidate);
      fewest = std::min(fewest, same == nullptr ? 0 : same->iterations.list.size());
    }
    if (fewest > best_count) {
      best = &candidate;
      best_count = fewest;
    }
  }
  return best;
}

/// As TimedUnits::why.
std::string why_timed(const RunSeries& first, const RunUnits& common) {
  if (&common == &first.units.front() || common.source == UnitSource::iterations) return common.why;
  const std::string name = one_line(common.iterations.site_name);
  static constexpr std::string_view kReason = "since the runs have nothing better in common";
  if (common.source == UnitSource::ranges) return fmt::format("the {} is timed, {}", name, kReason);
  return fmt::format("the time from one {}{} to the next is taken, {}",
                     common.source == UnitSource::calls ? "wait at " : "of the ", name, kReason);
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
  std::set<std::string> devices;
  for (const auto* side : {&before, &after}) {
    for (const RunSeries& run : *side) {
      all.push_back(&run);
      comparison.notes.insert(comparison.notes.end(), run.notes.begin(), run.notes.end());
      devices.insert(run.devices.begin(), run.devices.end());
      comparison.gpu = comparison.gpu || run.gpu;
    }
  }
  comparison.devices.assign(devices.begin(), devices.end());
  if (before.empty() || after.empty()) {
    comparison.why = "no runs";
    comparison.reason =
        fmt::format("{} has no runs", before.empty() ? comparison.before.label : comparison.after.label);
    return comparison;
  }
  const bool same_command =
      std::all_of(all.begin(), all.end(), [&](const RunSeries* run) { return run->command == all.front()->command; });
  if (same_command) comparison.command = all.front()->command;
  for (const RunSeries* run : all) {
    if (!run->units.empty()) continue;
    comparison.why = "no iterations";
    comparison.reason = run->why_none;
    return comparison;
  }
  const RunUnits* const common = common_units(all);
  if (common == nullptr) {
    comparison.why = "no common wait site";
    comparison.reason = fmt::format("{} and {} have no common wait site with iterations", comparison.before.label,
                                    comparison.after.label);
    return comparison;
  }
  comparison.measured_at = common->place;
  comparison.timed = why_timed(*all.front(), *common);
  note_order(before, after, comparison.notes);
  for (const bool is_after : {false, true}) {
    for (const RunSeries& run : is_after ? after : before) {
      comparison.segments.push_back(whole_of(run, same_units(run, *common)->iterations));
      comparison.segments.back().after = is_after;
    }
  }
  conclude(comparison);
  return comparison;
}

}  // namespace wicprof::analyzer
