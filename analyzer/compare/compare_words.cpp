#include "analyzer/compare/compare_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/compare/spread.h"
#include "analyzer/measure/statistics.h"
#include "analyzer/words/change.h"
#include "analyzer/words/format.h"
#include "analyzer/words/patch_and_compare.h"
#include "protocol/shell_words.h"

namespace wicprof::analyzer {

std::string_view unit_name(UnitKind unit) { return unit == UnitKind::phase ? "phase" : "run"; }

namespace {

std::string units_text(const Comparison& comparison, std::size_t count) {
  return count_of(count, unit_name(comparison.unit));
}

/// Of what is timed.
std::string_view plural_of(const Comparison& comparison) {
  return comparison.options.nvtx.empty() ? "iterations" : "ranges";
}

/// An iteration counts as long from so many times its segment's median on. Not calibrated.
constexpr double kLong = 2;
/// Shares of the time in long iterations that differ by less explain nothing. Not calibrated.
constexpr double kWorthNaming = 0.05;

struct LongOnes {
  double of_iterations = 0, of_time = 0;
};

LongOnes long_ones(const std::vector<Segment>& segments, bool after) {
  double time = 0, long_time = 0, count = 0, long_count = 0;
  for (const Segment& segment : segments) {
    if (segment.after != after || segment.iterations.empty()) continue;
    const double least = kLong * median_between_ticks(durations(segment.iterations));
    for (const Iteration& iteration : segment.iterations) {
      const auto length = static_cast<double>(iteration.duration());
      time += length;
      ++count;
      if (length < least) continue;
      long_time += length;
      ++long_count;
    }
  }
  return time > 0 ? LongOnes{long_count / count, long_time / time} : LongOnes{};
}

/// "medians leave out the few long iterations: 8 % of those of poll took 60 % of the time, ...".
std::string why_medians_differ(const Comparison& comparison) {
  const std::string_view what = plural_of(comparison);
  const LongOnes first = long_ones(comparison.segments, false), second = long_ones(comparison.segments, true);
  if (std::abs(first.of_time - second.of_time) < kWorthNaming)
    return fmt::format("medians leave out how {} vary, and the time between them", what);
  const auto part = [](const LongOnes& ones, std::string_view side) {
    if (ones.of_time <= 0) return fmt::format("none of those of {} was long", side);
    return fmt::format("{} of those of {} took {} of the time", format_percent(ones.of_iterations), side,
                       format_percent(ones.of_time));
  };
  return fmt::format("medians leave out the few long {}: {}, {}", what, part(first, comparison.before.label),
                     part(second, comparison.after.label));
}

}  // namespace

std::string estimator_of(const Comparison& comparison, const UnitRatio& ratio, TypicalTime counts) {
  const std::string_view unit = unit_name(comparison.unit);
  const std::string_view typical = counts == TypicalTime::median ? "medians" : "times per iteration";
  const std::string times = ratio.before == 1 && ratio.after == 1
                                ? fmt::format("the ratio of the {} of one {} each", typical, unit)
                                : fmt::format("the ratio of the geometric means of the {} of {} before and {} after",
                                              typical, ratio.before, units_text(comparison, ratio.after));
  switch (ratio.method) {
    case UnitMethod::spread:
      return fmt::format("{}; its interval is the largest ratio of two equal {}s that was measured ({:.3g}, {})", times,
                         unit, calibration::spread_of(comparison.gpu, comparison.unit == UnitKind::phase).iterations,
                         calibration::spread_of(comparison.gpu, comparison.unit == UnitKind::phase).origin);
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
  const std::string_view what = plural_of(comparison);
  const std::string than = comparative_text(change.value, kTimeWords, "");
  const std::string interval = fmt::format("{} of {} are {} those of {} ({}: {})", what, comparison.after.label,
                                           than.empty() ? "as long as" : than + " than", comparison.before.label,
                                           known ? "interval" : "95 % interval", change_interval_text(change));
  const std::string tolerance = fmt::format("{:.3g} %", comparison.options.tolerance * 100);
  const calibration::Spread& spread = calibration::spread_of(comparison.gpu, comparison.unit == UnitKind::phase);
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

std::string other_measure_text(const Comparison& comparison, const Speedup& other, TypicalTime counts) {
  const ChangeRange change = change_of_speedup(other.value, other.low, other.high);
  return fmt::format("; by {}, they are {} (interval: {}), since {}",
                     counts == TypicalTime::median ? fmt::format("{} per time", plural_of(comparison)) : "medians",
                     comparative_text(change.value), change_interval_text(change), why_medians_differ(comparison));
}

std::string settling_command(const Comparison& comparison) {
  const std::string program = comparison.command.empty() ? "APP ARGS..." : comparison.command;
  if (comparison.patched) return fmt::format("wic-prof run {} -- {}", kPatchAndCompare, program);
  const bool looked = comparison.method == UnitMethod::blocks || comparison.method == UnitMethod::looks;
  const std::vector<Segment>& all = comparison.segments;
  const bool two_modes = !comparison.command.empty() && !all.empty() && all.front().mode != all.back().mode;
  if (comparison.unit == UnitKind::phase || two_modes) {
    // What ended since its interval was narrow would end as early again.
    return fmt::format("wic-prof run --ab{} --for {}{} -- {}", comparison.host_side ? " --side host" : "",
                       looked ? "5m" : "1m", comparison.stopped ? " --precision 0%" : "", program);
  }
  return fmt::format("wic-prof run --repeat 6 -- {}", program);
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

std::string losses_note(const TraceModel& model) {
  const bool lost = std::any_of(model.stats.begin(), model.stats.end(), [](const store::StatRow& stat) {
    return stat.severity == store::StatRow::Severity::data_loss && stat.value > 0;
  });
  return lost ? fmt::format("{} lost records, so iterations may be missing or appear to begin late", model.name) : "";
}

}  // namespace wicprof::analyzer
