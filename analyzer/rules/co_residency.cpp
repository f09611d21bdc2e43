// Waiting kernels whose blocks do not all fit the device at once: resident blocks may wait for blocks that cannot
// start.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/rules/remedy.h"
#include "analyzer/rules/rule.h"
#include "analyzer/words/format.h"
#include "analyzer/words/missing.h"
#include "analyzer/work/kernels.h"

namespace wicprof::analyzer {
namespace {

/// The site with the most waits during a launch.
struct BusiestSite {
  SiteId site = 0;
  std::uint64_t waits = 0;
};

BusiestSite busiest_site_during(const TraceModel& model, const store::KernelRow& kernel) {
  std::map<SiteId, std::uint64_t> counts;
  auto wait = std::partition_point(model.waits.begin(), model.waits.end(),
                                   [&](const store::WaitRow& row) { return row.arrived < kernel.start; });
  for (; wait != model.waits.end() && wait->arrived <= kernel.end; ++wait) {
    if (wait->device == kernel.device && wait->resumed <= kernel.end) ++counts[wait->site];
  }
  BusiestSite most;
  for (const auto& [site, count] : counts) {
    if (count > most.waits) most = {site, count};
  }
  return most;
}

/// The longest launch of each kernel.
std::map<std::string_view, store::KernelRow> longest_launches(const TraceModel& model) {
  std::map<std::string_view, store::KernelRow> longest;
  for (const store::KernelRow& kernel : model.kernels) {
    store::KernelRow& known = longest.try_emplace(kernel.name, kernel).first->second;
    if (kernel.end - kernel.start > known.end - known.start) known = kernel;
  }
  return longest;
}

}  // namespace

template <>
RuleOutcome apply<struct CoResidency>(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  if (model.waits.empty() || model.kernels.empty()) {
    outcome.refused = model.waits.empty() ? missing::kNoKernelWaits : "the trace holds no kernels";
    return outcome;
  }
  const auto launches = longest_launches(model);
  bool any_known = false;
  for (const KernelStats& kernel : input.kernels) {
    if (!kernel.waves) continue;
    any_known = true;
    if (kernel.waves->waves <= 1) continue;
    const store::KernelRow& launch = launches.at(kernel.name);
    const BusiestSite busiest = busiest_site_during(model, launch);
    if (busiest.waits == 0) continue;
    Finding finding;
    finding.site = busiest.site;
    finding.site_name = model.site_name(busiest.site);
    finding.severity = Severity::warning;
    finding.text = fmt::format(
        "blocks of {} wait at {}, but not all blocks fit the device at once: the waiting blocks keep the others out",
        shorten(function_name(one_line(kernel.name)), 80), one_line(finding.site_name));
    finding.evidence = fmt::format(
        "{} in {:.2f} waves; {} at the site during the longest launch; the kernel deadlocks as soon as a resident "
        "block waits for one that is not resident",
        count_of(kernel.blocks, "block"), kernel.waves->waves, count_of(busiest.waits, "wait"));
    finding.remedy = fmt::format(
        "launch at most {} blocks and let each loop over more work, or launch with cudaLaunchCooperativeKernel, which "
        "refuses a grid that does not fit; parking frees issue slots, but makes no block resident",
        format_count(static_cast<std::uint64_t>(static_cast<double>(kernel.blocks) / kernel.waves->waves + 0.5)));
    finding.command = park_command(model, finding.site_name, StrategyId::automatic);
    outcome.findings.push_back(std::move(finding));
  }
  if (!any_known) outcome.refused = "the trace lacks the devices' limits, which determine how many blocks fit";
  return outcome;
}

}  // namespace wicprof::analyzer
