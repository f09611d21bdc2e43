#include "analyzer/work/followers.h"

#include <map>

namespace wicprof::analyzer {
namespace {

/// See Followers::beside.
std::vector<std::uint32_t> company_of(const TraceModel& model) {
  struct Last {
    TimeNs end = 0;  ///< the latest end so far
    std::uint32_t kernel = 0;
  };
  std::vector<std::uint32_t> company(model.kernels.size(), Followers::kAlone);
  std::map<DeviceId, Last> devices;
  for (std::uint32_t k = 0; k < model.kernels.size(); ++k) {  // in order of start
    const store::KernelRow& kernel = model.kernels[k];
    if (kernel.start <= 0 || kernel.end < kernel.start || is_backend_work(kernel)) continue;
    Last& last = devices[kernel.device];
    // The kernel with the latest end overlaps this one if any does. Of those that end earlier, each overlaps it or one
    // in between only if it overlaps the one with the latest end, too.
    if (kernel.start < last.end) {
      company[k] = kernel.end <= last.end ? last.kernel : Followers::kPartly;
      if (company[last.kernel] == Followers::kAlone) company[last.kernel] = Followers::kPartly;
    }
    if (kernel.end >= last.end) last = {kernel.end, k};
  }
  return company;
}

}  // namespace

Followers followers(const TraceModel& model, const DeviceWork& work) {
  Followers found;
  found.beside = company_of(model);
  const auto number = [](const WorkItem& item) { return static_cast<std::uint32_t>(item.kernel.index()); };
  for (const auto& [stream, items] : work.by_stream) {
    const WorkItem* before = nullptr;
    bool copied = false;
    for (const WorkItem& item : items) {
      if (is_backend_work(item)) continue;
      if (item.kernel != nullptr && item.kernel->is_graph()) {  // its first and last kernels are not known
        before = nullptr;
        copied = false;
        continue;
      }
      if (item.kernel == nullptr) {
        copied = true;
        continue;
      }
      if (before != nullptr) {
        const Follower pair{number(*before), number(item), Following::early};
        const TimeNs gap = item.start - before->end;
        const bool in_one_call = item.kernel->correlation == before->kernel->correlation && item.call;  // of a graph
        const bool launched_late = item.call && !in_one_call && item.call->end > before->end;
        if (copied) {
          ++found.after_copy;
        } else if (gap < 0) {
          found.list.push_back(pair);
        } else if (gap > kRightBehind || launched_late) {
          ++found.late;
        } else {
          const bool alone =
              found.beside[pair.before] == Followers::kAlone && found.beside[pair.after] == Followers::kAlone;
          found.list.push_back({pair.before, pair.after, alone ? Following::directly : Following::beside});
        }
      }
      before = &item;
      copied = false;
    }
  }
  return found;
}

}  // namespace wicprof::analyzer
