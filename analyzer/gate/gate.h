// The gate: recorded runs against limits, runs against runs. Values in, values out; `wic-prof ci` records and reports.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/compare/compare.h"

namespace wicprof::analyzer {

/// What a check found. Nobody may take `could_not_look` or `broken` for a verdict on the program's speed.
enum class CheckState {
  passed,
  failed,
  inconclusive,    ///< the figure is there, but its interval does not settle the question
  could_not_look,  ///< the runs lack what the check needs
  broken,          ///< the program, or recording it, failed: there is nothing to judge
};
/// "passed", "failed", "inconclusive", "could not look" and "broken".
std::string_view check_state_name(CheckState state);

/// What a wait site may have at most. An empty limit is not checked.
struct SiteLimits {
  std::optional<double> wait_share;      ///< SiteStats::share: the part of its time that a waiter waits there
  std::optional<double> p99_wake_ns;     ///< WakeStats::p99_ns
  std::optional<double> polls_per_wait;  ///< SiteStats::polls_per_wait
  std::optional<double> missed_deadlines;
  std::optional<double> predicted_gain;  ///< what parking would still gain, as a ratio
};

struct GateConfig {
  SiteLimits every_site;
  std::map<std::string, SiteLimits> sites;  ///< by name; each limit goes before every_site's
  std::optional<double> least_gain;         ///< the second side over the first, as a ratio of iteration times
  bool allow_inconclusive = false;
  bool allow_missing_data = false;  ///< `could_not_look` does not fail the gate
  bool any_device = false;          ///< a baseline from other devices may be compared with
  CompareOptions compare;
};

/// What the gate needs of one site in one run.
struct SiteFigures {
  std::string site;
  std::uint64_t waits = 0;
  double wait_share = 0;
  std::optional<double> p99_wake_ns, polls_per_wait, predicted_gain;
  std::uint64_t missed_deadlines = 0;
};

/// A recorded run, reduced to what the gate needs: many runs fit where not many traces would.
struct RunFigures {
  RunSeries series;
  std::vector<SiteFigures> sites;
  std::vector<std::string> losses;  ///< in words; empty = nothing was lost
  double lost_share = 0;            ///< of all records
};
RunFigures figures_of(const TraceModel& model, const Analysis& analysis, const CompareOptions& options);

/// The runs of one program in one way of waiting.
struct GateSide {
  std::string label;
  std::vector<RunFigures> runs;
};

struct Check {
  std::string name;  ///< "wait_share", "gain", ...
  std::string site;  ///< empty: about the whole program
  CheckState state = CheckState::passed;
  std::string text;  ///< what was found, in one sentence with its figures
  std::optional<double> value, low, high, limit;
  std::string unit;       ///< of these four: "ns", or empty
  bool forgiven = false;  ///< not passed, but the configuration lets it through
};

struct GateResult {
  std::vector<Check> checks;
  std::vector<std::string> notes;
  std::optional<Comparison> between_sides, with_baseline;
  CheckState state = CheckState::passed;  ///< of all together: the worst that is not forgiven
};

/// An interval for the median of repeated runs, from their order alone: nothing is assumed of how they scatter.
struct RunInterval {
  double median = 0, low = 0, high = 0;
  double coverage = 0;  ///< how often such an interval holds the true median; below 0.95 with fewer than 6 runs
};
/// Of at least one value. The k-th smallest to the k-th largest value, for the largest k with a coverage of
/// 1 - 2 * sum(i < k) binomial(n, i) / 2^n of at least 0.95; the smallest to the largest where there is none.
RunInterval run_interval(std::vector<double> values);

/// Limits hold for the last side; with two sides the last is compared with the first, and with a baseline the last with
/// that. Without runs the answer is broken.
GateResult judge_runs(const GateConfig& config, const std::vector<GateSide>& sides,
                      const std::vector<RunSeries>& baseline);

/// The answer where a run could not be had.
GateResult broken_gate(std::string why);

/// The worst state that is not forgiven: broken, then failed, inconclusive, could_not_look, passed.
CheckState worst_of(const std::vector<Check>& checks);

}  // namespace wicprof::analyzer
