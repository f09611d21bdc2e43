// Lost records: says so before anything else is believed.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/rules/list.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Where more than one record in a hundred is missing, even the ranking of sites may be wrong.
constexpr double kCriticalShare = 0.01;

}  // namespace

RuleOutcome data_lost(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  std::uint64_t lost = 0;
  std::string where;
  for (const store::StatRow& stat : model.stats) {
    if (stat.severity != store::StatRow::Severity::data_loss || stat.value <= 0) continue;
    lost += static_cast<std::uint64_t>(stat.value);
    const std::string detail = stat.detail.empty() ? "" : fmt::format(" ({})", one_line(stat.detail));
    where += fmt::format("{}{}{}: {}", where.empty() ? "" : "; ", one_line(stat.name), detail,
                         format_count(static_cast<std::uint64_t>(stat.value)));
  }
  if (lost > 0) {
    std::uint64_t kept = model.waits.size() + model.signals.size() + model.host_waits.size() + model.kernels.size() +
                         model.copies.size() + model.calls.size() + model.nvtx.size() + model.syncs.size() +
                         model.cuda_events.size() + model.overheads.size() + model.thread_samples.size();
    // Samples of program counters are lost by the number, and kept by the interval.
    for (const store::PcIntervalRow& interval : model.pc_intervals) {
      kept += interval.samples - std::min(interval.samples, interval.dropped);
    }
    const double share = static_cast<double>(lost) / static_cast<double>(lost + kept);
    Finding finding;
    finding.severity = share > kCriticalShare ? Severity::critical : Severity::warning;
    finding.text =
        fmt::format("{} lost ({} of all): counts are too low, and what follows from them is uncertain",
                    lost == 1 ? "1 record was" : format_count(lost) + " records were", format_percent(share));
    finding.evidence = where;
    finding.remedy =
        "leave the machine a CPU core for wic-prof, write the trace to a faster disk with room, or record a shorter "
        "run";
    outcome.findings.push_back(std::move(finding));
  }
  if (!model.complete) {
    Finding finding;
    finding.severity = Severity::warning;
    finding.text = "the trace is not complete: totals cover only what was written";
    finding.evidence = model.incomplete_reason;
    finding.remedy = "let wic-prof run end by itself or with Ctrl+C, then analyze again";
    outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

}  // namespace wicprof::analyzer
