// Waiting kernels of which not all blocks fit the device at once: those that wait keep those out that they may wait
// for.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "analyzer/rules/list.h"
#include "analyzer/rules/remedy.h"
#include "analyzer/words/format.h"
#include "analyzer/work/kernels.h"

namespace wicprof::analyzer {
namespace {

/// The site with the most waiting during a launch, and how many waited there.
struct Waiting {
  SiteId site = 0;
  std::uint64_t waits = 0;
};

Waiting waiting_during(const TraceModel& model, const store::KernelRow& kernel) {
  std::map<SiteId, std::uint64_t> counts;
  auto wait = std::partition_point(model.waits.begin(), model.waits.end(),
                                   [&](const store::WaitRow& row) { return row.arrived < kernel.start; });
  for (; wait != model.waits.end() && wait->arrived <= kernel.end; ++wait) {
    if (wait->device == kernel.device && wait->resumed <= kernel.end) ++counts[wait->site];
  }
  Waiting most;
  for (const auto& [site, count] : counts) {
    if (count > most.waits) most = {site, count};
  }
  return most;
}

/// Of each kernel that needs more than one wave, the longest launch.
std::map<std::string_view, const store::KernelRow*> longest_launches(const TraceModel& model) {
  std::map<std::string_view, const store::KernelRow*> longest;
  for (const store::KernelRow& kernel : model.kernels) {
    const store::KernelRow*& known = longest[kernel.name];
    if (known == nullptr || kernel.end - kernel.start > known->end - known->start) known = &kernel;
  }
  return longest;
}

}  // namespace

RuleOutcome co_residency(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  if (model.waits.empty() || model.kernels.empty()) {
    outcome.refused = model.waits.empty() ? "the trace holds no waits inside kernels" : "the trace holds no kernels";
    return outcome;
  }
  const auto launches = longest_launches(model);
  bool any_known = false;
  for (const KernelStats& kernel : input.kernels) {
    if (!kernel.waves) continue;
    any_known = true;
    if (kernel.waves->waves <= 1) continue;
    const store::KernelRow& launch = *launches.at(kernel.name);
    const Waiting waiting = waiting_during(model, launch);
    if (waiting.waits == 0) continue;
    Finding finding;
    finding.site = waiting.site;
    finding.site_name = model.site_name(waiting.site);
    finding.severity = Severity::warning;
    finding.text = fmt::format(
        "blocks of {} wait at {}, but not all of them fit the device at once: those that wait keep the "
        "others out",
        shorten(function_name(one_line(kernel.name)), 80), one_line(finding.site_name));
    finding.evidence = fmt::format(
        "{} in {:.2f} waves; {} there during its longest launch; it hangs as soon as one that has "
        "a place waits for one that has none",
        count_of(kernel.blocks, "block"), kernel.waves->waves, count_of(waiting.waits, "wait"));
    finding.remedy = fmt::format(
        "launch at most {} blocks and let each do more (a loop over its work), or launch with "
        "cudaLaunchCooperativeKernel, "
        "which refuses what does not fit; parking ({}) frees turns, but no places",
        format_count(static_cast<std::uint64_t>(static_cast<double>(kernel.blocks) / kernel.waves->waves + 0.5)),
        park_command(finding.site_name, StrategyId::automatic));
    outcome.findings.push_back(std::move(finding));
  }
  if (!any_known) outcome.refused = "the devices' limits, from which follows how many blocks fit, are not recorded";
  return outcome;
}

}  // namespace wicprof::analyzer
