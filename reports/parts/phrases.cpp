#include "reports/parts/phrases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analyzer/ranks/join.h"
#include "analyzer/ranks/work_sums.h"
#include "analyzer/trace/imported.h"
#include "analyzer/trace/run_command.h"
#include "analyzer/words/change.h"
#include "analyzer/words/format.h"
#include "analyzer/words/writers.h"
#include "analyzer/work/kernels.h"
#include "protocol/shell_words.h"
#include "store/format/stat_list.h"

namespace wicprof::reports {

std::vector<HostWaitStats> host_calls(const Analysis& analysis) {
  std::vector<HostWaitStats> calls;
  std::copy_if(analysis.host_waits.begin(), analysis.host_waits.end(), std::back_inserter(calls),
               [](const HostWaitStats& stats) { return stats.site == 0 || !stats.call.empty(); });
  return calls;
}

std::string late_cause_words(LateCause cause) {
  switch (cause) {
    case LateCause::kernel:
      return "the work ran long";
    case LateCause::launch:
      return "late launch";
    case LateCause::completion:
      return "late completion";
    case LateCause::program_asleep:
      return "the program slept";
    case LateCause::program_busy:
      return "the program computed";
    case LateCause::program:
      return "the program";
    case LateCause::throttled:
      return "CPU quota";
    case LateCause::oversubscribed:
      return "CPUs shared";
    case LateCause::stolen:
      return "taken by the machine's host";
    case LateCause::no_cpu:
      break;
  }
  return "no CPU";
}

std::string rule_with_cost(const Finding& finding) {
  return finding.cost ? fmt::format("{} ({})", finding.rule, cost_text(*finding.cost)) : finding.rule;
}

std::string timed_text(const Comparison& comparison) {
  const bool iterations = comparison.options.nvtx.empty() && comparison.timed.empty();
  return fmt::format("{} of {}", iterations ? "Iterations" : "Times", one_line(comparison.measured_at));
}

std::string name_at(std::string_view name, std::string_view place) {
  return name.find(place) != std::string_view::npos ? std::string(name) : fmt::format("{} ({})", name, place);
}

analyzer::ChangeRange predicted_change(const Gain& gain) {
  return analyzer::change_of_speedup(gain.value, gain.low, gain.high);
}

std::string gain_text(const std::optional<Gain>& gain) {
  if (!gain) return "-";
  return fmt::format("{} ({})", change_text(1 / gain->value), change_interval_text(predicted_change(*gain)));
}

std::string occupancy_text(const KernelStats& kernel) {
  if (!kernel.occupancy) return "-";
  return fmt::format("{} ({})", format_percent(kernel.occupancy->occupancy),
                     occupancy_limit_name(kernel.occupancy->limit));
}

std::string waves_text(const KernelStats& kernel) {
  if (!kernel.waves) return "-";
  return fmt::format("{}, last {}", format_number(kernel.waves->waves), format_percent(kernel.waves->last_wave_fill));
}

std::string graph_text(const GraphStats& graph) {
  if (graph.launches == 0)
    return fmt::format("{}: its kernels are not known; --trace=cuda,nvtx,host,nodes records them",
                       one_line(graph.name));
  constexpr std::size_t kNamed = 5;
  std::string parts;
  const std::size_t shown = std::min(kNamed, graph.parts.size());
  for (std::size_t i = 0; i < shown; ++i) {
    parts += fmt::format("{}{} {}", i == 0 ? "" : ", ", function_name(one_line(graph.parts[i].name)),
                         format_percent(graph.parts[i].share));
  }
  if (shown < graph.parts.size()) parts += fmt::format(", and {} more", count_of(graph.parts.size() - shown, "kernel"));
  return fmt::format("{}: {} kernels per launch, of whose time {} (from {} recorded kernel by kernel)",
                     one_line(graph.name), format_number(graph.kernels_per_launch), parts,
                     count_of(graph.launches, "launch"));
}

std::string strategy_mix(const SiteStats& site) {
  if (site.strategies.empty()) return "-";
  if (site.strategies.size() == 1) return std::string(strategy_name(site.strategies.front().strategy));
  std::uint64_t waits = 0;
  for (const StrategyStats& stats : site.strategies) waits += stats.count;
  std::string mix;
  for (const StrategyStats& stats : site.strategies) {
    const double share = static_cast<double>(stats.count) / static_cast<double>(waits);
    mix += fmt::format("{}{} {:.0f} %", mix.empty() ? "" : ", ", strategy_name(stats.strategy), share * 100);
  }
  return mix;
}

std::string words_text(const SiteStats& site) {
  if (!site.words_seen) return "-";
  const std::string words = count_of(*site.words_seen, "word");
  if (!site.waiters_per_word) return words;
  return fmt::format("{}, up to {} at once on one", words, format_count(*site.waiters_per_word));
}

namespace {

const SiteEdges* edges_of(const Analysis& analysis, SiteId site) {
  const auto found =
      std::find_if(analysis.edges.begin(), analysis.edges.end(), [&](const auto& each) { return each.site == site; });
  return found == analysis.edges.end() ? nullptr : &*found;
}

}  // namespace

std::string open_text(const Analysis& analysis, SiteId site) {
  const SiteEdges* const edges = edges_of(analysis, site);
  return edges == nullptr ? std::string() : open_edges_text(*edges);
}

std::string released_text(const Analysis& analysis, SiteId site) {
  const SiteEdges* const edges = edges_of(analysis, site);
  if (edges == nullptr) return {};
  std::string text;
  const auto add = [&](std::uint64_t waits, SignalWriter by) {
    if (waits != 0)
      text += fmt::format("{}{} by {}", text.empty() ? "" : ", ", format_count(waits), analyzer::writer_words(by).text);
  };
  add(edges->copies, SignalWriter::copy);
  add(edges->memsets, SignalWriter::memset);
  add(edges->stream_writes, SignalWriter::stream_write);
  return text;
}

std::string choice_text(const SiteStats& site) {
  if (!site.choice) return {};
  const std::string chose =
      site.choices > 1 ? fmt::format(" (chosen {} times; the last)", format_count(site.choices)) : "";
  return fmt::format("{}{}: {}", strategy_name(site.choice->strategy), chose, one_line(site.choice->reason));
}

std::string intervention_text(const TraceModel& model, const store::InterventionRow& row) {
  const std::string where = row.site != 0                ? " at " + one_line(model.site_name(row.site))
                            : row.side == WaitSide::host ? " of host threads in calls of CUDA"
                                                         : "";
  return fmt::format("{} -> {}{}", way_name(row.old_mode, row.old_strategy), way_name(row.new_mode, row.new_strategy),
                     where);
}

TimeNs took_effect_after(const store::InterventionRow& row) { return row.effective - row.requested; }

namespace {

/// "; joined from 4 traces of 2 machines, ..."
std::string joined_words(const TraceModel& model) {
  if (model.joined.empty()) return {};
  const analyzer::JoinedTrace* worst = &model.joined.front();
  std::uint32_t clocks = 0;
  for (const analyzer::JoinedTrace& trace : model.joined) {
    clocks = std::max(clocks, trace.clock + 1);
    if (trace.error > worst->error) worst = &trace;
  }
  std::string text = fmt::format("; joined from {}", count_of(model.joined.size(), "trace"));
  if (clocks == 1) {
    text += " with one clock";
  } else {
    text += fmt::format(" with {}, aligned within {}{}", count_of(clocks, "clock"), format_duration(worst->error),
                        worst->aligned_by_mpi ? "" : " by the time of day only");
    text += fmt::format(" ({})", one_line(worst->name));
  }
  if (const std::vector<std::int32_t> missing = analyzer::missing_ranks(model); !missing.empty())
    text += missing.size() == 1 ? fmt::format("; without rank {}", missing.front())
                                : fmt::format("; without {} ranks, such as rank {}", missing.size(), missing.front());
  return text;
}

}  // namespace

std::string trace_line(const TraceModel& model, const Analysis& analysis) {
  std::uint64_t waits = 0;
  for (const SiteStats& site : analysis.sites) waits += site.count;
  std::string devices;
  for (const store::DeviceRow& device : model.devices) {
    if (device.kind == DeviceKind::host) continue;
    devices += (devices.empty() ? " on " : ", ") + one_line(device.name);
  }
  std::string what;
  if (!analysis.sites.empty())
    what = fmt::format("{} at {}, ", count_of(waits, "wait"), count_of(analysis.sites.size(), "wait site"));
  if (const std::uint64_t calls = analyzer::count_mpi_calls(model); calls > 0)
    what += fmt::format("{} of {} by {}, ", count_of(calls, "call"), only_nccl(analysis.mpi) ? "NCCL" : "MPI",
                        count_of(analysis.mpi.ranks.size(), "rank"));
  const std::size_t kernels = analyzer::count_program_kernels(model);
  if (model.is_digest()) {
    return fmt::format("{}from digests of {}{}", what, format_duration(model.span()), joined_words(model));
  }
  what +=
      analysis.sites.empty() && kernels == 0 ? "neither kernels nor waits through wic" : count_of(kernels, "kernel");
  return fmt::format("{} in {}{}{}", what, format_duration(model.span()), devices, joined_words(model));
}

std::string dump_line(const TraceModel& model) {
  using store::MetaKey;
  if (model.meta_value(MetaKey::dump_rule).empty()) return {};
  std::string line =
      fmt::format("written as a dump: {} ({}), at {}", one_line(model.meta_value(MetaKey::dump_why)),
                  one_line(model.meta_value(MetaKey::dump_rule)), model.meta_value(MetaKey::dump_at_utc));
  if (const auto covered = analyzer::recorded_run(model))
    line += fmt::format("; covers {}", format_duration(covered->end - covered->begin));
  const std::string suppressed = model.meta_value(MetaKey::dump_suppressed);
  if (suppressed != "0" && !suppressed.empty())
    line += fmt::format("; a rule held {} more times since the dump before", suppressed);
  return line;
}

std::vector<std::string> digest_sentences(const TraceModel& model) {
  if (!model.is_digest()) return {};
  std::vector<std::string> sentences{
      "Not in the digest: wait sites, kernels, copies, host waits and other calls one by one, the critical path, "
      "predictions, and what only other rules find. wic-prof analyze of a rank's trace shows them."};
  const std::uint64_t calls = analyzer::count_mpi_calls(model);
  if (model.mpi_calls.size() < calls) {
    sentences.push_back(fmt::format(
        "The digests keep {} of {} of MPI: the longest steps between two collectives of all ranks, and steps drawn by "
        "chance, each of which counts for those that it stands for. What ranks waited and cost the others is estimated "
        "from these; the number of calls and their total time are exact.",
        format_count(model.mpi_calls.size()), count_of(calls, "call")));
  }
  if (const double kept = analyzer::least_kept_kinds(model); kept < 1) {
    sentences.push_back(
        fmt::format("Of the kernels and the copies of each rank, the digests keep the kinds that take most time: {} of "
                    "it or more. Ranks are compared by these kinds.",
                    format_percent(std::floor(1000 * kept) / 1000)));
  }
  return sentences;
}

std::string trace_words(const TraceModel& model) {
  if (model.joined.empty()) return shell_word(model.name);
  std::string words;
  for (const analyzer::JoinedTrace& trace : model.joined) words += (words.empty() ? "" : " ") + shell_word(trace.name);
  return words;
}

std::string loss_title(const Analysis& analysis) {
  const bool stopped_alone = std::all_of(analysis.loss.begin(), analysis.loss.end(), [](const analyzer::Loss& loss) {
    return loss.name == store::stat_info(store::Stat::store_stopped).name;
  });
  return stopped_alone ? "The recording ended early: no record that was made before is missing"
                       : "Records are missing: counts and totals below are too low";
}

std::string command_of(const TraceModel& model) {
  const std::string command = model.meta_value(store::MetaKey::command);
  return one_line(command.empty() ? model.meta_value(store::MetaKey::app) : command);
}

std::string share_legend() {
  return "share: the part of the iterations' time that a waiter spends waiting here (all waits / (waiters x time), "
         "from "
         "the first iteration to the last wait); any: the part of that time during which at least one waiter waits";
}

namespace {

constexpr std::string_view kWhoseEnergy = "a meter counts all that its GPU or processor does, also for other programs";
constexpr std::string_view kOfPolling =
    "; what polling takes is the difference of the modes, so that idle power is not in it";

std::string with_interval(const Estimate& of, std::string_view unit, std::string (*number)(double)) {
  if (of.low == of.high) return fmt::format("{} {}", number(of.value), unit);
  if (!of.is_resolved()) return fmt::format("below resolution ({} to {} {})", number(of.low), number(of.high), unit);
  return fmt::format("{} {} ({} to {})", number(of.value), unit, number(of.low), number(of.high));
}

}  // namespace

std::string watts_text(const Estimate& watts) {
  return with_interval(watts, "W", [](double number) { return fmt::format("{:.1f}", number); });
}

std::string joules_text(const Estimate& joules) {
  return with_interval(joules, "J", [](double number) { return fmt::format("{:.3g}", number); });
}

std::string energy_legend(const Analysis& analysis) {
  if (analysis.energy.empty()) return {};
  const auto has_ratio = [](const EnergyUse& use) { return use.ratio.has_value(); };
  const bool has_modes = std::any_of(analysis.energy.begin(), analysis.energy.end(), has_ratio);
  return fmt::format("{}{}", kWhoseEnergy,
                     has_modes ? kOfPolling : "; `wic-prof run --ab --energy` shows what polling takes of it");
}

std::string energy_legend(const Comparison& comparison) {
  if (comparison.differences.meters.empty()) return {};
  return fmt::format("{}{}", kWhoseEnergy,
                     comparison.differences.site_energy.empty()
                         ? "; what polling at each wait site takes of it shows in traces of `wic-prof run --ab "
                           "--energy` with three blocks more than sites"
                         : kOfPolling);
}

std::string counted_legend(const Analysis& analysis) {
  if (analysis.counted_waits.empty()) return {};
  return fmt::format(
      "counted: waits at loops that wic-prof has patched; about N +- E: estimated from a sample, the waits that began "
      "in "
      "1 of {} windows of 1 us, with the standard error E; at least N: too few were sampled to estimate how many there "
      "are; recorded: how many of them the trace has one by one",
      analysis.counted_waits.front().one_in);
}

std::string why_no_sites(const TraceModel& model, const Analysis& analysis) {
  if (!analysis.sites.empty()) return {};
  if (model.is_digest()) return "no wait sites: they are not in the digest";
  if (const std::string unseen = analyzer::unseen_kernel_waits(model); model.sites.empty() && !unseen.empty()) {
    return fmt::format("no wait sites: {}, and the imported files have no call of CUDA that waits; {} records both",
                       unseen, analyzer::run_command_or_form(model, analyzer::kRecordsKernelWaits));
  }
  if (model.sites.empty()) {
    return "no wait sites: the program does not wait through wic (include <wic/wait.h>, or see the user guide for "
           "programs that "
           "cannot); the report has the kernels, copies and host waits that were recorded";
  }
  return fmt::format("{} declared, but no wait at any of them was recorded", count_of(model.sites.size(), "wait site"));
}

}  // namespace wicprof::reports
