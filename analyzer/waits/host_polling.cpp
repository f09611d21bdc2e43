#include "analyzer/waits/host_polling.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "analyzer/trace/thread_time.h"
#include "protocol/events/call.h"

namespace wicprof::analyzer {
namespace {

constexpr std::int32_t kNotReady = 600;  // cudaErrorNotReady and CUDA_ERROR_NOT_READY

struct OpenRun {
  PollingRun run;
  std::map<std::string_view, std::uint64_t> calls;
};

using ThreadKey = std::pair<store::ProcessId, std::uint32_t>;

void close(OpenRun& open, std::vector<PollingRun>& runs) {
  if (open.run.not_ready >= kPollingQueries) {
    const auto most = std::max_element(open.calls.begin(), open.calls.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    open.run.call = most->first;
    runs.push_back(std::move(open.run));
  }
  open = {};
}

void add(OpenRun& open, const store::CallRow& call) {
  if (open.run.queries == 0) {
    open.run.process = call.process;
    open.run.thread = call.thread;
    open.run.begin = call.start;
  }
  open.run.queries += call.count();
  if (call.result == kNotReady) open.run.not_ready += call.count();
  open.run.ended_ready = call.result == 0;
  open.run.end = std::max(open.run.end, call.end);
  open.calls[call.name] += call.count();
}

}  // namespace

bool is_query(std::string_view call) {
  static constexpr std::array<std::string_view, 4> kQueries{"cudaEventQuery", "cudaStreamQuery", "cuEventQuery",
                                                            "cuStreamQuery"};
  return std::any_of(kQueries.begin(), kQueries.end(), [&](std::string_view query) {
    return call.starts_with(query) && (call.size() == query.size() || call[query.size()] == '_');
  });
}

std::vector<PollingRun> polling_runs(const TraceModel& model) {
  std::vector<PollingRun> runs;
  std::map<ThreadKey, OpenRun> open;
  std::map<ThreadKey, TimeNs> outer_ends;  // end of the thread's latest outermost call
  for (const store::CallRow& call : model.calls) {
    const ThreadKey thread{call.process, call.thread};
    TimeNs& outer_end = outer_ends[thread];
    if (call.end <= outer_end) continue;  // the driver's part of a runtime call
    outer_end = call.end;
    OpenRun& current = open[thread];
    const bool query = is_query(call.name);
    if (current.run.queries > 0 && (!query || call.start - current.run.end > kPollingGap)) close(current, runs);
    if (query) add(current, call);
  }
  for (auto& [thread, last] : open) close(last, runs);
  std::stable_sort(runs.begin(), runs.end(),
                   [](const PollingRun& a, const PollingRun& b) { return a.begin < b.begin; });
  const ThreadTime times(model);
  for (PollingRun& run : runs) run.cpu_ns = times.cpu_between(run.process, run.thread, run.begin, run.end);
  return runs;
}

std::vector<HostPolling> host_polling(const TraceModel& model) {
  std::map<std::tuple<store::ProcessId, std::uint32_t, std::string>, HostPolling> by_thread;
  for (const PollingRun& run : polling_runs(model)) {
    HostPolling& polling = by_thread[{run.process, run.thread, run.call}];
    polling.process = run.process;
    polling.thread = run.thread;
    polling.call = run.call;
    ++polling.runs;
    polling.queries += run.queries;
    polling.not_ready += run.not_ready;
    polling.total_ns += run.end - run.begin;
    polling.longest_ns = std::max(polling.longest_ns, run.end - run.begin);
    if (run.cpu_ns) polling.cpu_ns = polling.cpu_ns.value_or(0) + *run.cpu_ns;
  }
  std::vector<HostPolling> all;
  for (auto& [key, polling] : by_thread) {
    if (polling.total_ns > 0) {
      polling.queries_per_second = static_cast<double>(polling.queries) * 1e9 / static_cast<double>(polling.total_ns);
    }
    all.push_back(std::move(polling));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const HostPolling& a, const HostPolling& b) { return a.total_ns > b.total_ns; });
  return all;
}

}  // namespace wicprof::analyzer
