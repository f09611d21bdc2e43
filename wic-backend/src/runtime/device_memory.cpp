#include "src/runtime/device_memory.h"

#include <bit>

namespace wic {

namespace {

constexpr std::uint32_t kWatchSlots = 1024;

// On a GPU, many readers of one line wait for each other; on the CPU device, each line costs one more store.
std::uint32_t watch_lines(DeviceKind kind) { return kind == DeviceKind::cuda ? kMaxWatchLines : 2; }

template <class T>
Result<> allocate(Array<T>& to, Device& device, std::size_t count, Memory where) {
  Result<Array<T>> array = Array<T>::make(device, count, where);
  if (!array) return array.error();
  to = *std::move(array);
  return ok();
}

}  // namespace

Result<DeviceMemory> DeviceMemory::make(std::unique_ptr<Device> device, std::uint32_t records_per_sm) {
  DeviceMemory memory;
  memory.device_ = std::move(device);
  memory.records_per_sm_ = records_per_sm;
  Device& on = *memory.device_;
  const std::uint32_t sms = on.properties().sm_count;
  if (Result<> r = allocate(memory.strategies_, on, kMaxSites, Memory::device); !r) return r.error();
  if (Result<> r = allocate(memory.sites_, on, kMaxSites, Memory::device); !r) return r.error();
  if (Result<> r = allocate(memory.watch_, on, kWatchSlots, Memory::device); !r) return r.error();
  if (Result<> r = allocate(memory.steward_, on, 1, Memory::device); !r) return r.error();
  if (Result<> r = allocate(memory.control_, on, 1, Memory::pinned_host); !r) return r.error();
  if (Result<> r = allocate(memory.heads_, on, sms, Memory::device); !r) return r.error();
  if (records_per_sm != 0) {
    const std::size_t count = std::size_t{sms} * records_per_sm;
    if (Result<> r = allocate(memory.records_, on, count, Memory::pinned_host); !r) return r.error();
  }
  return Result<DeviceMemory>(std::move(memory));
}

DeviceView DeviceMemory::view() const {
  DeviceView view;
  view.strategies = strategies_.data();
  view.sites = sites_.data();
  view.watch = {watch_.data(), kWatchSlots, watch_lines(properties().kind)};
  view.steward = steward_.data();
  view.control = control_.data();
  view.ring_heads = heads_.data();
  view.ring_capacity_log2 = static_cast<std::uint32_t>(std::countr_zero(records_per_sm_));
  view.sm_count = properties().sm_count;
  return view;
}

Result<std::vector<std::uint32_t>> DeviceMemory::claimed_records() const {
  std::vector<RingHead> heads(heads_.size());
  const std::size_t words = heads.size() * sizeof(RingHead) / sizeof(std::uint32_t);
  if (Result<> done = device_->read_live(&heads[0].next, &heads_.data()->next, words); !done) return done.error();
  std::vector<std::uint32_t> claimed;
  for (const RingHead& head : heads) claimed.push_back(head.next);
  return claimed;
}

}  // namespace wic
