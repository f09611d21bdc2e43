// Kernels that poll, found from outside: the program need not know of wic-prof.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analyzer/machine_code/polling_loops.h"
#include "analyzer/rules/list.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

// Of a device's samples, with those at the barrier behind the loop: what polls takes that part of the warps that its
// SMs hold from work. Not measured limits, but what is worth somebody's time.
constexpr double kCritical = 0.5;
constexpr double kWarning = 0.05;
/// A guess below this is worth a mention only.
constexpr double kLikely = 0.35;
/// A wait that sleeps for most of its time leaves the issue slots to others.
constexpr double kMostlySleeping = 0.5;

/// Waits of our own runtime can be toggled; their loop stands in its headers.
bool is_own(const PollingLoop& loop) {
  return loop.file.starts_with("wic/") || loop.file.find("/wic/") != std::string::npos;
}

Severity severity_of(const PollingLoop& loop) {
  if (share_of(loop.reasons, "sleeping") >= kMostlySleeping || loop.confidence < kLikely) return Severity::info;
  const double share = loop.share + loop.behind_share;
  if (share >= kCritical && loop.from_instructions) return Severity::critical;
  return share >= kWarning ? Severity::warning : Severity::info;
}

std::string beside_text(const PollingLoop& loop) {
  if (loop.beside.empty()) return {};
  std::string text = fmt::format("; beside it ran {}", shorten(function_name(one_line(loop.beside.front())), 60));
  if (loop.beside.size() > 1) text += fmt::format(" and {}", count_of(loop.beside.size() - 1, "other kernel"));
  return text;
}

std::string remedy_of(const TraceModel& model, const PollingLoop& loop) {
  if (is_own(loop) && !model.sites.empty()) return "wic-prof toggle park";
  switch (loop.kind) {
    case LoopKind::lock:
      return "let one thread of each block take the lock for all, or hold it for less; where it guards a queue, "
             "wic channels (docs/channels.md) need none";
    case LoopKind::grid_barrier:
      return "let fewer blocks take part, or split the kernel there; a wait of its own through wic::wait_until "
             "(docs/waiting.md) can be parked";
    default:
      if (loop.behind > 0) {  // one thread of a block polls for all already
        return "wait through wic::wait_until (docs/waiting.md), which can park, or let fewer blocks wait";
      }
      return "let one thread of a block poll and the rest stand at a barrier, or wait through wic::wait_until "
             "(docs/waiting.md), which can park";
  }
}

std::string evidence_of(const TraceModel& model, const PollingLoop& loop) {
  std::string text;
  for (const std::string& line : loop.evidence) text += (text.empty() ? "" : "; ") + line;
  const std::string missing = model.meta_value("sass_missing");
  if (!loop.from_instructions && !missing.empty()) text += "; " + one_line(missing);
  return text + fmt::format(" (confidence {:.2f})", loop.confidence);
}

}  // namespace

RuleOutcome polling_kernel(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  if (model.pc_totals.empty()) {
    const bool asked = model.meta_value("trace").find("pcsampling") != std::string::npos;
    outcome.refused = !model.pc_intervals.empty() ? "no sample fell into a kernel of the program"
                      : asked ? "program counters were sampled, but none while something was recorded"
                              : "program counters were not sampled (wic-prof run --trace=cuda,pcsampling)";
    return outcome;
  }
  for (const PollingLoop& loop : input.polling_loops) {
    Finding finding;
    finding.severity = severity_of(loop);
    const double share = loop.share + loop.behind_share;
    finding.text = fmt::format("{} {} at {}: {} of the sampled time of {}{}",
                               shorten(function_name(one_line(loop.function)), 80), what_it_does(loop), place_of(loop),
                               format_percent(share), one_line(model.device_name(loop.device)), beside_text(loop));
    finding.evidence = evidence_of(model, loop);
    finding.remedy = remedy_of(model, loop);
    outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

}  // namespace wicprof::analyzer
