// Host threads that wait for the GPU by calling a query function in a loop.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/trace/thread_names.h"
#include "analyzer/waits/host_polling.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Share of the time from the first call to the last from which on the thread does little else. Not calibrated.
constexpr double kLittleElse = 0.5;

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

double share_of_time(const HostPolling& polling, TimeNs time) {
  return time > 0 ? static_cast<double>(polling.total_ns) / static_cast<double>(time) : 0;
}

std::string numbers_of(const HostPolling& polling) {
  std::string text =
      fmt::format("{}, {} queries per second, {} of them answered \"not ready\"", count_of(polling.runs, "run"),
                  format_number(polling.queries_per_second), format_count(polling.not_ready));
  if (polling.cpu_ns) text += fmt::format(", about {} of CPU time", format_duration(*polling.cpu_ns));
  return text;
}

/// `threads`: with one call, the longest time first. `time`: from the first call of the program to the last.
Finding finding_for(const TraceModel& model, const std::vector<const HostPolling*>& threads, TimeNs time) {
  const ThreadNames names(model);
  const HostPolling& worst = *threads.front();
  const std::string name = names.of(worst.process, worst.thread);
  const double share = share_of_time(worst, time);
  Finding finding;
  finding.cost = Cost{Cost::Unit::time, std::min(share, 1.0)};
  finding.severity = share >= kLittleElse ? Severity::critical : Severity::warning;
  const std::string numbers = fmt::format("{} queries in {}, {} of the traced time", format_count(worst.queries),
                                          format_duration(worst.total_ns), format_percent(share));
  if (threads.size() == 1) {
    finding.text = fmt::format("{} polls the GPU with {}: {}", name, one_line(worst.call), numbers);
    finding.evidence = numbers_of(worst);
  } else {
    finding.text = fmt::format("{} poll the GPU with {}; the worst, {}: {}", count_of(threads.size(), "thread"),
                               one_line(worst.call), name, numbers);
    const std::size_t named = std::min(kNamed, threads.size());
    for (std::size_t i = 0; i < named; ++i) {
      finding.evidence +=
          fmt::format("{}{}: {} in {}", i == 0 ? "" : "; ", names.of(threads[i]->process, threads[i]->thread),
                      numbers_of(*threads[i]), format_duration(threads[i]->total_ns));
    }
    if (named < threads.size())
      finding.evidence += fmt::format("; and {}", count_of(threads.size() - named, "more thread"));
  }
  finding.remedy = remedy_for(worst.call);
  return finding;
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
  // One finding per call, for all threads that poll with it.
  std::vector<std::vector<const HostPolling*>> calls;
  for (const HostPolling& polling : input.host_polling) {
    if (share_of_time(polling, last - first) < kWorthNaming) continue;
    const auto same = std::find_if(calls.begin(), calls.end(),
                                   [&](const auto& threads) { return threads.front()->call == polling.call; });
    if (same != calls.end()) {
      same->push_back(&polling);
    } else {
      calls.push_back({&polling});
    }
  }
  for (const auto& threads : calls) outcome.findings.push_back(finding_for(model, threads, last - first));
  return outcome;
}

}  // namespace wicprof::analyzer
