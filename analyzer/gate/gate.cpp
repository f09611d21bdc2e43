#include "analyzer/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/measure/statistics.h"
#include "analyzer/words/change.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Above this share of lost records, a run's counts and rankings are unreliable (kCriticalShare in
/// rules/data_lost.cpp).
constexpr double kLostTooMuch = 0.01;
/// Coverage that the interval of a median should have: the usual 95 %, as for speed-ups.
constexpr double kCoverage = 0.95;

/// One kind of limit: where the configuration holds it and how to get the figure from a run.
struct LimitKind {
  const char* name;
  const char* what;  ///< for people
  const char* unit;
  const char* missing;  ///< why a run may lack the figure
  std::optional<double> SiteLimits::*limit;
  std::optional<double> (*figure)(const SiteFigures&);
};

const LimitKind kLimits[] = {
    {"wait_share", "wait share", "", "", &SiteLimits::wait_share,
     [](const SiteFigures& f) { return std::optional(f.wait_share); }},
    {"p99_wake_latency", "p99 wake latency", "ns", "the trace holds no signal that released a wait at the site",
     &SiteLimits::p99_wake_ns, [](const SiteFigures& f) { return f.p99_wake_ns; }},
    {"polls_per_wait", "polls per wait", "", "the waits at the site do not count polls", &SiteLimits::polls_per_wait,
     [](const SiteFigures& f) { return f.polls_per_wait; }},
    {"missed_deadlines", "missed deadlines", "", "", &SiteLimits::missed_deadlines,
     [](const SiteFigures& f) { return std::optional(static_cast<double>(f.missed_deadlines)); }},
    {"predicted_gain", "predicted gain of parking", "", "the analyzer has no prediction for this site",
     &SiteLimits::predicted_gain, [](const SiteFigures& f) { return f.predicted_gain; }},
};

std::string value_text(double value, std::string_view unit) {
  if (unit == "ns") return format_duration(static_cast<TimeNs>(std::llround(value)));
  return fmt::format("{:.4g}", value);
}

const SiteFigures* find_site(const RunFigures& run, const std::string& site) {
  const auto found = std::find_if(run.sites.begin(), run.sites.end(), [&](const auto& f) { return f.site == site; });
  return found == run.sites.end() ? nullptr : &*found;
}

/// "median of 6 runs, interval 0.21 to 0.24".
std::string interval_text(const RunInterval& interval, std::size_t runs, std::string_view unit) {
  if (runs == 1) return "one run, so no interval";
  std::string text = fmt::format("median of {} runs, interval {} to {}", runs, value_text(interval.low, unit),
                                 value_text(interval.high, unit));
  if (interval.coverage < kCoverage) {
    text += fmt::format(" (which contains the median with a probability of only {:.3g} %)", 100 * interval.coverage);
  }
  return text;
}

void judge_limit(Check& check, const std::vector<double>& values, double limit, std::string_view what) {
  const RunInterval interval = run_interval(values);
  check.value = interval.median;
  check.low = interval.low;
  check.high = interval.high;
  check.limit = limit;
  const char* relation = "at most";
  if (interval.median <= limit && interval.high <= limit) {
    check.state = CheckState::passed;
  } else if (interval.median > limit && interval.low > limit) {
    check.state = CheckState::failed;
    relation = "above";
  } else {
    check.state = CheckState::inconclusive;
    relation = "on both sides of";
  }
  check.text = fmt::format("{} is {} ({}): {} the limit of {}", what, value_text(interval.median, check.unit),
                           interval_text(interval, values.size(), check.unit), relation, value_text(limit, check.unit));
}

Check could_not_look(std::string name, std::string site, std::string why) {
  Check check;
  check.name = std::move(name);
  check.site = std::move(site);
  check.state = CheckState::could_not_look;
  check.text = std::move(why);
  return check;
}

