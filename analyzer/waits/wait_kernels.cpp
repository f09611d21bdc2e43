#include "analyzer/waits/wait_kernels.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

namespace wicprof::analyzer {

void RunningKernels::advance(const TraceModel& model, TimeNs time) {
  if (time < changes_) return;
  while (next_ < all_.size() && model.kernels[all_[next_]].start <= time) running_.push_back(all_[next_++]);
  std::erase_if(running_, [&](std::uint32_t k) { return model.kernels[k].end < time; });
  changes_ = std::numeric_limits<TimeNs>::max();
  if (next_ < all_.size()) changes_ = model.kernels[all_[next_]].start;
  for (const std::uint32_t k : running_) changes_ = std::min(changes_, model.kernels[k].end);
}

std::map<DeviceId, RunningKernels> running_kernels(const TraceModel& model) {
  std::map<DeviceId, RunningKernels> all;
  for (std::uint32_t k = 0; k < model.kernels.size(); ++k) all[model.kernels[k].device].add(k);
  return all;
}

WaitKernels::WaitKernels(const TraceModel& model, const Waiters& waiters) {
  std::map<std::pair<std::string_view, std::array<std::uint32_t, 6>>, std::uint32_t> kinds;
  kind_of_.reserve(model.kernels.size());
  for (const store::KernelRow& kernel : model.kernels) {
    std::array<std::uint32_t, 6> shape{};
    std::copy_n(kernel.grid, 3, shape.begin());
    std::copy_n(kernel.block, 3, shape.begin() + 3);
    const auto [entry, added] = kinds.try_emplace({kernel.name, shape}, static_cast<std::uint32_t>(names_.size()));
    if (added) names_.push_back(kernel.name);
    kind_of_.push_back(entry->second);
  }
  waits_.assign(names_.size(), false);
  unclear_.assign(names_.size(), false);
  blocks_that_waited_.assign(model.kernels.size(), 0);
  if (model.kernels.empty()) return;

  kernel_of_.assign(model.waits.size(), kNone);
  FlatIndex blocks;
  std::vector<std::uint32_t> last_kernel;  // by block
  std::map<DeviceId, RunningKernels> devices = running_kernels(model);
  std::set<std::vector<std::uint32_t>> concurrent;
  std::vector<std::uint32_t> running_kinds, last;
  for (std::size_t i = 0; i < model.waits.size(); ++i) {
    const store::WaitRow& wait = model.waits[i];
    const auto device = devices.find(wait.device);
    if (device == devices.end()) continue;
    device->second.advance(model, wait.arrived);
    const auto& running = device->second.now();
    if (running.empty()) continue;
    const std::uint32_t kernel = running.back();
    kernel_of_[i] = kernel;
    const Waiter& waiter = waiters.list()[waiters.of_wait(i)];
    const std::uint32_t block =
        blocks.number((std::uint64_t{static_cast<std::uint32_t>(waiter.device)} << 32) | waiter.block);
    if (block == last_kernel.size()) last_kernel.push_back(kNone);
    if (std::exchange(last_kernel[block], kernel) != kernel) ++blocks_that_waited_[kernel];
    if (running.size() == 1) {
      waits_[kind_of_[kernel]] = true;
      continue;
    }
    running_kinds.clear();
    for (const std::uint32_t k : running) running_kinds.push_back(kind_of_[k]);
    if (running_kinds != last) concurrent.insert(last = running_kinds);
  }
  for (const auto& list : concurrent) {
    if (std::any_of(list.begin(), list.end(), [&](std::uint32_t kind) { return waits_[kind]; })) continue;
    for (const std::uint32_t kind : list) unclear_[kind] = true;
  }
}

std::vector<Interval> WaitKernels::with_independent_blocks(const TraceModel& model, DeviceId device) const {
  std::vector<Interval> list;
  for (std::size_t k = 0; k < model.kernels.size(); ++k) {
    const store::KernelRow& kernel = model.kernels[k];
    const std::uint64_t blocks = std::uint64_t{kernel.grid[0]} * kernel.grid[1] * kernel.grid[2];
    if (kernel.device == device && (kernel.is_graph() || blocks > blocks_that_waited_[k]))
      list.push_back({kernel.start, kernel.end});
  }
  return list;
}

}  // namespace wicprof::analyzer
