// The gate compares recorded runs with limits and with other runs. Values in, values out; `wic-prof ci` records and
// reports.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/compare/run_series.h"

namespace wicprof::analyzer {

/// The result of a check. `could_not_look` and `broken` are no verdicts on the program's speed.
enum class CheckState {
  passed,
  failed,
  inconclusive,    ///< the limit is within the figure's interval
  could_not_look,  ///< the runs lack the data that the check needs
  broken,          ///< the program or its recording failed
};
/// "passed", "failed", "inconclusive", "could not look" and "broken".
std::string_view check_state_name(CheckState state);

/// The largest values allowed at a wait site. The gate does not check an empty limit.
struct SiteLimits {
  std::optional<double> wait_share;      ///< SiteStats::share: the share of a waiter's time that it waits at the site
  std::optional<double> p99_wake_ns;     ///< WakeStats::p99_ns
  std::optional<double> polls_per_wait;  ///< SiteStats::polls_per_wait
  std::optional<double> missed_deadlines;
  std::optional<double> predicted_gain;  ///< the gain that parking would still bring, as a ratio
};

struct GateConfig {
  SiteLimits every_site;
  std::map<std::string, SiteLimits> sites;  ///< by name; each limit overrides that of every_site
  std::optional<double> min_gain;           ///< the second side over the first, as a ratio of iteration times
  bool allow_inconclusive = false;
  bool allow_missing_data = false;  ///< `could_not_look` does not fail the gate
  bool any_device = false;          ///< allows a baseline from other devices
  CompareOptions compare;
};

/// The gate's figures of one site in one run.
struct SiteFigures {
  std::string site;
  std::uint64_t waits = 0;
  double wait_share = 0;
  std::optional<double> p99_wake_ns, polls_per_wait, predicted_gain;
  std::uint64_t missed_deadlines = 0;
};

/// A recorded run, reduced to what the gate needs, so that many runs fit in memory where their traces would not.
struct RunFigures {
  RunSeries series;
  std::vector<SiteFigures> sites;
  std::vector<std::string> losses;  ///< sentences; empty if the run lost nothing
  double lost_share = 0;            ///< of all records
};
RunFigures figures_of(const TraceModel& model, const Analysis& analysis, const CompareOptions& options);

/// The runs of one program that wait in one way.
struct GateSide {
  std::string label;
  std::vector<RunFigures> runs;
};

struct Check {
  std::string name;  ///< "wait_share", "gain", ...
  std::string site;  ///< empty: the whole program
  CheckState state = CheckState::passed;
  std::string text;  ///< the result, in one sentence with figures
  std::optional<double> value, low, high, limit;
  std::string unit;       ///< of these four: "ns", or empty
  bool forgiven = false;  ///< not passed, but the configuration allows it
};

struct GateResult {
  std::vector<Check> checks;
  std::vector<std::string> notes;
  std::optional<Comparison> between_sides, with_baseline;
  CheckState state = CheckState::passed;  ///< the worst state that is not forgiven
};

/// An interval for the median of repeated runs, from their order alone, without assumptions about their distribution.
struct RunInterval {
  double median = 0, low = 0, high = 0;
  double coverage = 0;  ///< the probability that the interval contains the median; below 0.95 with fewer than 6 runs
};
/// The k-th smallest to the k-th largest value, for the largest k with a coverage
/// 1 - 2 * sum(i < k) binomial(n, i) / 2^n of at least 0.95; the smallest to the largest if no k has it.
RunInterval run_interval(std::vector<double> values);

/// Checks the limits against the last side; with two sides, compares the last with the first; with a baseline, compares
/// the last with the baseline. Without runs the result is `broken`.
GateResult judge_runs(const GateConfig& config, const std::vector<GateSide>& sides,
                      const std::vector<RunSeries>& baseline);

/// The result if a run failed.
GateResult broken_gate(std::string why);

/// The worst state that is not forgiven: broken, then failed, inconclusive, could_not_look, passed.
CheckState worst_of(const std::vector<Check>& checks);

}  // namespace wicprof::analyzer
