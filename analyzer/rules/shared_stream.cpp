// Host threads that wait for each other's work, since they launch into one stream.
#include <fmt/format.h>

#include <string>

#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/trace/thread_names.h"
#include "analyzer/words/format.h"
#include "analyzer/work/shared_streams.h"

namespace wicprof::analyzer {
namespace {

/// "main thread, loader (thread 12) and 3 others"
std::string names_of(const TraceModel& model, const SharedStream& found) {
  const ThreadNames names(model);
  const std::size_t all = found.threads.size(), named = all > kNamed ? kNamed - 1 : all;
  std::string text;
  std::size_t at = 0;
  for (const std::uint32_t thread : found.threads) {
    if (at == named) break;
    const bool last = ++at == all;
    text += fmt::format("{}{}", at == 1 ? "" : last ? " and " : ", ", names.of(found.stream.process, thread));
  }
  return all > named ? fmt::format("{} and {} others", text, all - named) : text;
}

}  // namespace

template <>
RuleOutcome apply<struct SharedStreamRule>(const RuleInput& input) {
  RuleOutcome outcome;
  if (input.model.calls.empty() || input.model.kernels.empty()) {
    outcome.refused = input.model.calls.empty() ? "the trace holds no calls of CUDA" : "the trace holds no kernels";
    return outcome;
  }
  for (const SharedStream& found : input.shared_streams) {
    const double share = static_cast<double>(found.held_ns) / static_cast<double>(input.ground_ns());
    if (share < kWarning) continue;
    Finding finding;
    finding.severity = Severity::warning;
    finding.cost = input.time_cost(found.held_ns);
    finding.text = fmt::format("{} wait for each other's work in one stream, though the device has room for both: {}",
                               names_of(input.model, found), format_duration(found.held_ns));
    finding.evidence =
        fmt::format("stream {} of context {}: {} of {} launches by {} began only behind work of another thread",
                    found.stream.stream, found.stream.context, format_count(found.held), format_count(found.launches),
                    count_of(found.threads.size(), "thread"));
    finding.remedy =
        "give each thread a stream of its own: compile with `nvcc --default-stream per-thread`, or create one per "
        "thread (cudaStreamCreateWithFlags with cudaStreamNonBlocking; in PyTorch, torch.cuda.Stream)";
    outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

}  // namespace wicprof::analyzer
