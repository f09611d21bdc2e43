// Lost records: reports them before the reader trusts any other finding.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/rules/rule.h"
#include "analyzer/words/format.h"
#include "store/format/stat_list.h"

namespace wicprof::analyzer {
namespace {

/// Above one lost record in a hundred, even the ranking of sites may be wrong. Not calibrated.
constexpr double kCriticalShare = 0.01;

Finding no_room(std::uint64_t producers) {
  Finding finding;
  finding.severity = Severity::critical;
  finding.text = producers == 1 ? "1 part of the program is not recorded: the session had no room for it"
                                : format_count(producers) +
                                      " parts of the program are not recorded: the session had no room for them";
  finding.evidence = "a collector and a wic runtime in each process need a ring of their own; no ring was free";
  finding.remedy =
      "record with --buffer-size 32 or more, which has room for 512, or record fewer processes in one session";
  return finding;
}

Finding cut_end(std::uint64_t processes) {
  Finding finding;
  finding.severity = Severity::info;
  finding.text = fmt::format(
      "{} ended before CUPTI handed over {} last records: kernels, copies and calls of some 0.3 s may be missing",
      processes == 1 ? std::string("1 process") : format_count(processes) + " processes",
      processes == 1 ? "its" : "their");
  finding.evidence =
      "a process that ends by _exit, exec or a signal does not wait for CUPTI; waits of host threads are complete";
  finding.remedy = "where those moments matter, let the program end by exit or by a return from main";
  return finding;
}

}  // namespace

template <>
RuleOutcome apply<struct DataLost>(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  std::uint64_t lost = 0;
  std::string where;
  for (const store::StatRow& stat : model.stats) {
    if (stat.name == store::stat_info(store::Stat::ended_unwritten).name && stat.value > 0)
      outcome.findings.push_back(cut_end(static_cast<std::uint64_t>(stat.value)));
    if (stat.severity != store::StatRow::Severity::data_loss || stat.value <= 0) continue;
    if (stat.name == store::stat_info(store::Stat::producers_refused).name) {
      outcome.findings.push_back(no_room(static_cast<std::uint64_t>(stat.value)));
      continue;
    }
    lost += static_cast<std::uint64_t>(stat.value);
    const std::string detail = stat.detail.empty() ? "" : fmt::format(" ({})", one_line(stat.detail));
    where += fmt::format("{}{}{}: {}", where.empty() ? "" : "; ", one_line(stat.name), detail,
                         format_count(static_cast<std::uint64_t>(stat.value)));
  }
  if (lost > 0) {
    std::uint64_t kept = model.waits.size() + model.signals.size() + model.host_waits.size() + model.kernels.size() +
                         model.copies.size() + model.calls.size() + model.nvtx.size() + model.syncs.size() +
                         model.cuda_events.size() + model.overheads.size() + model.thread_samples.size();
    // The loss counter counts single samples of program counters; the trace keeps them summed per interval.
    for (const store::PcIntervalRow& interval : model.pc_intervals) {
      kept += interval.samples - std::min(interval.samples, interval.dropped);
    }
    const double share = static_cast<double>(lost) / static_cast<double>(lost + kept);
    Finding finding;
    finding.severity = share > kCriticalShare ? Severity::critical : Severity::warning;
    finding.text =
        fmt::format("{} lost ({} of all): counts are too low, and conclusions from them are uncertain",
                    lost == 1 ? "1 record was" : format_count(lost) + " records were", format_percent(share));
    finding.evidence = where;
    finding.remedy =
        "leave a CPU core free for wic-prof, write the trace to a faster disk with free space, or record a shorter run";
    outcome.findings.push_back(std::move(finding));
  }
  if (!model.complete) {
    Finding finding;
    finding.severity = Severity::warning;
    finding.text = "the trace is incomplete: totals cover only the part that was written";
    finding.evidence = model.incomplete_reason;
    finding.remedy = "let wic-prof run finish, or end it with Ctrl+C, then analyze again";
    outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

}  // namespace wicprof::analyzer
