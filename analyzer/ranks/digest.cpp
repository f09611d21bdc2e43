#include "analyzer/ranks/digest.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/ranks/condense.h"
#include "analyzer/ranks/work_sums.h"
#include "analyzer/trace/wait_view.h"
#include "analyzer/waits/iterations.h"
#include "analyzer/waits/turn_sums.h"

namespace wicprof::analyzer {
namespace {

/// A call takes 15 to 20 bytes of the packed file.
constexpr std::uint64_t kCallsPerHour = 50'000;
/// They take about 2 GB of memory. Fewer per rank would say too little.
constexpr std::uint64_t kCallsOfAJob = 8'000'000, kFewestCalls = 2'048;
constexpr TimeNs kHour = 3600 * kSecond;
/// Names with sums of their own, per process and kind; the others share one.
constexpr std::size_t kMostNames = 16;
/// Per process: those that lacked a CPU longest.
constexpr std::size_t kMostThreads = 32;
constexpr std::size_t kMostNotices = 100;

using store::DigestSumRow;
using store::SumOf;

class Sums {
 public:
  void add(store::ProcessId process, SumOf of, std::uint32_t detail, const std::string& name, TimeNs begin,
           TimeNs end) {
    const auto [at, first] = sums_.try_emplace({process, of, detail, name});
    DigestSumRow& sum = at->second;
    if (first) {
      std::tie(sum.process, sum.of, sum.detail, sum.name) = at->first;
      sum.begin = begin;
      sum.end = end;
    }
    const TimeNs length = std::max<TimeNs>(0, end - begin);
    ++sum.rows;
    sum.begin = std::min(sum.begin, begin);
    sum.end = std::max(sum.end, end);
    sum.total += length;
    sum.longest = std::max(sum.longest, length);
  }

  /// By process and kind, the largest first.
  std::vector<DigestSumRow> take() {
    std::vector<DigestSumRow> all;
    for (auto& [key, sum] : sums_) all.push_back(std::move(sum));
    const auto kind = [](const DigestSumRow& sum) { return std::tuple(sum.process, sum.of); };
    std::stable_sort(all.begin(), all.end(), [&](const DigestSumRow& a, const DigestSumRow& b) {
      return std::pair(kind(a), b.total) < std::pair(kind(b), a.total);
    });
    std::vector<DigestSumRow> kept;
    std::size_t names = 0;
    for (DigestSumRow& sum : all) {
      names = kept.empty() || kind(kept.back()) != kind(sum) ? 1 : names + 1;
      if (names <= kMostNames || sum.of == SumOf::mpi_call) {
        kept.push_back(std::move(sum));
        continue;
      }
      if (names == kMostNames + 1) {
        kept.push_back(std::move(sum));
        kept.back().name.clear();
        kept.back().detail = 0;
        continue;
      }
      DigestSumRow& others = kept.back();
      others.rows += sum.rows;
      others.begin = std::min(others.begin, sum.begin);
      others.end = std::max(others.end, sum.end);
      others.total += sum.total;
      others.longest = std::max(others.longest, sum.longest);
    }
    return kept;
  }

