// Code that is loaded while kernels run: loading may have to wait for a kernel that itself waits for the loaded code.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "analyzer/rules/rule.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

// The collector's names for CUPTI's kinds of overhead.
bool loads_code(const std::string& what) { return what == "module loading" || what == "lazy function loading"; }

/// Of the kernels that run from `begin` on, the one that ends last; nothing if none runs. Kernels are sorted by start.
std::optional<store::KernelRow> running_at(const TraceModel& model, TimeNs begin, TimeNs end) {
  std::optional<store::KernelRow> found;
  for (const store::KernelRow& kernel : model.kernels) {
    if (kernel.start >= end) break;
    if (kernel.end > begin && kernel.start <= begin && (!found || kernel.end > found->end)) found = kernel;
  }
  return found;
}

bool waits_within(const TraceModel& model, const store::KernelRow& kernel) {
  const auto first = std::partition_point(model.waits.begin(), model.waits.end(),
                                          [&](const store::WaitRow& wait) { return wait.arrived < kernel.start; });
  return std::any_of(first, model.waits.end(), [&](const store::WaitRow& wait) {
    return wait.arrived <= kernel.end && wait.device == kernel.device;
  });
}

}  // namespace

template <>
RuleOutcome apply<struct ModuleLoading>(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  if (model.overheads.empty() || model.kernels.empty()) {
    outcome.refused = model.kernels.empty() ? "the trace holds no kernels"
                                            : "CUPTI reported no overhead records, which show the loading of code";
    return outcome;
  }
  std::uint64_t count = 0;
  TimeNs longest = 0, total = 0;
  std::optional<store::KernelRow> beside;
  bool waiting = false;
  for (const store::OverheadRow& overhead : model.overheads) {
    if (!loads_code(overhead.what)) continue;
    const std::optional<store::KernelRow> kernel = running_at(model, overhead.start, overhead.end);
    if (!kernel) continue;
    const TimeNs took = std::max<TimeNs>(0, overhead.end - overhead.start);
    const bool in_wait = waits_within(model, *kernel);
    ++count;
    total += took;
    if (!beside || (in_wait && !waiting) || (in_wait == waiting && took > longest)) beside = kernel;
    longest = std::max(longest, took);
    waiting = waiting || in_wait;
  }
  if (count == 0) return outcome;
  Finding finding;
  finding.severity = waiting ? Severity::warning : Severity::info;
  finding.text = fmt::format("the program loaded code {} times while {} ran{}", format_count(count),
                             shorten(function_name(one_line(beside->name)), 80),
                             waiting ? ", which waits: if loading has to wait for that kernel, both wait forever" : "");
  finding.evidence =
      fmt::format("loading took {} in all, at most {} at a time", format_duration(total), format_duration(longest));
  finding.remedy =
      "launch every kernel once, or call cudaFuncGetAttributes for it, before the first kernel that waits; or set "
      "CUDA_MODULE_LOADING=EAGER, which loads the code of every library at start";
  outcome.findings.push_back(std::move(finding));
  return outcome;
}

}  // namespace wicprof::analyzer
