#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/words/format.h"
#include "reports/parts/pair_phrases.h"
#include "reports/parts/phrases.h"
#include "reports/parts/sample_phrases.h"
#include "reports/parts/tables.h"

namespace wicprof::reports {
namespace {

constexpr std::size_t kLoopNameWidth = 40;  // of a function
constexpr double kTinyShare = 0.001;        // of the path; smaller shares round to 0.1 % or less and are left out

Cell kernel_name(const KernelStats& kernel) { return cell::name(function_name(one_line(kernel.name))); }

Cell times_as_long(const SlowedWork& work) {
  return {fmt::format("{:.3g} ({:.3g} to {:.3g})", work.slowdown.value, work.slowdown.low, work.slowdown.high),
          work.slowdown.value};
}

}  // namespace

Table kernels_table(const Analysis& analysis, std::size_t most) {
  using Row = KernelStats;
  return table_of<Row>(
      "kernel", analysis.kernels, most,
      {{"kernel", 'l', kernel_name},
       {"launches", 'r', [](const Row& k) { return cell::count(k.count); }},
       {"total", 'r', [](const Row& k) { return cell::duration(k.total_ns); }},
       {"share", 'r', [](const Row& k) { return cell::percent(k.share); }},
       {"p50", 'r', [](const Row& k) { return cell::duration(k.p50_ns); }},
       {"p99", 'r', [](const Row& k) { return cell::duration(k.p99_ns); }},
       {"max", 'r', [](const Row& k) { return cell::duration(k.max_ns); }, On::pages},
       {"occupancy", 'r', [](const Row& k) { return k.occupancy ? cell::percent(k.occupancy->occupancy) : "-"; },
        On::screen},
       {"occupancy", 'l', occupancy_text, On::pages},
       {"waves", 'l', [](const Row& k) { return waves_text(k); }, On::pages}});
}

Table filling_table(const Analysis& analysis, std::size_t most) {
  std::vector<KernelStats> known(analysis.kernels.begin(),
                                 analysis.kernels.begin() + std::min(most, analysis.kernels.size()));
  std::erase_if(known, [](const KernelStats& kernel) { return !kernel.occupancy; });
  using Row = KernelStats;
  return table_of<Row>("kernel", known, most,
                       {{"how it fills the GPU", 'l', kernel_name},
                        {"blocks", 'r', [](const Row& k) { return cell::count(k.blocks); }},
                        {"threads", 'r', [](const Row& k) { return std::to_string(k.threads_per_block); }},
                        {"registers", 'r', [](const Row& k) { return std::to_string(k.registers_per_thread); }},
                        {"shared memory", 'r', [](const Row& k) { return format_bytes(k.shared_bytes_per_block); }},
                        {"occupancy", 'w', occupancy_text},
                        {"waves", 'w', [](const Row& k) { return waves_text(k); }}});
}

Table dependent_kernels_table(const DependentKernels& kernels, std::size_t most) {
  using Row = DependentPair;
  const auto launches = [](const Row& p) {
    return format_count(p.launches) + (p.early > 0 ? fmt::format(", {} early", format_count(p.early)) : "");
  };
  const auto held = [](const Row& p) {
    const TimeNs ns = p.producer_held_sm_ns + p.consumer_held_sm_ns;
    return ns > 0 ? cell::duration(ns) : Cell("-");
  };
  const auto carve_out = [](const Row& p) {
    const bool better = p.carve_out && p.carve_out->value > p.dependent.value;
    return bound_text(p.carve_out) + (better ? fmt::format(", {}", count_of(p.carve_out_sms, "SM")) : "");
  };
  return table_of<Row>(
      "pair", kernels.pairs, most,
      {{"kernel pair", 'l', [](const Row& p) { return cell::name(pair_name(p)); }},
       {"launches", 'r', launches},
       {"waves of the first", 'w', [](const Row& p) { return waves_text(p.producer); }},
       {"gap", 'r', [](const Row& p) { return cell::mean(p.gap_ns, p.launches); }},
       {"idle SM time", 'r', [](const Row& p) { return p.idle_sm_ns ? nanoseconds(p.idle_sm_ns->value) : "unknown"; }},
       {"held SM time", 'r', held},
       {"saved by tiles", 'w', [](const Row& p) { return bound_text(p.tiles); }},
       {"saved by dependent launch", 'w', [](const Row& p) { return p.launches > 0 ? bound_text(p.dependent) : "-"; }},
       {"saved by SMs of its own", 'w', carve_out}});
}

Table crowded_table(const Analysis& analysis, std::size_t most) {
  using Row = CrowdedKernel;
  return table_of<Row>(
      "kernel", analysis.crowded_kernels, most,
      {{"kernel beside a holder of SMs", 'l',
        [](const Row& k) {
          return cell::name(fmt::format("{} beside {}", short_name(k.kernel), short_name(k.holder)));
        }},
       {"launches", 'r', [](const Row& k) { return cell::count(k.launches); }},
       {"SMs held", 'r', [](const Row& k) { return fmt::format("{} of {}", k.held_sms, k.sm_count); }},
       {"held SM time", 'r',
        [](const Row& k) { return k.holder_held_sm_ns > 0 ? cell::duration(k.holder_held_sm_ns) : "-"; }},
       {"time beside", 'r', [](const Row& k) { return cell::mean(k.beside_ns, k.launches); }},
       {"time alone", 'r', [](const Row& k) { return cell::mean(k.alone_ns, k.alone); }},
       {"saved by spreading", 'w', [](const Row& k) { return bound_text(k.carve_out); }}});
}

Table functions_table(const Analysis& analysis, std::size_t most, std::size_t most_reasons) {
  using Row = FunctionStalls;
  return table_of<Row>(
      "function", analysis.stalls.functions, most,
      {{"program counters", 'l', [](const Row& f) { return cell::name(function_name(one_line(f.function))); }},
       {"samples", 'r', [](const Row& f) { return cell::count(f.samples); }},
       {"share", 'r', [](const Row& f) { return cell::percent(f.share); }},
       {"hottest line", 'l', hottest_line},
       {"warps stall on", 'w', [=](const Row& f) { return reasons_text(f.reasons, most_reasons); }}});
}

Table mbarrier_waits_table(const Analysis& analysis, std::size_t most) {
  using Row = PollingLoop;
  return table_of<Row>(
      "wait at an mbarrier", analysis.mbarrier_waits, most,
      {{"waits at an mbarrier", 'l',
        [](const Row& w) {
          return cell::name(
              fmt::format("{} at {}", shorten(function_name(one_line(w.function)), kLoopNameWidth), place_of(w)));
        }},
       {"waiting warps", 'l', [](const Row& w) { return w.role == PipelineRole::unknown ? "-" : name_of(w.role); }},
       {"samples", 'r', [](const Row& w) { return cell::count(w.samples); }},
       {"of its kernel", 'r', [](const Row& w) { return cell::percent(w.function_share); }},
       {"share", 'r', [](const Row& w) { return cell::percent(w.share); }}});
}

Table interference_table(const TraceModel& model, const Analysis& analysis, std::size_t most) {
  using Row = SlowedWork;
  return table_of<Row>("work", analysis.interference.works, most,
                       {{"work beside pollers", 'l', [](const Row& w) { return w.what; }},
                        {"device", 'l', [&](const Row& w) { return model.device_key(w.device); }},
                        {"many pollers", 'r', [](const Row& w) { return cell::number(w.many_pollers); }},
                        {"p50", 'r', [](const Row& w) { return cell::duration(w.many_p50_ns); }},
                        {"few pollers", 'r', [](const Row& w) { return cell::number(w.few_pollers); }},
                        {"p50", 'r', [](const Row& w) { return cell::duration(w.few_p50_ns); }},
                        {"times as long", 'r', times_as_long, On::pages}});
}

Table path_table(const CriticalPath& path, std::size_t most) {
  using Row = PathShare;
  std::vector<Row> shares = path.shares;
  std::erase_if(shares, [](const Row& share) { return share.share < kTinyShare; });
  return table_of<Row>("part", shares, most,
                       {{"critical path", 'l', [](const Row& s) { return path_kind_name(s.kind); }},
                        {"where", 'l', [](const Row& s) { return cell::name(s.where); }},
                        {"times", 'r', [](const Row& s) { return cell::count(s.count); }},
                        {"total", 'r', [](const Row& s) { return cell::duration(s.total_ns); }},
                        {"share", 'r', [](const Row& s) { return cell::percent(s.share); }}});
}

Table prediction_table(const Analysis& analysis, std::size_t most) {
  struct Row {
    Cell name, gain, exposed, break_even;
  };
  const auto gain_cell = [](const Gain& gain) { return Cell(gain_text(gain), gain.value); };
  std::vector<Row> rows;
  for (std::size_t i = 0; i < std::min(most, analysis.prediction.sites.size()); ++i) {
    const SitePrediction& site = analysis.prediction.sites[i];
    if (!site.gain) continue;
    rows.push_back({cell::name(analysis.sites[i].name), gain_cell(*site.gain), cell::percent(site.exposed),
                    site.break_even_ns ? cell::duration(*site.break_even_ns) : "never"});
  }
  const std::optional<Gain>& program = analysis.prediction.program;
  if (program && !rows.empty()) rows.push_back({"the program", gain_cell(*program), "", ""});
  return table_of<Row>("wait site", rows, kAllRows,
                       {{"predicted gain of parking", 'l', [](const Row& r) { return r.name; }},
                        {"change", 'r', [](const Row& r) { return r.gain; }},
                        {"exposed", 'r', [](const Row& r) { return r.exposed; }},
                        {"break-even", 'r', [](const Row& r) { return r.break_even; }}});
}

Table energy_table(const Analysis& analysis, std::size_t most) {
  const auto more_power = [](const EnergyUse& use) {
    return use.ratio ? Cell(watts_text({use.more_watts(), use.least_watts(), use.most_watts()})) : Cell("-");
  };
  return table_of<EnergyUse>(
      "meter", analysis.energy, most,
      {{"meter of energy", 'l', [](const EnergyUse& use) { return Cell(use.meter); }},
       {"mean power", 'r', [](const EnergyUse& use) { return cell::watts(use.watts()); }},
       {"polling", 'r', [](const EnergyUse& use) { return cell::watts(use.poll_watts); }},
       {"parked", 'r', [](const EnergyUse& use) { return cell::watts(use.park_watts); }},
       {"polling takes", 'r', more_power},
       {"polling, per iteration", 'r',
        [](const EnergyUse& use) { return cell::joules_of_iteration(use.poll_joules_per_iteration); }},
       {"parked, per iteration", 'r',
        [](const EnergyUse& use) { return cell::joules_of_iteration(use.park_joules_per_iteration); }},
       {"energy", 'r', [](const EnergyUse& use) { return cell::joules(use.joules); }},
       {"of it for polling", 'r',
        [](const EnergyUse& use) { return use.is_resolved() ? cell::joules(use.polling_joules()) : Cell("-"); }}});
}

Table site_energy_table(const Analysis& analysis, std::size_t most) {
  struct Row {
    std::string meter;
    SiteEnergy of;
  };
  std::vector<Row> rows;
  for (const EnergyUse& use : analysis.energy) {
    for (const SiteEnergy& site : use.sites) rows.push_back({use.meter, site});
  }
  const auto resolved = [](const Row& row, const Cell& cell) { return row.of.is_resolved() ? cell : Cell("-"); };
  return table_of<Row>(
      "wait site", rows, most,
      {{"energy of polling at", 'l',
        [](const Row& row) { return row.of.site.empty() ? Cell("other sites") : cell::name(row.of.site); }},
       {"meter", 'l', [](const Row& row) { return Cell(row.meter); }},
       {"waiters that poll", 'r', [](const Row& row) { return cell::number(row.of.waiters); }},
       {"polling there takes", 'r', [](const Row& row) { return watts_cell(row.of.polling.watts); }},
       {"per waiter", 'r',
        [=](const Row& row) { return resolved(row, cell::watts(row.of.polling.watts.value / row.of.waiters)); }},
       {"polling there takes, per iteration", 'r',
        [](const Row& row) { return cell::known(row.of.polling.joules_per_iteration, joules_cell); }},
       {"energy for it", 'r', [=](const Row& row) { return resolved(row, cell::joules(row.of.joules)); }}});
}

}  // namespace wicprof::reports
