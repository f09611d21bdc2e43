#include "analyzer/ranks/rank_devices.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/words/runtime_names.h"
#include "protocol/mpi_operation.h"

namespace wicprof::analyzer {

namespace {

class NamesOfNccl {
 public:
  bool contain(const std::string& name) {
    const auto [found, is_new] = known_.try_emplace(&name, false);
    if (is_new) found->second = is_kernel_of_nccl(name);
    return found->second;
  }

 private:
  std::unordered_map<const std::string*, bool> known_;  // names are few, and stay where they are
};

/// Numbers kernels that are usually as long as each other: those of one name, grid and block.
class Shapes {
 public:
  std::size_t number(const auto& kernel) {
    const std::string& name = kernel.name;
    const auto* const g = kernel.grid;
    const auto* const b = kernel.block;
    return numbers_.try_emplace(Shape{&name, g[0], g[1], g[2], b[0], b[1], b[2]}, numbers_.size()).first->second;
  }

 private:
  using Size = std::uint32_t;
  using Shape = std::tuple<const std::string*, Size, Size, Size, Size, Size, Size>;
  std::map<Shape, std::size_t> numbers_;
};

struct Run {
  Interval time;
  std::size_t shape;
};

/// A call of CUDA that takes longer has waited, such as a launch for room in the queue. Not calibrated.
constexpr TimeNs kLongCall = 20 * kMicrosecond;

/// Calls visit(process, interval).
void add_host_waits(const TraceModel& model, const auto& visit) {
  for (std::size_t i = 0; i < model.host_waits.size(); ++i) {
    const store::HostWaitRow wait = model.host_waits[i];
    if (wait.in_call()) visit(wait.process, Interval{wait.begin, wait.end});
  }
  for (const auto& call : model.calls) {
    if (call.end - call.start >= kLongCall) visit(call.process, Interval{call.start, call.end});
  }
}

/// The runs of one process in order, and how much longer than usual each took.
std::vector<std::pair<Interval, TimeNs>> longer_than_usual(const std::vector<Run>& runs) {
  std::map<std::size_t, std::vector<TimeNs>> lengths;
  for (const Run& run : runs) lengths[run.shape].push_back(run.time.end - run.time.begin);
  std::map<std::size_t, TimeNs> usual;
  for (auto& [shape, of] : lengths) usual[shape] = percentile_in_place(of, 50);
  std::vector<std::pair<Interval, TimeNs>> longer;
  for (const auto& [time, shape] : runs) longer.emplace_back(time, time.end - time.begin - usual[shape]);
  std::ranges::sort(longer, {}, [](const auto& one) { return one.first.begin; });
  return longer;
}

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

TimeNs CoveredTime::next(TimeNs time) const {
  const auto next =
      std::partition_point(parts_.begin(), parts_.end(), [&](const Interval& part) { return part.end <= time; });
  return next == parts_.end() ? kNever : std::max(next->begin, time);
}

std::optional<Interval> CoveredTime::last_before(TimeNs time) const {
  const auto next =
      std::partition_point(parts_.begin(), parts_.end(), [&](const Interval& part) { return part.begin < time; });
  return next == parts_.begin() ? std::nullopt : std::optional(*std::prev(next));
}

TimeNs RankDevices::transfers_end(TimeNs time) const {
  const std::optional<Interval> last = nccl.last_before(kernels.next(time));
  return last ? std::max(last->begin, time) : time;
}

TimeNs RankDevices::slowed_within(TimeNs begin, TimeNs end) const {
  auto at =
      std::partition_point(longer.begin(), longer.end(), [&](const auto& one) { return one.first.begin < begin; });
  TimeNs sum = 0;
  for (; at != longer.end() && at->first.begin < end; ++at) {
    if (at->first.end <= end) sum += at->second;
  }
  return std::max<TimeNs>(sum, 0);
}

std::map<store::ProcessId, RankDevices> rank_devices(const TraceModel& model) {
  struct Lists {
    std::vector<Interval> nccl, copies, host_waits;
    std::vector<Run> kernels;
  };
  std::map<store::ProcessId, Lists> lists;
  for (const store::MpiRequestRow& row : model.mpi_requests) {
    if (is_nccl(row.operation)) lists[row.process].nccl.push_back({row.begin, row.end});
  }
  if (lists.empty()) return {};
  NamesOfNccl names;
  Shapes shapes;
  for (const auto& kernel : model.kernels) {
    const auto of = lists.find(kernel.process);
    if (of == lists.end() || names.contain(kernel.name)) continue;
    of->second.kernels.push_back({{kernel.start, kernel.end}, shapes.number(kernel)});
  }
  for (const auto& copy : model.copies) {
    const auto of = lists.find(copy.process);
    if (of != lists.end()) of->second.copies.push_back({copy.start, copy.end});
  }
  add_host_waits(model, [&](store::ProcessId process, Interval wait) {
    const auto of = lists.find(process);
    if (of != lists.end()) of->second.host_waits.push_back(wait);
  });
  std::map<store::ProcessId, RankDevices> all;
  for (auto& [process, of] : lists) {
    RankDevices& work = all[process];
    std::vector<Interval> together;
    for (const Run& run : of.kernels) together.push_back(run.time);
    work.kernels = CoveredTime(together);
    work.longer = longer_than_usual(of.kernels);
    together.insert(together.end(), of.copies.begin(), of.copies.end());
    work.work = CoveredTime(together);
    together.insert(together.end(), of.nccl.begin(), of.nccl.end());
    work.all = CoveredTime(std::move(together));
    work.nccl = CoveredTime(std::move(of.nccl));
    work.host_waits = CoveredTime(std::move(of.host_waits));
  }
  return all;
}

}  // namespace wicprof::analyzer
