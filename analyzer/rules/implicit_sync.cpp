// Memory that a loop allocates and frees: each free waits for the device, which then has nothing to do.
#include <fmt/format.h>

#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Fewer calls are a program's start or end. Not calibrated.
constexpr std::uint64_t kLeastFrees = 10;

}  // namespace

template <>
RuleOutcome apply<struct ImplicitSync>(const RuleInput& input) {
  RuleOutcome outcome;
  if (input.model.calls.empty() || input.model.kernels.empty()) {
    outcome.refused = input.model.calls.empty() ? "the trace holds no calls of CUDA" : "the trace holds no kernels";
    return outcome;
  }
  const MemoryCalls& calls = input.memory_calls;
  const double lost = static_cast<double>(calls.idle_ns) / static_cast<double>(input.ground_ns());
  if (calls.frees < kLeastFrees || lost < kWarning) return outcome;
  Finding finding;
  finding.severity = Severity::warning;
  finding.cost = input.time_cost(calls.idle_ns);
  finding.text = fmt::format("the device has nothing to do while the program allocates and frees memory: {}",
                             format_duration(calls.idle_ns));
  finding.evidence =
      fmt::format("{} that free took {}, {} of it waiting for the device, most in {}; {} that allocate {}",
                  count_of(calls.frees, "call"), format_duration(calls.freeing_ns), format_duration(calls.waiting_ns),
                  one_line(calls.free_call), count_of(calls.allocations, "call"), format_duration(calls.allocating_ns));
  finding.remedy =
      "allocate once, before the loop; or use cudaMallocAsync and cudaFreeAsync, with a release threshold "
      "(cudaMemPoolAttrReleaseThreshold) so that the pool keeps the memory";
  outcome.findings.push_back(std::move(finding));
  return outcome;
}

}  // namespace wicprof::analyzer
