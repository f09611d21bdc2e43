#include "analyzer/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "analyzer/matching.h"
#include "analyzer/reports/format.h"
#include "analyzer/statistics.h"

namespace wicprof::analyzer {
namespace {

/// A way of waiting, by which segments are pooled.
struct Way {
  Mode mode = Mode::poll;
  StrategyId strategy = StrategyId::poll;
  bool operator==(const Way&) const = default;
};

/// The interventions that cut the trace: those on the whole program, else those on the one site that has most of them.
std::vector<store::InterventionRow> cuts_of(const TraceModel& model, std::vector<std::string>& notes) {
  std::vector<store::InterventionRow> whole;
  std::map<SiteId, std::vector<store::InterventionRow>> by_site;
  for (const store::InterventionRow& row : model.interventions) {
    const bool changes = row.old_mode != row.new_mode || row.old_strategy != row.new_strategy;
    if (!changes) continue;
    (row.site == 0 ? whole : by_site[row.site]).push_back(row);
  }
  if (by_site.empty()) return whole;
  const auto most = std::max_element(by_site.begin(), by_site.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  if (whole.empty()) {
    notes.push_back(
        fmt::format("only {} was switched; the other sites waited as before", model.site_name(most->first)));
    return most->second;
  }
  std::size_t others = 0;
  for (const auto& [site, rows] : by_site) others += rows.size();
  notes.push_back(
      fmt::format("{} of single sites within the segments are not told apart", count_of(others, "intervention")));
  return whole;
}

std::vector<Segment> segments_of(const TraceModel& model, const std::vector<store::InterventionRow>& cuts) {
  std::vector<Segment> segments;
  Segment current;
  current.trace = model.name;
  current.begin_ns = model.begin;
  current.mode = cuts.front().old_mode;
  current.strategy = cuts.front().old_strategy;
  for (const store::InterventionRow& cut : cuts) {
    current.end_ns = std::max(current.begin_ns, cut.requested);
    segments.push_back(current);
    current.begin_ns = cut.effective;
    current.mode = cut.new_mode;
    current.strategy = cut.new_strategy;
  }
  current.end_ns = std::max(current.begin_ns, model.end);
  segments.push_back(current);
  return segments;
}

std::vector<TimeNs> durations(const std::vector<Iteration>& iterations) {
  std::vector<TimeNs> list;
  list.reserve(iterations.size());
  for (const Iteration& iteration : iterations) list.push_back(iteration.duration());
  return list;
}

/// Iterations that lie wholly within [segment.begin_ns, segment.end_ns].
void fill(Segment& segment, const Iterations& iterations) {
  for (const Iteration& iteration : iterations.list) {
    if (iteration.begin >= segment.begin_ns && iteration.end <= segment.end_ns) segment.iterations.push_back(iteration);
  }
  if (!segment.iterations.empty()) segment.iteration_ns_p50 = percentile(durations(segment.iterations), 50);
}

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

/// Medians, interval and verdict for two sides that are not empty lists.
void conclude(Comparison& comparison, const Lists& before, const Lists& after) {
  const std::size_t needed = std::max<std::size_t>(1, comparison.options.min_iterations);
  for (const Side* side : {&comparison.before, &comparison.after}) {
    if (side->iterations < needed) {
      comparison.reason =
          fmt::format("{} has {}; at least {} are needed on either side: record for longer, or with longer phases",
                      side->label, count_of(side->iterations, "complete iteration"), needed);
      return;
    }
  }
  comparison.speedup = bootstrap_speedup(before, after, comparison.options);
  comparison.verdict = judge(*comparison.speedup, comparison.options.tolerance);
  comparison.reason = reason_for(comparison);
}

void note_losses(const TraceModel& model, Comparison& comparison) {
  for (const store::StatRow& stat : model.stats) {
    if (stat.severity == store::StatRow::Severity::data_loss && stat.value > 0) {
      comparison.notes.push_back(
          fmt::format("{} lost records, so iterations may be missing or seem to begin late", model.name));
      return;
    }
  }
}

/// What polling in `model` said about parking, beside what parking then brought.
void predict_speedup(const TraceModel& model, bool poll_to_park, Comparison& comparison) {
  if (!poll_to_park) {
    comparison.predicted_reason = "predictions are of parking where the program polled; these sides are not these two";
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

std::string place(const TraceModel& model, const Iterations& iterations) {
  return fmt::format("{} on {}", iterations.site_name, model.device_name(iterations.device));
}

std::string no_iterations(const TraceModel& model) {
  if (model.waits.empty() && model.host_waits.empty()) {
    return fmt::format("{} holds no waits at wait sites: the program has none, or never reached one", model.name);
  }
  return fmt::format("{} holds no iterations: no wait site saw two iteration numbers in a row", model.name);
}

Lists lists_of(const std::vector<Segment>& segments, const auto& chosen) {
  Lists lists;
  for (const Segment& segment : segments) {
    if (chosen(segment)) lists.push_back(durations(segment.iterations));
  }
  return lists;
}

/// Blocks of neighbouring iterations, each of which a resample draws as one, segment by segment.
struct Blocked {
  std::vector<std::pair<TimeNs, std::uint32_t>> sorted;  // (duration, block), by duration
  std::uint32_t blocks = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> segments;  // first block, how many
};

Blocked blocks_of(const Lists& lists) {
  std::size_t total = 0;
  for (const auto& list : lists) total += list.size();
  // The cube root of the number of values is the usual length of a block for a bootstrap of neighbours that depend.
  const auto length = static_cast<std::size_t>(std::max(1.0, std::floor(std::cbrt(static_cast<double>(total)))));
  Blocked blocked;
  blocked.sorted.reserve(total);
  for (const auto& list : lists) {
    const std::uint32_t first = blocked.blocks;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i % length == 0) ++blocked.blocks;
      blocked.sorted.emplace_back(list[i], blocked.blocks - 1);
    }
    if (blocked.blocks != first) blocked.segments.emplace_back(first, blocked.blocks - first);
  }
  std::sort(blocked.sorted.begin(), blocked.sorted.end());
  return blocked;
}

/// The median of one resample: as many segments as there are, drawn with replacement, and as many blocks in each. A mode
/// that was on several times then answers also for how one such time differs from the next.
double resampled_median(const Blocked& blocked, std::vector<std::uint32_t>& weight, std::vector<std::uint32_t>& size,
                        std::mt19937_64& random) {
  std::fill(weight.begin(), weight.end(), 0);
  std::uniform_int_distribution<std::size_t> draw_segment(0, blocked.segments.size() - 1);
  std::uint64_t total = 0;
  for (std::size_t s = 0; s < blocked.segments.size(); ++s) {
    const auto [first, count] = blocked.segments[draw_segment(random)];
    std::uniform_int_distribution<std::uint32_t> draw(first, first + count - 1);
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t block = draw(random);
      ++weight[block];
      total += size[block];
    }
  }
  const std::uint64_t half = (total + 1) / 2;
  std::uint64_t seen = 0;
  for (const auto& [duration, block] : blocked.sorted) {
    seen += weight[block];
    if (seen >= half) return static_cast<double>(duration);
  }
  return static_cast<double>(blocked.sorted.back().first);
}

std::vector<std::uint32_t> block_sizes(const Blocked& blocked) {
  std::vector<std::uint32_t> sizes(blocked.blocks, 0);
  for (const auto& entry : blocked.sorted) ++sizes[entry.second];
  return sizes;
}

double median_of(const Blocked& blocked) {
  return static_cast<double>(blocked.sorted[(blocked.sorted.size() - 1) / 2].first);
}

/// The site and device that both traces have iterations of, and the most of: by names, since numbers may differ.
std::optional<std::pair<Iterations, Iterations>> common_iterations(const TraceModel& before, const TraceModel& after) {
  const std::vector<Iterations> all_before = find_iterations(before);
  const std::vector<Iterations> all_after = find_iterations(after);
  std::optional<std::pair<Iterations, Iterations>> best;
  std::size_t best_count = 0;
  std::set<std::string> seen;
  for (const Iterations& b : all_before) {
    if (!seen.insert(b.site_name).second) continue;
    for (const Iterations& a : all_after) {
      if (a.site_name != b.site_name || (a.device == kHostDevice) != (b.device == kHostDevice)) continue;
      const std::size_t count = std::min(a.list.size(), b.list.size());
      if (count > best_count) {
        best.emplace(b, a);
        best_count = count;
      }
    }
  }
  return best;
}

/// The whole of a trace as one segment, in the way that it waited at its end.
Segment whole_of(const TraceModel& model, const Iterations& iterations) {
  Segment segment;
  segment.trace = model.name;
  segment.begin_ns = model.begin;
  segment.end_ns = model.end;
  segment.mode = mode_from_name(model.meta_value("mode")).value_or(Mode::poll);
  segment.strategy = default_strategy(segment.mode);
  for (const store::InterventionRow& row : model.interventions) {
    if (row.site != 0) continue;
    segment.mode = row.new_mode;
    segment.strategy = row.new_strategy;
  }
  fill(segment, iterations);
  return segment;
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::improvement:
      return "improvement";
    case Verdict::regression:
      return "regression";
    case Verdict::no_change:
      return "no change";
    case Verdict::inconclusive:
      break;
  }
  return "inconclusive";
}

Verdict judge(const Speedup& speedup, double tolerance) {
  if (speedup.low > 1 && speedup.value >= 1 + tolerance) return Verdict::improvement;
  if (speedup.high < 1 && speedup.value <= 1 - tolerance) return Verdict::regression;
  if (speedup.low >= 1 - tolerance && speedup.high <= 1 + tolerance) return Verdict::no_change;
  return Verdict::inconclusive;
}

Speedup bootstrap_speedup(const Lists& before, const Lists& after, const CompareOptions& options) {
  const Blocked sides[2] = {blocks_of(before), blocks_of(after)};
  if (sides[0].blocks == 0 || sides[1].blocks == 0) return {};
  std::vector<std::uint32_t> sizes[2] = {block_sizes(sides[0]), block_sizes(sides[1])};
  std::vector<std::uint32_t> weights[2] = {sizes[0], sizes[1]};
  std::mt19937_64 random(options.seed);
  std::vector<double> ratios(std::max<std::size_t>(options.resamples, 1));
  for (double& ratio : ratios) {
    const double slow = resampled_median(sides[0], weights[0], sizes[0], random);
    const double fast = resampled_median(sides[1], weights[1], sizes[1], random);
    ratio = slow / fast;  // durations are above 0
  }
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&](double share) {
    return ratios[static_cast<std::size_t>(std::lround(share * static_cast<double>(ratios.size() - 1)))];
  };
  Speedup speedup;
  speedup.value = median_of(sides[0]) / median_of(sides[1]);
  speedup.low = std::min(at(0.025), speedup.value);
  speedup.high = std::max(at(0.975), speedup.value);
  return speedup;
}

