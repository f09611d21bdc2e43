// Kernels that poll, found from samples of program counters: works for programs that do not use wic.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "analyzer/machine_code/polling_loops.h"
#include "analyzer/rules/remedy.h"
#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/trace/modes.h"
#include "analyzer/trace/run_command.h"
#include "analyzer/words/format.h"
#include "analyzer/words/patch_and_compare.h"

namespace wicprof::analyzer {
namespace {

/// Share of a device's samples, in the loop and at the barrier behind it: the part of the resident warps that does no
/// work. Not calibrated.
constexpr double kCritical = 0.5;
/// Below this confidence the finding is only informational. Not calibrated.
constexpr double kLikely = 0.35;
/// With fewer samples, in the loop and at the barrier behind it, the finding is only informational. Not calibrated.
constexpr std::uint64_t kMinSamples = 20;
/// A wait that sleeps for more than half of its time leaves the issue slots to others.
constexpr double kMostlySleeping = 0.5;

/// Whether the loop belongs to wic's own headers, so that the user can toggle the wait.
bool is_wic_loop(const PollingLoop& loop) {
  return loop.file.starts_with("wic/") || loop.file.find("/wic/") != std::string::npos;
}

Severity severity_of(const PollingLoop& loop) {
  if (loop.samples + loop.behind < kMinSamples) return Severity::info;
  if (share_of(loop.reasons, "sleeping") >= kMostlySleeping || loop.confidence < kLikely) return Severity::info;
  const double share = loop.share + loop.behind_share;
  if (share >= kCritical && loop.from_instructions) return Severity::critical;
  return share >= kWarning ? Severity::warning : Severity::info;
}

std::string concurrent_kernels(const PollingLoop& loop) {
  if (loop.beside.empty()) return {};
  std::string text = fmt::format("; concurrently with {}", shorten(function_name(one_line(loop.beside.front())), 60));
  if (loop.beside.size() > 1) text += fmt::format(" and {}", count_of(loop.beside.size() - 1, "other kernel"));
  return text;
}

std::string remedy_of(const TraceModel& model, const PollingLoop& loop) {
  if (is_wic_loop(loop) && !model.sites.empty()) {
    const std::string compare = model.complete ? run_command(model, "--ab") : std::string();
    return compare.empty() ? "wic-prof toggle park" : compare;
  }
  if (loop.sites.size() == 1) return park_command(model, model.site_name(loop.sites.front()));
  switch (loop.kind) {
    case LoopKind::lock:
      return "let one thread of each block take the lock for all, or hold the lock for less time; if it guards a "
             "queue, wic channels (wic-prof explain channel) need no lock";
    case LoopKind::grid_barrier:
      return "let fewer blocks take part, or split the kernel at the barrier; waits through wic::wait_until "
             "(wic-prof explain wait_until) can park";
    default:
      if (loop.behind > 0) {  // one thread per block already polls for the others
        return "wait through wic::wait_until (wic-prof explain wait_until), which can park, or let fewer blocks wait";
      }
      return "let one thread per block poll while the others wait at a barrier, or wait through wic::wait_until "
             "(wic-prof explain wait_until), which can park";
  }
}

/// From this share of a device's samples on, those that CUPTI does not deliver are named. Not calibrated: a quarter of
/// all were in functions that kernels call in a build with -G (docs/results/called_functions.h200.txt).
constexpr double kHidden = 0.05;

/// Where samples are missing that could show a wait.
void add_hidden(const TraceModel& model, std::vector<Finding>& findings) {
  struct Samples {
    std::uint64_t all = 0, hidden = 0;
  };
  std::map<DeviceId, Samples> devices;
  for (const store::PcIntervalRow& interval : model.pc_intervals) {
    Samples& of = devices[interval.device];
    of.all += interval.samples;
    of.hidden += interval.foreign_samples;
  }
  for (const auto& [device, of] : devices) {
    const double share = of.all == 0 ? 0 : static_cast<double>(of.hidden) / static_cast<double>(of.all);
    if (share < kHidden) continue;
    Finding finding;
    finding.severity = Severity::info;
    finding.text = fmt::format("{} of the samples of {} name no code, so whether that code polls is unknown",
                               format_percent(share), one_line(model.device_name(device)));
    finding.evidence = fmt::format(
        "CUPTI counts {} of {} samples as none of this program's kernels and does not say where they are; so it does "
        "with functions that kernels call, which builds with -G have, and with kernels of other programs",
        format_count(of.hidden), count_of(of.all, "sample"));
    finding.remedy =
        "build without -G, so that the compiler inlines what kernels call, and record again with nothing "
        "else on the GPU";
    findings.push_back(std::move(finding));
  }
}

std::string evidence_of(const TraceModel& model, const PollingLoop& loop) {
  std::string text;
  for (const std::string& line : loop.evidence) text += (text.empty() ? "" : "; ") + line;
  const std::string missing = model.meta_value(store::MetaKey::sass_missing);
  if (!loop.from_instructions && !missing.empty()) text += "; " + one_line(missing);
  return text + fmt::format(" (confidence {:.2f})", loop.confidence);
}

}  // namespace

template <>
RuleOutcome apply<struct PollingKernel>(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  if (model.pc_totals.empty()) {
    const bool asked = model.meta_value(store::MetaKey::trace).find("pcsampling") != std::string::npos;
    outcome.refused = !model.pc_intervals.empty() ? "no sample of a program counter is in a kernel of the program"
                      : asked                     ? "wic-prof sampled program counters, but none while it recorded"
                                                  : "wic-prof did not sample program counters (record them with "
                                                    "wic-prof run --trace=cuda,pcsampling)";
    add_hidden(model, outcome.findings);
    return outcome;
  }
  for (const PollingLoop& loop : input.polling_loops) {
    Finding finding;
    finding.severity = severity_of(loop);
    finding.cost = Cost{Cost::Unit::time, loop.share + loop.behind_share};
    const double share = loop.share + loop.behind_share;
    finding.text =
        fmt::format("{} {} at {}: {} of the sampled time of {}{}", shorten(function_name(one_line(loop.function)), 80),
                    what_it_does(loop), place_of(loop), format_percent(share), one_line(model.device_name(loop.device)),
                    concurrent_kernels(loop));
    if (loop.sites.size() == 1) {
      finding.site = loop.sites.front();
      finding.site_name = model.site_name(finding.site);
      finding.text += fmt::format("; it is the wait site {}", one_line(finding.site_name));
    }
    finding.evidence = evidence_of(model, loop);
    finding.remedy = remedy_of(model, loop);
    // Without a change of the program, where it holds the kernel's PTX.
    if (!finding.remedy.starts_with("wic-prof ") && !is_patched(model))
      finding.command = run_command(model, kPatchAndCompare);
    outcome.findings.push_back(std::move(finding));
  }
  add_hidden(model, outcome.findings);
  return outcome;
}

}  // namespace wicprof::analyzer
