// Waits that gave up: the signal did not arrive before the deadline.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/rules/rule.h"
#include "analyzer/trace/wait_view.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

struct Missed {
  std::optional<TimeNs> first;
  TimeNs longest = 0;
  std::uint32_t iteration = 0;  ///< of the first

  void add(const WaitView& wait) {
    longest = std::max(longest, wait.end - wait.begin);
    if (first && *first <= wait.end) return;
    first = wait.end;
    iteration = wait.iteration;
  }
};

Missed missed_at(const TraceModel& model, SiteId site) {
  Missed missed;
  for_each_wait(model, [&](const WaitView& wait) {
    if (wait.site == site && wait.status == WaitStatus::deadline_passed) missed.add(wait);
  });
  return missed;
}

}  // namespace

template <>
RuleOutcome apply<struct DeadlineMissed>(const RuleInput& input) {
  RuleOutcome outcome;
  if (input.sites.empty()) {
    outcome.refused = "the trace holds no waits at wait sites";
    return outcome;
  }
  for (const SiteStats& site : input.sites) {
    if (site.deadline_missed == 0) continue;
    const Missed missed = missed_at(input.model, site.site);
    Finding finding;
    finding.site = site.site;
    finding.site_name = site.name;
    finding.severity = Severity::critical;
    finding.text = fmt::format("{} at {} gave up at the deadline; the program continued without the signal",
                               count_of(site.deadline_missed, "wait"), one_line(site.name));
    finding.evidence =
        fmt::format("{} of {}; the first gave up {} into the traced time, in iteration {}; the longest waited {}",
                    format_count(site.deadline_missed), count_of(site.count, "wait"),
                    format_duration(missed.first.value_or(input.model.begin) - input.model.begin), missed.iteration,
                    format_duration(missed.longest));
    finding.remedy =
        "check that the program sends the signal for that iteration and that the sender can run: waiting blocks that "
        "fill the GPU keep the sender's kernel from starting, and so does its first launch, unless it is loaded before "
        "(cudaFuncGetAttributes, or CUDA_MODULE_LOADING=EAGER); otherwise raise the deadline";
    outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

}  // namespace wicprof::analyzer
