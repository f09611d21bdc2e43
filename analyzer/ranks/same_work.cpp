#include "analyzer/ranks/same_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "analyzer/measure/statistics.h"
#include "analyzer/trace/device_work.h"
#include "analyzer/waits/interrupted_kernels.h"
#include "analyzer/waits/wait_kernels.h"
#include "analyzer/words/runtime_names.h"

namespace wicprof::analyzer {

namespace {

using store::ProcessId;

/// Medians of fewer runs say little.
constexpr std::uint64_t kLeastRuns = 5;
/// Ranks run the same work equally often, but for the first and last step of a recording.
constexpr double kAsOften = 0.1;
/// That share of the rank's time, and of its runs, must be in work that all ranks do. Long kernels may have grids that
/// do not depend on their data; the short ones between them tell more data then.
constexpr double kInCommon = 0.8;
/// That share of the time in common must be in work that is slower, ...
constexpr double kHeldBySlower = 0.5;
/// ... and no kernel may have more than this share of the further time: then it is that kernel's own.
constexpr double kByOneKernel = 0.7;
/// What is as many times as long counts as slower: more of copies, which share links with others.
constexpr double kSlowerKernel = 1.05, kSlowerCopy = 1.2;
// None of these is calibrated.

std::string name_of(const store::KernelRow& kernel) {
  const auto& g = kernel.grid;
  const auto& b = kernel.block;
  return fmt::format("{} <<<{}x{}x{}, {}x{}x{}>>>", kernel.name.text(), g[0], g[1], g[2], b[0], b[1], b[2]);
}

SameRuns runs_of(std::vector<TimeNs>& lengths) {
  SameRuns runs;
  runs.runs = lengths.size();
  for (const TimeNs length : lengths) runs.total += length;
  runs.median = percentile_in_place(lengths, 50);
  return runs;
}

class Collected {
 public:
  Collected(const TraceModel& model, const std::map<ProcessId, RankDevices>* devices) : model_(model) {
    for (const store::MpiCommunicatorRow& row : model.mpi_communicators) {
      Interval& counted = counted_.try_emplace(row.process, Interval{0, kNever}).first->second;
      if (devices == nullptr) continue;
      const auto of = devices->find(row.process);
      if (of != devices->end() && !of->second.nccl.empty()) counted = {of->second.nccl.begin(), of->second.nccl.end()};
    }
  }

  std::map<ProcessId, CommonWork> take() {
    std::map<ProcessId, CommonWork> all;
    take_kernels(all);
    take_copies(all);
    return all;
  }

 private:
  bool counts(ProcessId process, TimeNs start, TimeNs end) const {
    const auto of = counted_.find(process);
    return of != counted_.end() && start >= of->second.begin && end <= of->second.end && end > start;
  }

  void take_kernels(std::map<ProcessId, CommonWork>& all) {
    const WaitKernels kinds(model_, Waiters(model_));
    std::map<std::pair<ProcessId, std::uint32_t>, std::vector<TimeNs>> lengths;
    std::map<std::uint32_t, std::string> names;
    for (std::size_t i = 0; i < model_.kernels.size(); ++i) {
      const store::KernelRow& kernel = model_.kernels[i];
      const std::uint32_t kind = kinds.kind_of(i);
      if (!counts(kernel.process, kernel.start, kernel.end) || kernel.is_graph() || !kinds.waitless(kind)) continue;
      const auto [name, is_new] = names.try_emplace(kind);
      if (is_new && !is_kernel_of_nccl(kernel.name.text())) name->second = name_of(kernel);
      if (!name->second.empty()) lengths[{kernel.process, kind}].push_back(kernel.end - kernel.start);
    }
    for (auto& [key, of] : lengths) all[key.first].kernels[names[key.second]] = runs_of(of);
    const DeviceWork work(model_);
    for (const InterruptedKernels& each : interrupted_kernels(model_, kinds, work, late_starts(model_, work))) {
      if (counted_.contains(each.process)) all[each.process].interrupted += each.lost_ns;
    }
  }

