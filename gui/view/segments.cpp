#include "gui/view/segments.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "analyzer/measure/statistics.h"
#include "analyzer/words/change.h"
#include "analyzer/words/format.h"

namespace wicprof::gui {

namespace {

void add_waits(const analyzer::TraceModel& model, SegmentLine& line) {
  std::set<std::tuple<DeviceId, std::uint32_t, std::uint32_t>> waiters;
  double waited = 0;
  std::uint64_t polls = 0, waits = 0;
  for (const store::WaitRow& wait : model.waits) {
    if (wait.arrived >= line.seen_end) break;
    if (wait.resumed <= line.seen_begin) continue;
    waited += static_cast<double>(std::min(wait.resumed, line.seen_end) - std::max(wait.arrived, line.seen_begin));
    waiters.emplace(wait.device, wait.block, wait.warp);
    if (wait.arrived < line.seen_begin) continue;
    polls += wait.polls;
    ++waits;
  }
  if (!waiters.empty() && line.seen_end > line.seen_begin)
    line.wait_share =
        waited / static_cast<double>(line.seen_end - line.seen_begin) / static_cast<double>(waiters.size());
  line.waits = waits;
  TimeNs burned = 0;
  bool known = false;
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (!wait.cpu || wait.begin < line.seen_begin || wait.end > line.seen_end) continue;
    burned += *wait.cpu;
    known = true;
  }
  line.host_cpus = known ? std::optional(static_cast<double>(burned) /
                                         static_cast<double>(std::max<TimeNs>(1, line.seen_end - line.seen_begin)))
                         : std::nullopt;
  if (waits > 0) line.polls_per_wait = static_cast<double>(polls) / static_cast<double>(waits);
}

std::string duration_text(double ns) { return analyzer::format_duration(static_cast<TimeNs>(ns)); }
std::string percent_text(double share) { return analyzer::format_percent(share); }
std::string cpus_text(double value) { return fmt::format("{:.2f}", value); }
std::string number_text(double value) { return analyzer::format_number(value); }

/// All compared quantities are better when smaller.
Difference smaller_is_better(std::string what, std::optional<double> before, std::optional<double> after,
                             double tolerance, std::string (*text)(double)) {
  Difference d;
  d.change = "-";
  d.what = std::move(what);
  d.before = before ? text(*before) : "-";
  d.after = after ? text(*after) : "-";
  if (before && after && *before > 0) {
    d.ratio = *after / *before;
    d.change = analyzer::change_text(*d.ratio, text == duration_text ? analyzer::kTimeWords
                                               : text == number_text ? analyzer::kCountWords
                                                                     : analyzer::kAmountWords);
    d.better = *d.ratio < 1 - tolerance;
    d.worse = *d.ratio > 1 + tolerance;
  }
  return d;
}

std::optional<double> median_iteration(const analyzer::Analysis& analysis) {
  if (!analysis.iterations) return std::nullopt;
  std::vector<TimeNs> durations = analyzer::durations(analysis.iterations->list);
  if (durations.empty()) return std::nullopt;
  return static_cast<double>(analyzer::percentile(std::move(durations), 50));
}

}  // namespace

SegmentLine line_of(const analyzer::TraceModel& model, const analyzer::Segment& segment, TimeNs known_from) {
  SegmentLine line;
  line.way = analyzer::way_name(segment.mode, segment.strategy);
  line.mode = segment.mode;
  line.begin = segment.begin_ns;
  line.end = segment.end_ns;
  line.seen_begin = std::clamp(known_from, line.begin, line.end);
  line.seen_end = line.end;
  line.iterations = segment.iterations.size();
  line.iteration_p50 = segment.iteration_ns_p50;
  add_waits(model, line);
  return line;
}

namespace {

void take_verdict(BeforeAfter& values, const analyzer::Comparison& comparison) {
  values.speedup = comparison.speedup;
  values.verdict = comparison.verdict;
  values.why = comparison.why;
  values.reason = comparison.reason;
  values.settle = comparison.settle;
}

/// All phases of one side as one line.
SegmentLine line_of_side(const std::vector<SegmentLine>& lines, const analyzer::Comparison& comparison, bool after) {
  SegmentLine sum;
  sum.phases = 0;
  double waited = 0, length = 0, polls = 0, burned = 0, burned_over = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (comparison.segments[i].after != after) continue;
    const SegmentLine& line = lines[i];
    if (sum.phases++ == 0) sum.begin = line.begin;
    sum.way = line.way;
    sum.mode = line.mode;
    sum.end = line.end;
    const auto seen = static_cast<double>(line.seen_end - line.seen_begin);
    waited += line.wait_share * seen;
    if (line.host_cpus) {
      burned += *line.host_cpus * seen;
      burned_over += seen;
    }
    length += seen;
    polls += line.polls_per_wait.value_or(0) * static_cast<double>(line.waits);
    sum.waits += line.waits;
    sum.iterations += line.iterations;
  }
  sum.seen_begin = sum.begin;
  sum.seen_end = sum.end;
  if (length > 0) sum.wait_share = waited / length;
  if (burned_over > 0) sum.host_cpus = burned / burned_over;
  if (sum.waits > 0) sum.polls_per_wait = polls / static_cast<double>(sum.waits);
  sum.iteration_p50 = (after ? comparison.after : comparison.before).iteration_ns_p50;
  return sum;
}

}  // namespace

