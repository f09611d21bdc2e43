#include "analyzer/ranks/rank_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/measure/numbered_names.h"
#include "analyzer/words/runtime_names.h"
#include "protocol/library_domains.h"
#include "protocol/mpi_operation.h"
#include "protocol/python_frame.h"

namespace wicprof::analyzer {

namespace {

using store::ProcessId;
using Devices = std::map<ProcessId, RankDevices>;
using Thread = std::pair<ProcessId, std::uint32_t>;

/// A thread's time in which it works for its rank.
struct WorkingTime {
  TimeNs begin = kNever, end = 0;
  CoveredTime not_counted;  // in [begin, end)

  TimeNs within(TimeNs from, TimeNs to) const {
    from = std::max(from, begin);
    to = std::min(to, end);
    return to <= from ? 0 : to - from - not_counted.covered(from, to);
  }
};
using WorkingTimes = std::map<Thread, WorkingTime>;

WorkingTimes between_calls(const TraceModel& model) {
  std::map<Thread, std::vector<Interval>> calls;
  for (const store::MpiCallRow& call : model.mpi_calls) {
    if (!is_nccl(call.operation)) calls[{call.process, call.thread}].push_back({call.begin, call.end});
  }
  WorkingTimes times;
  for (auto& [thread, list] : calls) {
    WorkingTime& of = times[thread];
    of.not_counted = CoveredTime(std::move(list));
    if (of.not_counted.empty()) continue;
    of.begin = of.not_counted.begin();
    of.end = of.not_counted.end();
  }
  return times;
}

WorkingTimes beside_nccl(const TraceModel& model, const Devices& devices) {
  std::map<Thread, std::vector<Interval>> waits;
  for (const auto& [process, of] : devices) {
    if (!of.nccl.empty()) waits[{process, process}];
  }
  for (const store::MpiCallRow& call : model.mpi_calls) {
    if (is_nccl(call.operation) && devices.contains(call.process)) waits[{call.process, call.thread}];
  }
  for (std::size_t i = 0; i < model.host_waits.size(); ++i) {
    const store::HostWaitRow wait = model.host_waits[i];
    const auto of = waits.find({wait.process, wait.thread});
    if (wait.in_call() && of != waits.end()) of->second.push_back({wait.begin, wait.end});
  }
  WorkingTimes times;
  for (auto& [thread, list] : waits) {
    const CoveredTime& nccl = devices.at(thread.first).nccl;
    times[thread] = {nccl.begin(), nccl.end(), CoveredTime(std::move(list))};
  }
  return times;
}

/// Names are few, and stay where they are.
class PlacesOfRanges {
 public:
  /// nullptr: the range is not the program's.
  const RankPlace* of(const store::NvtxRow& range) {
    const auto [known, added] = places_.try_emplace({&range.name.text(), &range.domain.text()}, nullptr);
    if (!added) return known->second;
    if (std::optional<RankPlace> found = place(range.name, range.domain); found)
      known->second = &*different_.insert(*std::move(found)).first;
    return known->second;
  }

 private:
  static std::optional<RankPlace> place(std::string_view name, std::string_view domain) {
    // PyTorch marks calls of NCCL in no domain.
    if (is_library_domain(domain) || domain == kOperatorsDomain || name.empty() || name.starts_with("nccl:"))
      return std::nullopt;
    if (domain != kPythonDomain) return RankPlace{PlaceKind::range, without_numbers(name)};
    const std::optional<PythonFrame> frame = python_frame(name);
    if (!frame || !is_programs(*frame)) return std::nullopt;
    return RankPlace{PlaceKind::function, fmt::format("{} ({}:{})", frame->function, frame->file, frame->line)};
  }

  std::map<std::pair<const std::string*, const std::string*>, const RankPlace*> places_;
  std::set<RankPlace> different_;  // "step 1" and "step 2" are one
};

/// A range that never closed has the recording's end. The last one of many that a program closes is short.
bool lasts_until_the_end(const store::NvtxRow& range, const WorkingTime& working) {
  return range.end >= working.end && 2 * (working.end - range.start) >= working.end - working.begin;
}

void add_ranges(const TraceModel& model, const WorkingTimes& times, std::map<ProcessId, PlaceTimes>& all) {
  PlacesOfRanges places;
  std::map<std::pair<Thread, const RankPlace*>, TimeNs> counted_until;  // a range within one of its name counts once
  for (const store::NvtxRow& range : model.nvtx) {                      // in order of begin
    if (range.kind != NvtxKind::range) continue;
    const auto thread = times.find({range.process, range.thread});
    if (thread == times.end()) continue;
    const WorkingTime& working = thread->second;
    if (lasts_until_the_end(range, working)) continue;
    const RankPlace* const place = places.of(range);
    if (place == nullptr) continue;
    TimeNs& until = counted_until[{thread->first, place}];
    const TimeNs time = working.within(std::max(range.start, until), range.end);
    until = std::max(until, range.end);
    if (time > 0) all[range.process][*place] += time;
  }
}

/// `devices`: only kernels from the first to the last of NCCL's, and none of these.
void add_kernels(const TraceModel& model, const Devices* devices, std::map<ProcessId, PlaceTimes>& all) {
  std::map<std::pair<ProcessId, const std::string*>, TimeNs> times;
  for (const auto& kernel : model.kernels) {
    TimeNs from = kernel.start, to = kernel.end;
    if (devices != nullptr) {
      const auto of = devices->find(kernel.process);
      if (of == devices->end() || of->second.nccl.empty()) continue;
      from = std::max(from, of->second.nccl.begin());
      to = std::min(to, of->second.nccl.end());
    }
    const std::string& name = kernel.name;
    if (to > from) times[{kernel.process, &name}] += to - from;
  }
  for (const auto& [key, time] : times) {
    if (!is_kernel_of_nccl(*key.second)) all[key.first][{PlaceKind::kernel, *key.second}] += time;
  }
}

}  // namespace

std::string_view place_kind_name(PlaceKind kind) {
  constexpr std::string_view kNames[] = {"range", "function", "kernel"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::map<ProcessId, PlaceTimes> rank_places(const TraceModel& model, const Devices* devices) {
  std::map<ProcessId, PlaceTimes> all;
  add_ranges(model, devices == nullptr ? between_calls(model) : beside_nccl(model, *devices), all);
  add_kernels(model, devices, all);
  return all;
}

}  // namespace wicprof::analyzer