Comparison compare(const TraceModel& model, const CompareOptions& options) {
  Comparison comparison;
  comparison.options = options;
  comparison.before.label = "before";
  comparison.after.label = "after";
  note_losses(model, comparison);
  const std::vector<store::InterventionRow> cuts = cuts_of(model, comparison.notes);
  if (cuts.empty()) {
    comparison.reason = fmt::format(
        "{} holds no change of how the program waits: record it with --schedule poll:2s,park:2s, use wic-prof toggle "
        "while "
        "it runs, or compare two traces",
        model.name);
    return comparison;
  }
  comparison.segments = segments_of(model, cuts);
  const std::vector<Iterations> candidates = find_iterations(model);
  if (!candidates.empty()) {
    comparison.measured_at = place(model, candidates.front());
    for (Segment& segment : comparison.segments) fill(segment, candidates.front());
  }

  // Modes are pooled whatever their strategies; only where a single mode occurs are its strategies compared.
  const auto& segments = comparison.segments;
  const bool one_mode =
      std::all_of(segments.begin(), segments.end(), [&](const Segment& s) { return s.mode == segments.front().mode; });
  const auto way = [&](const Segment& s) { return Way{s.mode, one_mode ? s.strategy : StrategyId::poll}; };
  // Polling is the side to improve on wherever the trace starts; else it is what came first.
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
  if (candidates.empty()) {
    comparison.reason = no_iterations(model);
    return comparison;
  }
  conclude(comparison, lists_before, lists_after);
  predict_speedup(model, !one_mode, comparison);
  return comparison;
}

