#include "analyzer/waits/waiters.h"

#include <algorithm>

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
  of_[false].reserve(model.waits.size());
  of_[true].reserve(model.host_waits.size());
  for_each_wait(model, [&](const WaitView& wait) {
    std::uint32_t number = kNone;
    if (counts(wait)) {
      number = index_.number(key_of(wait.device, wait.who, wait.warp));
      if (number == waiters_.size()) waiters_.push_back({wait.device, wait.who, wait.warp, wait.sm});
    }
    of_[wait.host].push_back(number);
  });
}

void Waiters::list_waits() {
  first_of_.assign(waiters_.size() + 1, 0);
  for (const std::vector<std::uint32_t>& of : of_) {
    for (const std::uint32_t waiter : of) {
      if (waiter != kNone) ++first_of_[waiter + 1];
    }
  }
  for (std::size_t i = 1; i < first_of_.size(); ++i) first_of_[i] += first_of_[i - 1];
  waits_.resize(first_of_.back());
  std::vector<std::uint32_t> next(first_of_.begin(), first_of_.end() - 1);
  for (const std::vector<std::uint32_t>& of : of_) {
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (of[i] != kNone) waits_[next[of[i]]++] = static_cast<std::uint32_t>(i);
    }
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
  for_each_wait(model, [&](const WaitView& wait) {
    if (!counts(wait)) return;
    const std::uint32_t group = groups.number(wait.site, wait.device);
    const std::uint32_t stream = streams.number((std::uint64_t{group} << 32) | of(wait));
    if (stream == last.size()) {
      last.push_back({wait.iteration, wait.begin});
      return;
    }
    if (wait.iteration < last[stream].iteration) groups.list[group].restarts.push_back({last[stream].at, wait.begin});
    last[stream] = {wait.iteration, wait.begin};
  });
  for (Group& group : groups.list) group.runs = boundaries_of(std::move(group.restarts));

  const auto slot_for = [&](const WaitView& wait) {
    if (!counts(wait)) return kNone;
    Group& group = groups.list[groups.number(wait.site, wait.device)];
    const std::uint32_t run = group.runs.starts.empty() ? 0 : group.runs.run_of(wait.begin);
    const std::uint64_t key = (std::uint64_t{run} << 32) | wait.iteration;
    if (key != group.last_key) {
      const std::uint32_t place = group.numbers.number(key);
      if (place == group.slots.size()) {
        group.slots.push_back(static_cast<std::uint32_t>(slots_.size()));
        slots_.push_back({group.site, group.device, run, wait.iteration, 0, wait.begin, wait.begin, wait.end});
      }
      group.last_key = key;
      group.last_slot = group.slots[place];
    }
    IterationSlot& slot = slots_[group.last_slot];
    ++slot.waits;
    slot.first_arrival = std::min(slot.first_arrival, wait.begin);
    slot.last_arrival = std::max(slot.last_arrival, wait.begin);
    slot.last_resumption = std::max(slot.last_resumption, wait.end);
    return group.last_slot;
  };
  slot_of_[false].reserve(model.waits.size());
  slot_of_[true].reserve(model.host_waits.size());
  for_each_wait(model, [&](const WaitView& wait) { slot_of_[wait.host].push_back(slot_for(wait)); });
}

}  // namespace wicprof::analyzer
