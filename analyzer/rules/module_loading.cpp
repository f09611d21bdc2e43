// Code that is loaded while kernels run: loading may have to wait for a kernel that waits for what is being loaded.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analyzer/rules/list.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

// As the collector names CUPTI's kinds of overhead.
bool loads(const std::string& what) { return what == "module loading" || what == "lazy function loading"; }

/// The kernel that runs at a time and ends last; nullptr without. Kernels are in order of their start.
const store::KernelRow* running_at(const TraceModel& model, TimeNs begin, TimeNs end) {
  const store::KernelRow* found = nullptr;
  for (const store::KernelRow& kernel : model.kernels) {
    if (kernel.start >= end) break;
    if (kernel.end > begin && kernel.start <= begin && (found == nullptr || kernel.end > found->end)) found = &kernel;
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

RuleOutcome module_loading(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  if (model.overheads.empty() || model.kernels.empty()) {
    outcome.refused = model.kernels.empty() ? "the trace holds no kernels"
                                            : "CUPTI told of no overhead, which is where the loading of code shows";
    return outcome;
  }
  std::uint64_t count = 0;
  TimeNs longest = 0, total = 0;
  const store::KernelRow* beside = nullptr;
  bool waiting = false;
  for (const store::OverheadRow& overhead : model.overheads) {
    if (!loads(overhead.what)) continue;
    const store::KernelRow* kernel = running_at(model, overhead.start, overhead.end);
    if (kernel == nullptr) continue;
    const TimeNs took = std::max<TimeNs>(0, overhead.end - overhead.start);
    const bool in_wait = waits_within(model, *kernel);
    ++count;
    total += took;
    if (beside == nullptr || (in_wait && !waiting) || (in_wait == waiting && took > longest)) beside = kernel;
    longest = std::max(longest, took);
    waiting = waiting || in_wait;
  }
  if (count == 0) return outcome;
  Finding finding;
  finding.severity = waiting ? Severity::warning : Severity::info;
  finding.text =
      fmt::format("code was loaded {} times while {} ran{}", format_count(count),
                  shorten(function_name(one_line(beside->name)), 80),
                  waiting ? ", which waits: where loading has to wait for that kernel, both wait for ever" : "");
  finding.evidence = fmt::format("{} in all, at most {}", format_duration(total), format_duration(longest));
  finding.remedy =
      "CUDA_MODULE_LOADING=EAGER, which wic-prof run sets unless the environment says otherwise; or launch every "
      "kernel once, "
      "or call cudaFuncGetAttributes for it, before the first one that waits";
  outcome.findings.push_back(std::move(finding));
  return outcome;
}

}  // namespace wicprof::analyzer
