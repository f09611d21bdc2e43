#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/words/change.h"
#include "analyzer/words/format.h"
#include "reports/parts/phrases.h"
#include "reports/parts/tables.h"

namespace wicprof::reports {
namespace {

/// "-6 % (-14 % to +2 %)". The known spread of single units is the same everywhere, so it is not repeated.
Cell change_of(const JudgedRatio& difference) {
  const std::optional<Speedup>& ratio = difference.ratio;
  if (!ratio) return "-";
  const ChangeRange change = change_of_speedup(ratio->value, ratio->low, ratio->high);
  const std::string interval =
      difference.method == UnitMethod::spread ? "" : fmt::format(" ({})", change_interval_text(change));
  return {change_text(change.value) + interval, 1 / ratio->value};
}

Cell verdict_of(const JudgedRatio& difference) {
  Cell cell(verdict_name(difference.verdict));
  cell.verdict = difference.verdict;
  return cell;
}

/// The columns of a difference.
template <class Row>
std::vector<Field<Row>> with_difference(Field<Row> name) {
  const auto time = [](std::uint64_t count, TimeNs p50) { return count > 0 ? cell::duration(p50) : Cell("-"); };
  return {std::move(name),
          {"before", 'r', [=](const Row& d) { return time(d.before_count, d.before_p50_ns); }},
          {"after", 'r', [=](const Row& d) { return time(d.after_count, d.after_p50_ns); }},
          {"change", 'w', change_of},
          {"verdict", 'l', verdict_of}};
}

Cell site_of(const SiteDifference& site) { return cell::name(name_at(site.site, site.place)); }

}  // namespace

Table sides_table(const Comparison& comparison) {
  struct Row {
    std::string_view what;
    const Side& side;
  };
  const bool phases = comparison.unit == UnitKind::phase;
  return table_of<Row>(
      "side", {{"before", comparison.before}, {"after", comparison.after}}, kAllRows,
      {{"side", 'l', [](const Row& r) { return fmt::format("{}: {}", r.what, r.side.label); }},
       {phases ? Head("phases") : Head("runs"), 'r', [](const Row& r) { return cell::count(r.side.units); }},
       {"iterations", 'r', [](const Row& r) { return cell::count(r.side.iterations); }},
       {"per iteration", 'r', [](const Row& r) { return cell::duration(r.side.iteration_ns_p50); }}});
}

Table segments_table(const Comparison& comparison, std::size_t most) {
  const std::vector<Segment>& segments = comparison.segments;
  const bool two_traces = !segments.empty() && segments.front().trace != segments.back().trace;
  const auto way = [=](const Segment& s) {
    std::string text = (two_traces ? s.trace + ", " : "") + way_name(s.mode, s.strategy);
    if (!s.apart.empty()) text += fmt::format(", but {}", fmt::join(s.apart, ", "));
    return text;
  };
  // Times of each trace from its own start.
  const auto from_start = [&](const Segment& segment, TimeNs at) {
    TimeNs zero = segment.begin_ns;
    for (const Segment& other : segments) {
      if (other.trace == segment.trace) zero = std::min(zero, other.begin_ns);
    }
    return cell::duration(at - zero);
  };
  return table_of<Segment>(
      "phase", segments, most,
      {{two_traces ? Head("trace") : Head("phase"), 'l', way},
       {"from", 'r', [&](const Segment& s) { return from_start(s, s.begin_ns); }},
       {"to", 'r', [&](const Segment& s) { return from_start(s, s.end_ns); }},
       {"iterations", 'r', [](const Segment& s) { return cell::count(s.iterations.size()); }},
       {"per iteration", 'r', [](const Segment& s) { return cell::duration(s.iteration_ns_p50); }}});
}

Table site_differences_table(const Differences& differences, std::size_t most) {
  return table_of<SiteDifference>("site", differences.sites, most,
                                  with_difference<SiteDifference>({"wait (p50)", 'l', site_of}));
}

Table cpu_table(const Differences& differences, std::size_t most) {
  using Row = SiteDifference;
  std::vector<Row> known = differences.sites;
  std::erase_if(known, [](const Row& site) { return !site.before_cpu || !site.after_cpu; });
  const auto cpus = [](double value) { return Cell(fmt::format("{:.2f}", value), value); };
  return table_of<Row>("site", known, most,
                       {{"CPUs while waiting", 'l', site_of},
                        {"before", 'r', [=](const Row& s) { return cpus(*s.before_cpu); }},
                        {"after", 'r', [=](const Row& s) { return cpus(*s.after_cpu); }}});
}

Table edge_differences_table(const Differences& differences, std::size_t most) {
  const auto edge = [](const EdgeDifference& e) { return fmt::format("{} -> {} at {}", e.from, e.to, e.site); };
  return table_of<EdgeDifference>("edge", differences.edges, most,
                                  with_difference<EdgeDifference>({"wake latency (p50)", 'w', edge}));
}

Table meter_differences_table(const Comparison& comparison, std::size_t most) {
  using Row = MeterDifference;
  const auto joules = [](double watts, const Side& side) {
    return cell::joules_of_iteration(joules_per_iteration(watts, side));
  };
  return table_of<Row>(
      "meter", comparison.differences.meters, most,
      {{"power", 'l', [](const Row& m) { return Cell(m.meter); }},
       {"before", 'r', [](const Row& m) { return cell::watts(m.before_watts); }},
       {"after", 'r', [](const Row& m) { return cell::watts(m.after_watts); }},
       {"change", 'w', change_of},
       {"verdict", 'l', verdict_of},
       {"before, per iteration", 'r', [&](const Row& m) { return joules(m.before_watts, comparison.before); }},
       {"after, per iteration", 'r', [&](const Row& m) { return joules(m.after_watts, comparison.after); }}});
}

Table site_energy_differences_table(const Differences& differences, std::size_t most) {
  using Row = SiteEnergyDifference;
  const auto watts = [](const std::optional<PollingEnergy> Row::*which) {
    return [=](const Row& row) {
      return cell::known(row.*which, [](const PollingEnergy& energy) { return watts_cell(energy.watts); });
    };
  };
  const auto joules = [](const std::optional<PollingEnergy> Row::*which) {
    return [=](const Row& row) {
      return row.*which ? cell::known((row.*which)->joules_per_iteration, joules_cell) : Cell("-");
    };
  };
  return table_of<Row>("wait site", differences.site_energy, most,
                       {{"energy of polling at", 'l',
                         [](const Row& row) { return row.site.empty() ? Cell("other sites") : cell::name(row.site); }},
                        {"meter", 'l', [](const Row& row) { return Cell(row.meter); }},
                        {"takes before", 'r', watts(&Row::before)},
                        {"takes after", 'r', watts(&Row::after)},
                        {"difference", 'r', watts(&Row::more)},
                        {"per iteration before", 'r', joules(&Row::before)},
                        {"per iteration after", 'r', joules(&Row::after)},
                        {"per iteration difference", 'r', joules(&Row::more)}});
}

Cell watts_cell(const Estimate& watts) { return {watts_text(watts), watts.value}; }
Cell joules_cell(const Estimate& joules) { return {joules_text(joules), joules.value}; }

}  // namespace wicprof::reports