BeforeAfter before_after(const analyzer::TraceModel& model, const analyzer::Comparison& comparison, TimeNs known_from) {
  BeforeAfter result;
  for (const analyzer::Segment& segment : comparison.segments)
    result.segments.push_back(line_of(model, segment, known_from));
  result.measured_at = comparison.measured_at;
  result.notes = comparison.notes;
  result.reason = comparison.reason;
  choose_effect(result, comparison);
  return result;
}

void choose_effect(BeforeAfter& values, const analyzer::Comparison& comparison) {
  const std::size_t count = values.segments.size();
  if (count < 2) return;
  choose_pair(values, comparison, count - 2, count - 1);
  if (comparison.before.units < 2 || comparison.after.units < 2) return;
  values.before = line_of_side(values.segments, comparison, false);
  values.after = line_of_side(values.segments, comparison, true);
  take_verdict(values, comparison);
}

namespace {

/// A whole trace as one segment. A trace with changes has several ways.
SegmentLine line_of_trace(const analyzer::TraceModel& model, const analyzer::Side& side) {
  std::vector<std::string> notes;
  const std::vector<analyzer::Segment> segments = analyzer::find_segments(model, notes);
  analyzer::Segment whole = segments.empty() ? analyzer::Segment{} : segments.front();
  whole.begin_ns = model.begin;
  whole.end_ns = model.end;
  whole.iteration_ns_p50 = side.iteration_ns_p50;
  SegmentLine line = line_of(model, whole);
  // The share of waiting is that of the iterations' time, as at the sites: start-up is not what an iteration costs.
  if (const auto window = analyzer::iteration_window(model, analyzer::find_iterations(model))) {
    line.seen_begin = window->begin;
    line.seen_end = window->end;
    add_waits(model, line);
  }
  line.trace = model.name;
  line.iterations = side.iterations;
  if (segments.size() > 1) line.way = fmt::format("{} and other ways", line.way);
  return line;
}

}  // namespace

BeforeAfter before_after(const analyzer::TraceModel& before, const analyzer::TraceModel& after,
                         const analyzer::Comparison& comparison) {
  BeforeAfter result;
  result.before = line_of_trace(before, comparison.before);
  result.after = line_of_trace(after, comparison.after);
  take_verdict(result, comparison);
  result.measured_at = comparison.measured_at;
  result.notes = comparison.notes;
  return result;
}

void choose_pair(BeforeAfter& values, const analyzer::Comparison& comparison, std::size_t before, std::size_t after) {
  values.before = values.segments[before];
  values.after = values.segments[after];
  take_verdict(values, analyzer::pair_of(comparison, before, after));
}

std::vector<Difference> differences(const SegmentLine& before, const SegmentLine& after, double tolerance) {
  const auto iteration = [](const SegmentLine& line) {
    return line.iteration_p50 ? std::optional<double>(static_cast<double>(*line.iteration_p50)) : std::nullopt;
  };
  return {smaller_is_better("iteration, median", iteration(before), iteration(after), tolerance, duration_text),
          smaller_is_better("waiting inside kernels", before.wait_share, after.wait_share, tolerance, percent_text),
          smaller_is_better("polls per wait", before.polls_per_wait, after.polls_per_wait, tolerance, number_text),
          smaller_is_better("CPUs that waiting host threads take", before.host_cpus, after.host_cpus, tolerance,
                            cpus_text)};
}

std::vector<Difference> differences(const analyzer::Analysis& before, const analyzer::Analysis& after,
                                    double tolerance) {
  std::vector<Difference> list{smaller_is_better("iteration, median", median_iteration(before), median_iteration(after),
                                                 tolerance, duration_text)};
  std::set<std::string> names;
  for (const auto& site : before.sites) names.insert(site.name);
  for (const auto& site : after.sites) names.insert(site.name);
  for (const std::string& name : names) {
    const auto find = [&](const analyzer::Analysis& analysis) -> const analyzer::SiteStats* {
      const auto found =
          std::find_if(analysis.sites.begin(), analysis.sites.end(), [&](const auto& s) { return s.name == name; });
      return found == analysis.sites.end() ? nullptr : &*found;
    };
    const analyzer::SiteStats* a = find(before);
    const analyzer::SiteStats* b = find(after);
    const auto value = [](const analyzer::SiteStats* site, auto of) -> std::optional<double> {
      if (site == nullptr) return std::nullopt;
      return static_cast<double>(of(*site));
    };
    const std::string shown = analyzer::one_line(name);
    list.push_back(smaller_is_better(shown + ", waiting", value(a, [](const auto& s) { return s.share; }),
                                     value(b, [](const auto& s) { return s.share; }), tolerance, percent_text));
    list.push_back(smaller_is_better(shown + ", p50", value(a, [](const auto& s) { return s.p50_ns; }),
                                     value(b, [](const auto& s) { return s.p50_ns; }), tolerance, duration_text));
    list.push_back(smaller_is_better(shown + ", p99", value(a, [](const auto& s) { return s.p99_ns; }),
                                     value(b, [](const auto& s) { return s.p99_ns; }), tolerance, duration_text));
    list.push_back(smaller_is_better(
        shown + ", polls per wait", value(a, [](const auto& s) { return s.polls_per_wait.value_or(0); }),
        value(b, [](const auto& s) { return s.polls_per_wait.value_or(0); }), tolerance, number_text));
  }
  return list;
}

}  // namespace wicprof::gui