/// The limit at a site: the site's own one, otherwise that of every site.
std::optional<double> limit_at(const GateConfig& config, const std::string& site, const LimitKind& kind) {
  const auto own = config.sites.find(site);
  if (own != config.sites.end() && own->second.*kind.limit) return own->second.*kind.limit;
  return config.every_site.*kind.limit;
}

std::vector<std::string> sites_of(const GateConfig& config, const GateSide& side) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const RunFigures& run : side.runs) {
    for (const SiteFigures& figures : run.sites) add(figures.site);
  }
  for (const auto& [name, limits] : config.sites) add(name);
  return names;
}

bool any_limit(const SiteLimits& limits) {
  return std::any_of(std::begin(kLimits), std::end(kLimits),
                     [&](const LimitKind& kind) { return (limits.*kind.limit).has_value(); });
}

void check_site(const GateConfig& config, const GateSide& side, const std::string& site, std::vector<Check>& checks) {
  for (const LimitKind& kind : kLimits) {
    const std::optional<double> limit = limit_at(config, site, kind);
    if (!limit) continue;
    Check check;
    check.name = kind.name;
    check.site = site;
    check.unit = kind.unit;
    std::vector<double> values;
    std::size_t waited = 0;
    for (const RunFigures& run : side.runs) {
      const SiteFigures* figures = find_site(run, site);
      if (figures == nullptr) continue;
      ++waited;
      if (const auto value = kind.figure(*figures)) values.push_back(*value);
    }
    const std::string what = fmt::format("{} at {}", kind.what, one_line(site));
    if (waited < side.runs.size()) {
      checks.push_back(could_not_look(kind.name, site,
                                      fmt::format("{}: nothing waited at a site of that name in {} of {} runs", what,
                                                  side.runs.size() - waited, side.runs.size())));
    } else if (values.size() < side.runs.size()) {
      checks.push_back(could_not_look(kind.name, site,
                                      fmt::format("{}: {} in {} of {} runs", what, kind.missing,
                                                  side.runs.size() - values.size(), side.runs.size())));
    } else {
      judge_limit(check, values, *limit, what);
      checks.push_back(std::move(check));
    }
  }
}

void check_limits(const GateConfig& config, const GateSide& side, std::vector<Check>& checks) {
  const std::vector<std::string> sites = sites_of(config, side);
  if (sites.empty() && any_limit(config.every_site)) {
    checks.push_back(could_not_look("limits", {},
                                    "nothing waited at a wait site, so no limit applies: does the program wait through "
                                    "wic, and long enough?"));
    return;
  }
  for (const std::string& site : sites) check_site(config, side, site, checks);
}

/// `several`: there are other sides. Services leave out all but the first of several cases with one name.
void check_recording(const GateSide& side, bool several, std::vector<Check>& checks) {
  Check check;
  check.name = several ? "recording of " + side.label : "recording";
  double worst = 0;
  std::string what;
  for (const RunFigures& run : side.runs) {
    for (const std::string& loss : run.losses) {
      if (what.empty() || run.lost_share > worst) what = run.series.trace + ": " + loss;
    }
    worst = std::max(worst, run.lost_share);
  }
  check.text = what.empty() ? fmt::format("{} recorded completely", count_of(side.runs.size(), "run")) : one_line(what);
  if (worst > kLostTooMuch) check.state = CheckState::could_not_look;
  checks.push_back(std::move(check));
}

void copy_speedup(const Comparison& comparison, Check& check) {
  if (!comparison.speedup) return;
  check.value = comparison.speedup->value;
  check.low = comparison.speedup->low;
  check.high = comparison.speedup->high;
}