 private:
  std::map<std::tuple<store::ProcessId, SumOf, std::uint32_t, std::string>, DigestSumRow> sums_;
};

/// The process that calls MPI, where there is one: rows of waits do not name theirs.
store::ProcessId only_process(const TraceModel& model) {
  store::ProcessId only = 0;
  for (const store::MpiCommunicatorRow& row : model.mpi_communicators) {
    if (only != 0 && row.process != only) return 0;
    only = row.process;
  }
  return only;
}

std::vector<DigestSumRow> sums_of(const TraceModel& model) {
  Sums sums;
  const store::ProcessId only = only_process(model);
  for (const auto& call : model.mpi_calls)
    sums.add(call.process, SumOf::mpi_call, static_cast<std::uint32_t>(call.operation), {}, call.begin, call.end);
  for (std::size_t i = 0; i < model.waits.size(); ++i) {
    const store::WaitRow wait = model.waits[i];
    sums.add(only, SumOf::wait, 0, model.site_name(wait.site), wait.arrived, wait.resumed);
  }
  for (std::size_t i = 0; i < model.host_waits.size(); ++i) {
    const store::HostWaitRow wait = model.host_waits[i];
    sums.add(wait.process, wait.in_call() ? SumOf::host_wait : SumOf::wait, static_cast<std::uint32_t>(wait.awaited),
             wait.in_call() ? wait.call.text() : model.site_name(wait.site), wait.begin, wait.end);
  }
  for (const auto& signal : model.signals) sums.add(only, SumOf::signal, 0, {}, signal.at, signal.at);
  for (const auto& kernel : model.kernels)
    sums.add(kernel.process, SumOf::kernel, 0, kernel.name, kernel.start, kernel.end);
  for (const auto& copy : model.copies) sums.add(copy.process, SumOf::copy, 0, {}, copy.start, copy.end);
  for (const auto& call : model.calls) sums.add(call.process, SumOf::call, 0, {}, call.start, call.end);
  for (const auto& range : model.nvtx) sums.add(range.process, SumOf::nvtx, 0, range.name, range.start, range.end);
  for (const auto& sample : model.thread_samples)
    sums.add(sample.process, SumOf::thread_sample, 0, {}, sample.begin, sample.end);
  if (const std::optional<Interval> window = iteration_window(model, find_iterations(model)))
    sums.add(only, SumOf::iteration, 0, {}, window->begin, window->end);
  return sums.take();
}

/// One row per thread.
std::vector<store::ThreadSampleRow> thread_sums(const std::vector<store::ThreadSampleRow>& samples) {
  std::map<std::pair<store::ProcessId, std::uint32_t>, store::ThreadSampleRow> threads;
  for (const store::ThreadSampleRow& sample : samples) {
    const auto [at, first] = threads.try_emplace({sample.process, sample.thread}, sample);
    if (first) continue;
    store::ThreadSampleRow& sum = at->second;
    if (!sample.name.empty()) sum.name = sample.name;
    sum.begin = std::min(sum.begin, sample.begin);
    sum.end = std::max(sum.end, sample.end);
    sum.cpu += sample.cpu;
    if (sample.run_delay) sum.run_delay = sum.run_delay.value_or(0) + *sample.run_delay;
    sum.voluntary_switches += sample.voluntary_switches;
    sum.involuntary_switches += sample.involuntary_switches;
  }
  std::map<store::ProcessId, std::vector<store::ThreadSampleRow>> by_process;
  for (auto& [key, sum] : threads) by_process[key.first].push_back(std::move(sum));
  std::vector<store::ThreadSampleRow> all;
  for (auto& [process, list] : by_process) {
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.run_delay.value_or(0) > b.run_delay.value_or(0); });
    if (list.size() > kMostThreads) list.resize(kMostThreads);
    std::move(list.begin(), list.end(), std::back_inserter(all));
  }
  return all;
}

/// One row per thread.
std::vector<store::MpiGapRow> gap_sums(const std::vector<store::MpiGapRow>& gaps) {
  std::map<std::pair<store::ProcessId, std::uint32_t>, store::MpiGapRow> threads;
  for (const store::MpiGapRow& gap : gaps) {
    const auto [at, first] = threads.try_emplace({gap.process, gap.thread}, gap);
    if (first) continue;
    store::MpiGapRow& sum = at->second;
    sum.begin = std::min(sum.begin, gap.begin);
    sum.end = std::max(sum.end, gap.end);
    sum.gaps += gap.gaps;
    sum.outside += gap.outside;
    sum.cpu += gap.cpu;
    sum.run_delay = sum.run_delay && gap.run_delay ? std::optional(*sum.run_delay + *gap.run_delay) : std::nullopt;
  }
  std::vector<store::MpiGapRow> all;
  for (auto& [key, sum] : threads) all.push_back(std::move(sum));
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return all;
}

}  // namespace

std::uint64_t begun_hours(const TraceModel& model) {
  const Interval run = recorded_run(model).value_or(Interval{model.begin, model.end});
  return 1 + static_cast<std::uint64_t>(std::max<TimeNs>(0, run.end - run.begin) / kHour);
}

std::uint64_t most_calls(const TraceModel& model) {
  std::int32_t ranks = 1;
  for (const store::MpiCommunicatorRow& row : model.mpi_communicators) ranks = std::max(ranks, row.size);
  return std::min(begun_hours(model) * kCallsPerHour,
                  std::max(kFewestCalls, kCallsOfAJob / static_cast<std::uint64_t>(ranks)));
}

TraceModel digest(const TraceModel& model, std::uint64_t most) {
  if (model.is_digest()) return model;
  TraceModel to;
  to.digest_sums = sums_of(model);
  std::ranges::move(work_sums(model), std::back_inserter(to.digest_sums));
  std::ranges::move(turn_sums(model), std::back_inserter(to.digest_sums));
  to.name = model.name;
  to.meta = model.meta;
  to.meta.erase(std::string(store::name_of(store::MetaKey::ab_phases)));
  to.meta[std::string(store::name_of(store::MetaKey::digest_of))] = model.name;
  to.stats = model.stats;
  to.processes = model.processes;
  to.devices = model.devices;
  to.mpi_communicators = model.mpi_communicators;
  to.mpi_calls = model.mpi_calls;
  to.mpi_requests = model.mpi_requests;
  to.notices = model.notices;
  if (to.notices.size() > kMostNotices) to.notices.resize(kMostNotices);
  to.thread_samples = thread_sums(model.thread_samples);
  to.mpi_gaps = gap_sums(model.mpi_gaps);
  condense_calls(to, most);
  settle(to);
  return to;
}

}  // namespace wicprof::analyzer