Comparison compare(const TraceModel& before, const TraceModel& after, const CompareOptions& options) {
  Comparison comparison;
  comparison.options = options;
  const bool same_name = before.name == after.name;
  comparison.before.label = same_name ? before.name + " (first)" : before.name;
  comparison.after.label = same_name ? after.name + " (second)" : after.name;
  note_losses(before, comparison);
  note_losses(after, comparison);
  const auto common = common_iterations(before, after);
  if (!common) {
    for (const TraceModel* model : {&before, &after}) {
      if (find_iterations(*model).empty()) {
        comparison.reason = no_iterations(*model);
        return comparison;
      }
    }
    comparison.reason =
        fmt::format("{} and {} have no wait site in common that saw iterations", before.name, after.name);
    return comparison;
  }
  for (const TraceModel* model : {&before, &after}) {
    const auto whole = std::count_if(model->interventions.begin(), model->interventions.end(),
                                     [](const auto& row) { return row.old_mode != row.new_mode && row.site == 0; });
    if (whole > 0) {
      comparison.notes.push_back(
          fmt::format("{} switched between polling and parking on the way; all of it is compared", model->name));
    }
  }
  comparison.measured_at = place(before, common->first);
  comparison.segments = {whole_of(before, common->first), whole_of(after, common->second)};
  const Lists lists_before = {durations(comparison.segments[0].iterations)};
  const Lists lists_after = {durations(comparison.segments[1].iterations)};
  comparison.before = side_of(comparison.before.label, lists_before);
  comparison.after = side_of(comparison.after.label, lists_after);
  conclude(comparison, lists_before, lists_after);
  const bool poll_to_park = !Modes(before).both() && !Modes(after).both() &&
                            comparison.segments[0].mode == Mode::poll && comparison.segments[1].mode == Mode::park;
  predict_speedup(before, poll_to_park, comparison);
  return comparison;
}

}  // namespace wicprof::analyzer
