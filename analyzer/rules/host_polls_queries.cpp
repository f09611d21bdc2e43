// Host threads that wait for the GPU by calling a query function in a loop.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/rules/rule.h"
#include "analyzer/waits/host_polling.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Shares of the time from the first call to the last. Below 1 % the polling is too short to notice; from half on, the
/// thread does little else. Not calibrated.
constexpr double kWorthNaming = 0.01;
constexpr double kCritical = 0.5;

std::string_view blocking_twin(std::string_view call) {
  if (call.starts_with("cudaEvent")) return "cudaEventSynchronize";
  if (call.starts_with("cudaStream")) return "cudaStreamSynchronize";
  return call.starts_with("cuEvent") ? "cuEventSynchronize" : "cuStreamSynchronize";
}

std::string remedy_for(std::string_view call) {
  const bool runtime = call.starts_with("cuda");
  const bool event = call.find("Event") != std::string_view::npos;
  std::string remedy = fmt::format("call {} instead", blocking_twin(call));
  if (event) {
    remedy += fmt::format(", on an event created with {}, so that the thread sleeps",
                          runtime ? "cudaEventBlockingSync" : "CU_EVENT_BLOCKING_SYNC");
  } else {
    remedy += runtime ? ", after cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), so that the thread sleeps"
                      : ", in a context created with CU_CTX_SCHED_BLOCKING_SYNC, so that the thread sleeps";
  }
  return remedy + "; or use a callback (cudaLaunchHostFunc) where the thread has other work";
}

}  // namespace

template <>
RuleOutcome apply<struct HostPollsQueries>(const RuleInput& input) {
  const TraceModel& model = input.model;
  RuleOutcome outcome;
  if (model.calls.empty()) {
    outcome.refused = "the trace holds no calls of the CUDA driver or runtime";
    return outcome;
  }
  // The host may poll before the device's first record and after its last.
  TimeNs first = model.calls.front().start, last = first;
  for (const store::CallRow& call : model.calls) {
    first = std::min(first, call.start);
    last = std::max(last, call.end);
  }
  for (const HostPolling& polling : input.host_polling) {
    const double share = last > first ? static_cast<double>(polling.total_ns) / static_cast<double>(last - first) : 0;
    if (share < kWorthNaming) continue;
    Finding finding;
    finding.severity = share >= kCritical ? Severity::critical : Severity::warning;
    finding.text = fmt::format("thread {} polls the GPU with {}: {} in {}, {} of the traced time", polling.thread,
                               one_line(polling.call), format_count(polling.queries) + " queries",
                               format_duration(polling.total_ns), format_percent(share));
    finding.evidence =
        fmt::format("{}, {} queries per second, {} of them answered \"not ready\"", count_of(polling.runs, "run"),
                    format_number(polling.queries_per_second), format_count(polling.not_ready));
    if (polling.cpu_ns) finding.evidence += fmt::format(", about {} of CPU time", format_duration(*polling.cpu_ns));
    finding.remedy = remedy_for(polling.call);
    outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

}  // namespace wicprof::analyzer