  void take_copies(std::map<ProcessId, CommonWork>& all) {
    std::map<std::tuple<ProcessId, CopyKind, std::uint64_t>, std::vector<TimeNs>> lengths;
    const auto steady = [](CopyMemory memory) { return memory == CopyMemory::pinned || memory == CopyMemory::device; };
    for (const auto& copy : model_.copies) {
      if (!counts(copy.process, copy.start, copy.end) || copy.kind == CopyKind::memset || copy.bytes < kLeastCopied)
        continue;
      if (steady(copy.source) && steady(copy.destination))
        lengths[{copy.process, copy.kind, copy.bytes}].push_back(copy.end - copy.start);
    }
    for (auto& [key, of] : lengths) {
      const auto& [process, kind, bytes] = key;
      all[process].copies[fmt::format("{} of {} bytes", copy_kind_name(kind), bytes)] = runs_of(of);
    }
  }

  const TraceModel& model_;
  std::map<ProcessId, Interval> counted_;
};

/// The median of the others' medians; 0 unless all of them do this work as often.
double usual(const std::string& kind, const SameRuns& late, const std::vector<const SameWork*>& others) {
  std::vector<TimeNs> medians;
  for (const SameWork* const other : others) {
    const auto of = other->find(kind);
    if (of == other->end()) return 0;
    const double runs = static_cast<double>(of->second.runs), own = static_cast<double>(late.runs);
    if (std::abs(runs - own) > std::max(1.0, kAsOften * own)) return 0;
    medians.push_back(of->second.median);
  }
  return static_cast<double>(percentile_in_place(medians, 50));
}

std::optional<SlowerWork> slower(const SameWork& late, const std::vector<const SameWork*>& others, double least_times,
                                 std::size_t least_kinds, double most_by_one) {
  SlowerWork found;
  double all = 0, all_runs = 0, in_common = 0, runs_in_common = 0, held = 0, at_usual = 0, longer = 0, most = 0;
  for (const auto& [kind, runs] : late) {
    all += static_cast<double>(runs.total);
    all_runs += static_cast<double>(runs.runs);
    if (runs.runs < kLeastRuns) continue;
    const double usual_ns = usual(kind, runs, others);
    if (usual_ns <= 0) continue;
    in_common += static_cast<double>(runs.total);
    runs_in_common += static_cast<double>(runs.runs);
    const double times = static_cast<double>(runs.median) / usual_ns;
    if (times < least_times) continue;
    const double expected = static_cast<double>(runs.runs) * usual_ns;
    const double further = expected * (times - 1);
    ++found.kinds;
    held += static_cast<double>(runs.total);
    at_usual += expected;
    longer += further;
    if (further <= most) continue;
    most = further;
    found.most = kind;
    found.most_times = times;
  }
  if (others.empty() || found.kinds < least_kinds) return std::nullopt;
  if (in_common < kInCommon * all || runs_in_common < kInCommon * all_runs) return std::nullopt;
  if (held < kHeldBySlower * in_common || most > most_by_one * longer) return std::nullopt;
  found.times = 1 + longer / at_usual;
  found.longer_ns = static_cast<TimeNs>(longer);
  return found;
}

}  // namespace

std::map<ProcessId, CommonWork> same_work(const TraceModel& model, const std::map<ProcessId, RankDevices>* devices) {
  return Collected(model, devices).take();
}

std::optional<SlowerWork> slower_kernels(const SameWork& late, const std::vector<const SameWork*>& others) {
  return slower(late, others, kSlowerKernel, kLeastKinds, kByOneKernel);
}

std::optional<SlowerWork> slower_copies(const SameWork& late, const std::vector<const SameWork*>& others) {
  return slower(late, others, kSlowerCopy, 1, 1);
}

}  // namespace wicprof::analyzer
