#include "analyzer/ranks/rank_devices.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "protocol/mpi_operation.h"

namespace wicprof::analyzer {

namespace {

/// Whether a kernel is one of NCCL's, also where no call of NCCL is known for it.
class NamesOfNccl {
 public:
  bool contain(const std::string& name) {
    const auto [found, is_new] = known_.try_emplace(&name, false);
    if (is_new) found->second = name.find("nccl") != std::string::npos && name.find("Kernel") != std::string::npos;
    return found->second;
  }

 private:
  std::unordered_map<const std::string*, bool> known_;  // names are few, and stay where they are
};

}  // namespace

CoveredTime::CoveredTime(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  TimeNs length = 0;
  for (const Interval& each : intervals) {
    if (each.end <= each.begin) continue;
    if (!parts_.empty() && each.begin <= parts_.back().end) {
      parts_.back().end = std::max(parts_.back().end, each.end);
      continue;
    }
    if (!parts_.empty()) length += parts_.back().end - parts_.back().begin;
    length_to_.push_back(length);
    parts_.push_back(each);
  }
}

TimeNs CoveredTime::before(TimeNs time) const {
  const auto next =
      std::partition_point(parts_.begin(), parts_.end(), [&](const Interval& part) { return part.begin < time; });
  if (next == parts_.begin()) return 0;
  const auto last = next - 1;
  return length_to_[static_cast<std::size_t>(last - parts_.begin())] + std::min(time, last->end) - last->begin;
}

std::map<store::ProcessId, RankDevices> rank_devices(const TraceModel& model) {
  struct Lists {
    std::vector<Interval> nccl, kernels, copies;
  };
  std::map<store::ProcessId, Lists> lists;
  for (const store::MpiRequestRow& row : model.mpi_requests) {
    if (is_nccl(row.operation)) lists[row.process].nccl.push_back({row.begin, row.end});
  }
  if (lists.empty()) return {};
  NamesOfNccl names;
  for (const auto& kernel : model.kernels) {
    const auto of = lists.find(kernel.process);
    if (of != lists.end() && !names.contain(kernel.name)) of->second.kernels.push_back({kernel.start, kernel.end});
  }
  for (const auto& copy : model.copies) {
    const auto of = lists.find(copy.process);
    if (of != lists.end()) of->second.copies.push_back({copy.start, copy.end});
  }
  std::map<store::ProcessId, RankDevices> all;
  for (auto& [process, of] : lists) {
    RankDevices& work = all[process];
    std::vector<Interval> together = of.kernels;
    together.insert(together.end(), of.copies.begin(), of.copies.end());
    work.work = CoveredTime(together);
    together.insert(together.end(), of.nccl.begin(), of.nccl.end());
    work.all = CoveredTime(std::move(together));
    work.nccl = CoveredTime(std::move(of.nccl));
    work.kernels = CoveredTime(std::move(of.kernels));
  }
  return all;
}

}  // namespace wicprof::analyzer