/// A gain of at least `least`. The value and its whole interval have to agree.
Check check_gain(const Comparison& comparison, double least) {
  Check check;
  check.name = "gain";
  check.limit = least;
  copy_speedup(comparison, check);
  if (!comparison.speedup) {
    check.state = CheckState::could_not_look;
    check.text = comparison.reason;
    return check;
  }
  const Speedup& gain = *comparison.speedup;
  const bool reached = gain.value >= least && gain.low >= least;
  const bool missed = gain.value < least && gain.high < least;
  check.state = reached ? CheckState::passed : missed ? CheckState::failed : CheckState::inconclusive;
  const bool known = comparison.method == UnitMethod::spread;
  const ChangeRange change = change_of_speedup(gain.value, gain.low, gain.high);
  const std::string than = comparative_text(change.value, kTimeWords, "");
  check.text = fmt::format(
      "iterations of {} are {} those of {} ({}: {}): a gain of {:.4g} ({:.4g} to {:.4g}), {} the required {:.4g}",
      comparison.after.label, than.empty() ? "as long as" : than + " than", comparison.before.label,
      known ? "too few runs; by the known spread of runs" : "95 % interval", change_interval_text(change), gain.value,
      gain.low, gain.high,
      reached  ? "at least"
      : missed ? "less than"
               : "on both sides of",
      least);
  return check;
}

Check check_regression(const Comparison& comparison, std::string name) {
  Check check;
  check.name = std::move(name);
  check.text = comparison.reason;
  copy_speedup(comparison, check);
  if (comparison.speedup) check.limit = 1 - comparison.options.tolerance;
  if (!comparison.speedup) {
    check.state = CheckState::could_not_look;
  } else if (comparison.verdict == Verdict::regression) {
    check.state = CheckState::failed;
  } else if (comparison.verdict == Verdict::inconclusive) {
    // The verdict may stay open as long as no part of the interval is slower than the tolerance allows.
    const bool no_slower = comparison.speedup->low >= 1 - comparison.options.tolerance;
    check.state = no_slower ? CheckState::passed : CheckState::inconclusive;
    if (no_slower) check.text += "; in any case, it is no regression beyond the tolerance";
  }
  return check;
}

std::vector<RunSeries> series_of_runs(const GateSide& side) {
  std::vector<RunSeries> all;
  for (const RunFigures& run : side.runs) all.push_back(run.series);
  return all;
}

std::string names(const std::set<std::string>& devices) {
  std::string text;
  for (const std::string& device : devices) text += (text.empty() ? "" : ", ") + one_line(device);
  return text.empty() ? "no device" : text;
}

Check check_baseline(const GateConfig& config, const std::vector<RunSeries>& runs,
                     const std::vector<RunSeries>& baseline, const std::string& label, GateResult& result) {
  for (const RunSeries& old : baseline) {
    for (const RunSeries& run : runs) {
      if (config.any_device || old.devices == run.devices) continue;
      return could_not_look("baseline", {},
                            fmt::format("{} was recorded on {}, but {} on {}: record a baseline here, or set "
                                        "baseline.any_device",
                                        old.trace, names(old.devices), run.trace, names(run.devices)));
    }
  }
  result.with_baseline = compare_runs(baseline, runs, "the baseline", label, config.compare);
  return check_regression(*result.with_baseline, "baseline");
}

std::uint64_t count_records(const TraceModel& model) {
  return model.waits.size() + model.signals.size() + model.host_waits.size() + model.kernels.size() +
         model.copies.size() + model.calls.size() + model.nvtx.size() + model.syncs.size();
}

void forgive(const GateConfig& config, std::vector<Check>& checks) {
  for (Check& check : checks) {
    check.forgiven = (check.state == CheckState::inconclusive && config.allow_inconclusive) ||
                     (check.state == CheckState::could_not_look && config.allow_missing_data);
  }
}

}  // namespace

std::string_view check_state_name(CheckState state) {
  switch (state) {
    case CheckState::passed:
      return "passed";
    case CheckState::failed:
      return "failed";
    case CheckState::inconclusive:
      return "inconclusive";
    case CheckState::could_not_look:
      return "could not look";
    case CheckState::broken:
      break;
  }
  return "broken";
}

