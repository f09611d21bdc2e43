// One watcher a word and device: it alone reads the word and copies what it sees to a mirror in local device memory,
// which every other group's leader reads instead; the rest of each group stands at its barrier.
//
//   mirror:  | active:1 | epoch:31 | value:32 |     one 64-bit word, so that every step is one atomic step
//
//   not active --compare_exchange by any waiter--> active: that waiter is the watcher
//   active     --each read of the word-----------> epoch + 1, the value read
//   active     --watcher leaves------------------> not active, epoch + 1, its last value
//
// A waiter that finds epoch e on arrival takes a value for its own only from epoch e + 2 on: the read behind e + 1 may
// have begun before it came. A watcher that leaves for any reason (satisfied, deadline, another strategy) frees the role
// with the same store that publishes its last value, and every waiter looks at the mirror at least every few
// microseconds: a wake-up cannot be lost, only late by one such sleep.
#pragma once

#include "protocol/strategy.h"
#include "wic/strategies/strategy.h"

namespace wic {

class SharedWatch {
 public:
  static constexpr wicprof::StrategyId kId = wicprof::StrategyId::shared_watch;
  static constexpr bool kLeaderWaits = true;
  static constexpr std::uint32_t kWatcherSleepNs = 100;
  static constexpr std::uint32_t kShortestSleepNs = 200;
  static constexpr std::uint32_t kLongestSleepNs = 2'000;

  WIC_DEVICE Observation observe(const Thread& thread, const WaitContext& wait) {
    if (role_ == Role::none) arrive(thread, wait);
    if (role_ == Role::alone) return {true, true, thread.load(wait.word)};
    if (role_ == Role::waiter) {
      std::uint64_t mirror = thread.load(&slot_->mirror);
      const std::uint32_t epoch = epoch_of(mirror);
      if (reached(epoch, usable_epoch_) && epoch != seen_epoch_) {
        seen_epoch_ = epoch;
        return {true, false, static_cast<std::uint32_t>(mirror)};
      }
      if (is_active(mirror) || !become_watcher(thread, mirror)) return {false, false, 0};
    }
    const std::uint32_t value = thread.load(wait.word);
    publish(thread, value);
    return {true, true, value};
  }

  WIC_DEVICE void pass(const Thread& thread, const WaitContext& wait, std::uint64_t now) {
    if (role_ == Role::watcher) {
      thread.sleep_ns(kWatcherSleepNs);
      return;
    }
    // The longer the wait has been, the less a longer look-away matters: a thirty-second of it, within bounds.
    const std::uint64_t share = (now - wait.arrived_ns) / 32;
    thread.sleep_ns(share < kShortestSleepNs  ? kShortestSleepNs
                    : share > kLongestSleepNs ? kLongestSleepNs
                                              : static_cast<std::uint32_t>(share));
  }

  WIC_DEVICE void leave(const Thread& thread, const WaitContext&) {
    if (role_ == Role::watcher) thread.store_release(&slot_->mirror, pack(false, epoch_ + 1, value_));
  }

 private:
  enum class Role : std::uint8_t { none, watcher, waiter, alone };

  static WIC_DEVICE std::uint64_t pack(bool active, std::uint32_t epoch, std::uint32_t value) {
    return (std::uint64_t{active} << 63) | (std::uint64_t{epoch & 0x7fffffffu} << 32) | value;
  }
  static WIC_DEVICE bool is_active(std::uint64_t mirror) { return (mirror >> 63) != 0; }
  static WIC_DEVICE std::uint32_t epoch_of(std::uint64_t mirror) {
    return static_cast<std::uint32_t>(mirror >> 32) & 0x7fffffffu;
  }
  // Epochs wrap at 31 bits: a is at or after b when the distance is less than half the circle.
  static WIC_DEVICE bool reached(std::uint32_t a, std::uint32_t b) { return ((a - b) & 0x7fffffffu) < 0x40000000u; }

  WIC_DEVICE void arrive(const Thread& thread, const WaitContext& wait) {
    slot_ = find_slot(thread, wait);
    if (slot_ == nullptr) {
      role_ = Role::alone;
      return;
    }
    role_ = Role::waiter;
    std::uint64_t mirror = thread.load(&slot_->mirror);
    if (!is_active(mirror)) become_watcher(thread, mirror);
    usable_epoch_ = (epoch_of(mirror) + 2) & 0x7fffffffu;
    seen_epoch_ = epoch_of(mirror);
  }

  WIC_DEVICE bool become_watcher(const Thread& thread, std::uint64_t& mirror) {
    const std::uint64_t mine = pack(true, epoch_of(mirror), static_cast<std::uint32_t>(mirror));
    if (!thread.compare_exchange(&slot_->mirror, mirror, mine)) return false;
    role_ = Role::watcher;
    epoch_ = epoch_of(mirror);
    published_ = false;
    return true;
  }

  WIC_DEVICE void publish(const Thread& thread, std::uint32_t value) {
    const std::uint64_t mirror = pack(true, ++epoch_, value);
    // Only a value that is new here can release data; repeating it needs no fence.
    if (!published_ || value != value_) {
      thread.store_release(&slot_->mirror, mirror);
    } else {
      thread.store(&slot_->mirror, mirror);
    }
    published_ = true;
    value_ = value;
  }

  // The slot of the word, claimed if it is new; nullptr when its places in the table are taken by other words.
  static WIC_DEVICE WatchSlot* find_slot(const Thread& thread, const WaitContext& wait) {
    const auto address = reinterpret_cast<std::uint64_t>(wait.word);
    const std::uint32_t start = static_cast<std::uint32_t>((address * 0x9e3779b97f4a7c15u) >> 32);
    for (std::uint32_t i = 0; i < kProbes; ++i) {
      WatchSlot& slot = wait.watch[(start + i) % kWatchSlots];
      std::uint64_t owner = thread.load(&slot.word_address);
      if (owner == 0 && thread.compare_exchange(&slot.word_address, owner, address)) return &slot;
      if (owner == address) return &slot;
    }
    return nullptr;
  }

  static constexpr std::uint32_t kProbes = 8;

  WatchSlot* slot_ = nullptr;
  std::uint32_t epoch_ = 0;         // the watcher's
  std::uint32_t value_ = 0;         // the watcher's last
  std::uint32_t usable_epoch_ = 0;  // a waiter's
  std::uint32_t seen_epoch_ = 0;    // a waiter's
  Role role_ = Role::none;
  bool published_ = false;
};

}  // namespace wic
