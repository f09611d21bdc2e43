#include "analyzer/waits/waiters.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace wicprof::analyzer {
namespace {

/// 16 bits of device (numbers are small, the host is -1), 32 of block, 16 of warp.
std::uint64_t key_of(DeviceId device, std::uint32_t block, std::uint32_t warp) {
  return (std::uint64_t{static_cast<std::uint16_t>(device)} << 48) | (std::uint64_t{block} << 16) | (warp & 0xffffu);
}

/// The numbering of the iterations at one site on one device.
struct Group {
  SiteId site = 0;
  DeviceId device = kHostDevice;
  std::vector<Restart> restarts;
  RunBoundaries runs;
  FlatIndex numbers;                           // of run and iteration
  std::vector<std::uint32_t> slots;            // the slot of each
  std::uint64_t last_key = ~std::uint64_t{0};  // cached: most arrivals belong to the previous arrival's iteration
  std::uint32_t last_slot = 0;
};

/// The groups of a model.
class Groups {
 public:
  std::uint32_t number(SiteId site, DeviceId device) {
    const std::uint64_t key = (std::uint64_t{site} << 32) | static_cast<std::uint32_t>(device);
    const std::uint32_t number = index_.number(key);
    if (number == list.size()) {
      list.emplace_back();
      list.back().site = site;
      list.back().device = device;
    }
    return number;
  }
  std::vector<Group> list;

 private:
  FlatIndex index_;
};

}  // namespace

Waiters::Waiters(const TraceModel& model) {
  calls_count_ = model.waits.empty() && std::all_of(model.host_waits.begin(), model.host_waits.end(),
                                                    [](const store::HostWaitRow& wait) { return wait.in_call(); });
  number_waiters(model);
  list_waits();
  number_iterations(model);
}

std::uint32_t Waiters::find(DeviceId device, std::uint32_t block, std::uint32_t warp) const {
  return index_.find(key_of(device, block, warp));
}

Waiters::Range Waiters::waits_of(std::uint32_t waiter) const {
  return {waits_.data() + first_of_[waiter], waits_.data() + first_of_[waiter + 1]};
}

void Waiters::number_waiters(const TraceModel& model) {
  of_wait_.reserve(model.waits.size());
  for (const store::WaitRow& wait : model.waits) {
    const std::uint32_t number = index_.number(key_of(wait.device, wait.block, wait.warp));
    if (number == waiters_.size()) waiters_.push_back({wait.device, wait.block, wait.warp, wait.sm});
    of_wait_.push_back(number);
  }
  of_host_wait_.reserve(model.host_waits.size());
  for (const store::HostWaitRow& wait : model.host_waits) {
    if (!counts(wait)) {
      of_host_wait_.push_back(kNone);
      continue;
    }
    const std::uint32_t number = index_.number(key_of(kHostDevice, wait.thread, 0));
    if (number == waiters_.size()) waiters_.push_back({kHostDevice, wait.thread, 0, 0});
    of_host_wait_.push_back(number);
  }
}

void Waiters::list_waits() {
  first_of_.assign(waiters_.size() + 1, 0);
  for (const std::uint32_t waiter : of_wait_) ++first_of_[waiter + 1];
  for (const std::uint32_t waiter : of_host_wait_) {
    if (waiter != kNone) ++first_of_[waiter + 1];
  }
  for (std::size_t i = 1; i < first_of_.size(); ++i) first_of_[i] += first_of_[i - 1];
  waits_.resize(first_of_.back());
  std::vector<std::uint32_t> next(first_of_.begin(), first_of_.end() - 1);
  for (std::size_t i = 0; i < of_wait_.size(); ++i) waits_[next[of_wait_[i]]++] = static_cast<std::uint32_t>(i);
  for (std::size_t i = 0; i < of_host_wait_.size(); ++i) {
    if (of_host_wait_[i] != kNone) waits_[next[of_host_wait_[i]]++] = static_cast<std::uint32_t>(i);
  }
}

void Waiters::number_iterations(const TraceModel& model) {
  Groups groups;
  FlatIndex streams;  // of group and waiter
  struct LastArrival {
    std::uint32_t iteration = 0;
    TimeNs at = 0;
  };
  std::vector<LastArrival> last;
  const auto note_arrival = [&](std::uint32_t group, std::uint32_t waiter, std::uint32_t iteration, TimeNs at) {
    const std::uint32_t stream = streams.number((std::uint64_t{group} << 32) | waiter);
    if (stream == last.size()) {
      last.push_back({iteration, at});
      return;
    }
    if (iteration < last[stream].iteration) groups.list[group].restarts.push_back({last[stream].at, at});
    last[stream] = {iteration, at};
  };
  for (std::size_t i = 0; i < model.waits.size(); ++i) {
    const store::WaitRow& wait = model.waits[i];
    note_arrival(groups.number(wait.site, wait.device), of_wait_[i], wait.iteration, wait.arrived);
  }
  for (std::size_t i = 0; i < model.host_waits.size(); ++i) {
    const store::HostWaitRow& wait = model.host_waits[i];
    if (counts(wait)) note_arrival(groups.number(wait.site, kHostDevice), of_host_wait_[i], wait.iteration, wait.begin);
  }
  for (Group& group : groups.list) group.runs = boundaries_of(std::move(group.restarts));

  const auto slot_for = [&](std::uint32_t number, std::uint32_t iteration, TimeNs arrived, TimeNs resumed) {
    Group& group = groups.list[number];
    const std::uint32_t run = group.runs.starts.empty() ? 0 : group.runs.run_of(arrived);
    const std::uint64_t key = (std::uint64_t{run} << 32) | iteration;
    if (key != group.last_key) {
      const std::uint32_t place = group.numbers.number(key);
      if (place == group.slots.size()) {
        group.slots.push_back(static_cast<std::uint32_t>(slots_.size()));
        slots_.push_back({group.site, group.device, run, iteration, 0, arrived, arrived, resumed});
      }
      group.last_key = key;
      group.last_slot = group.slots[place];
    }
    IterationSlot& slot = slots_[group.last_slot];
    ++slot.waits;
    slot.first_arrival = std::min(slot.first_arrival, arrived);
    slot.last_arrival = std::max(slot.last_arrival, arrived);
    slot.last_resumption = std::max(slot.last_resumption, resumed);
    return group.last_slot;
  };
  slot_of_wait_.reserve(model.waits.size());
  for (const store::WaitRow& wait : model.waits) {
    slot_of_wait_.push_back(
        slot_for(groups.number(wait.site, wait.device), wait.iteration, wait.arrived, wait.resumed));
  }
  slot_of_host_wait_.reserve(model.host_waits.size());
  for (const store::HostWaitRow& wait : model.host_waits) {
    slot_of_host_wait_.push_back(
        counts(wait) ? slot_for(groups.number(wait.site, kHostDevice), wait.iteration, wait.begin, wait.end) : kNone);
  }
}

}  // namespace wicprof::analyzer