RunFigures figures_of(const TraceModel& model, const Analysis& analysis, const CompareOptions& options) {
  RunFigures run;
  run.series = series_of(model, options);
  for (std::size_t i = 0; i < analysis.sites.size(); ++i) {
    const SiteStats& site = analysis.sites[i];
    SiteFigures figures;
    figures.site = site.name;
    figures.waits = site.count;
    figures.wait_share = site.share;
    figures.polls_per_wait = site.polls_per_wait;
    figures.missed_deadlines = site.deadline_missed;
    if (i < analysis.prediction.sites.size() && analysis.prediction.sites[i].gain) {
      figures.predicted_gain = analysis.prediction.sites[i].gain->value;
    }
    if (analysis.wakes[i].matched > 0) figures.p99_wake_ns = static_cast<double>(analysis.wakes[i].p99_ns);
    run.sites.push_back(std::move(figures));
  }
  std::uint64_t lost = 0;
  for (const Loss& loss : analysis.loss) {
    run.losses.push_back(loss.text);
    lost += static_cast<std::uint64_t>(std::max<std::int64_t>(0, loss.count));
  }
  const std::uint64_t all = lost + count_records(model);
  run.lost_share = all == 0 ? 0 : static_cast<double>(lost) / static_cast<double>(all);
  if (!model.complete) run.lost_share = 1;
  return run;
}

RunInterval run_interval(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  RunInterval interval;
  if (n == 0) return interval;
  interval.median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  // below: the probability that fewer than k of n values are below the median.
  std::size_t k = 1;
  double chance = std::pow(0.5, static_cast<double>(n)), below = chance;
  interval.coverage = n == 1 ? 0 : 1 - 2 * below;
  for (std::size_t next = 2; 2 * next <= n; ++next) {
    chance *= static_cast<double>(n - next + 2) / static_cast<double>(next - 1);
    below += chance;
    if (1 - 2 * below < kCoverage) break;
    k = next;
    interval.coverage = 1 - 2 * below;
  }
  interval.low = values[k - 1];
  interval.high = values[n - k];
  return interval;
}

GateResult judge_runs(const GateConfig& config, const std::vector<GateSide>& sides,
                      const std::vector<RunSeries>& baseline) {
  GateResult result;
  for (const GateSide& side : sides) {
    if (side.runs.empty()) return broken_gate(fmt::format("{} has no runs", side.label));
  }
  if (sides.empty()) return broken_gate("nothing was run");
  const GateSide& judged = sides.back();
  for (const GateSide& side : sides) check_recording(side, sides.size() > 1, result.checks);
  check_limits(config, judged, result.checks);
  const std::vector<RunSeries> runs = series_of_runs(judged);
  if (sides.size() > 1) {
    result.between_sides =
        compare_runs(series_of_runs(sides.front()), runs, sides.front().label, judged.label, config.compare);
    result.checks.push_back(config.min_gain ? check_gain(*result.between_sides, *config.min_gain)
                                            : check_regression(*result.between_sides, "regression"));
  }
  if (!baseline.empty()) {
    result.checks.push_back(check_baseline(config, runs, baseline, judged.label, result));
  }
  for (const auto* comparison : {&result.between_sides, &result.with_baseline}) {
    if (*comparison) result.notes.insert(result.notes.end(), (*comparison)->notes.begin(), (*comparison)->notes.end());
  }
  forgive(config, result.checks);
  result.state = worst_of(result.checks);
  return result;
}

GateResult broken_gate(std::string why) {
  GateResult result;
  Check check;
  check.name = "runs";
  check.state = CheckState::broken;
  check.text = std::move(why);
  result.checks.push_back(std::move(check));
  result.state = CheckState::broken;
  return result;
}

CheckState worst_of(const std::vector<Check>& checks) {
  // A missed limit counts even if other checks could not look.
  static constexpr CheckState kWorstFirst[] = {CheckState::broken, CheckState::failed, CheckState::inconclusive,
                                               CheckState::could_not_look};
  for (const CheckState state : kWorstFirst) {
    const bool any = std::any_of(checks.begin(), checks.end(),
                                 [&](const Check& check) { return check.state == state && !check.forgiven; });
    if (any) return state;
  }
  return CheckState::passed;
}

}  // namespace wicprof::analyzer
