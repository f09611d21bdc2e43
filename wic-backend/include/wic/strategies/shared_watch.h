// A futex for groups of warps. Each word has one watcher per device, the only reader of the word. It copies new values
// to lines in local device memory. The leader of every other group reads one of those lines instead, and the rest of
// each group waits at its barrier.
//
//   key:      | address / 4 : 47 | waiters : 17 |   the slot's word; at 0 waiters another word may take the slot
//   arrivals: count of all waiters so far; its value after a waiter's own arrival is that waiter's ticket
//   master, lines: | active:1 | ticket:31 | value:32 |   one 64-bit word, so that each step is atomic
//
//   master not active --compare_exchange by any waiter--> active: that waiter is the watcher
//   watcher, on a new value or new arrivals:  lines, master := active, ticket, value
//   watcher leaves:                           lines, then master := not active
//
// A value counts only for waiters that arrived before the watcher read it: the word may have changed back since. So the
// watcher reads `arrivals` first, then the word, and publishes both; a waiter believes its line once the ticket there
// has reached its own. This is message passing from the waiter through the watcher and back, so release and acquire
// suffice.
//
// A watcher that leaves for any reason (satisfied, deadline, another strategy) marks every line before it frees
// the role on the master, so a line never goes back in time. Every waiter reads its line at least every twenty
// microseconds, and the word itself about every second: a wake-up can be late, but cannot be lost.
#pragma once

#include "wic/strategies/strategy.h"
#include "wic/types.h"

namespace wic {

class SharedWatch {
 public:
  static constexpr StrategyId kId = StrategyId::shared_watch;
  static constexpr bool kLeaderWaits = true;
  static constexpr Parking kParking = Parking::barrier;

  /// Joins the word's slot. Outside the loop, which then needs no registers for the table of slots.
  WIC_DEVICE void begin(const Thread& thread, const WaitContext& wait) {
    slot_ = join_slot(thread, wait);
    if (slot_ == nullptr) return;
    role_ = Role::waiter;
    lines_ = wait.view->watch.lines;
    // Released: a thread that sees this number and then reads the word reads it after everything before this wait.
    ticket_ = thread.fetch_add_acq_rel(&slot_->arrivals, 1) + 1;
  }

  WIC_DEVICE Observation observe(const Thread& thread, const WaitContext& wait) {
    if (role_ == Role::waiter) {
      if (own_look_is_due(thread)) return own_look(thread, wait);
      const std::uint64_t line = line_.look(thread, my_line(thread));
      fresh_ = fresh_ || reached(ticket_of(line), ticket_);
      // A waiter that can still use the last watcher's value does not become the next watcher.
      const bool news = fresh_ && !(known_ && value_of(line) == value_);
      if (news || is_active(line) || !become_watcher(thread)) {
        known_ = fresh_;
        value_ = value_of(line);
        return {fresh_, 0, value_};
      }
    }
    return role_ == Role::watcher ? watch(thread, wait) : own_look(thread, wait);
  }

  template <class Condition>
  WIC_DEVICE void pass(const Thread& thread, const WaitContext& wait, std::uint64_t now, const Condition&) {
    const std::uint64_t waited = now - wait.arrived_ns;
    if (role_ == Role::waiter) {
      // A waiter whose line has no watcher takes over instead of waiting for news.
      const std::uint32_t ns = nap_ns(waited);
      if (is_active(line_.value)) {
        const std::uint64_t before = line_.value;
        line_.stand_by(thread, my_line(thread), ns, [before](std::uint64_t line) { return line != before; });
      } else if (ns != 0) {
        thread.sleep_ns(ns);
      }
    } else if (!slept_) {
      sleep_through_prediction(thread, wait, now);
    } else if (waited >= kWatcherAwakeNs) {
      thread.sleep_ns(nap_ns(waited));
    }
  }

  WIC_DEVICE void leave(const Thread& thread, const WaitContext&) {
    if (slot_ == nullptr) return;
    if (role_ == Role::watcher) {
      const std::uint64_t last = pack(false, published_ticket_, value_);
      // The lines get nothing more from this watcher once the next watcher, or another word, uses them.
      WIC_ROLLED
      for (std::uint32_t i = 0; i < lines_; ++i) thread.store(&slot_->lines[i].mirror, last);
      thread.fence_release();
      thread.store(&slot_->master, last);
      thread.fence_release();
    }
    thread.add(&slot_->key, ~std::uint64_t{0});  // one waiter less
  }

 private:
  enum class Role : std::uint8_t { alone, watcher, waiter };

  static constexpr std::uint64_t kWatcherAwakeNs = 200'000;  // it polls this long without sleeping: one thread only
  static constexpr std::uint32_t kPredictedStepNs = 1'000;
  static constexpr std::uint32_t kLooksBetweenOwn = 1u << 12;  // rounds: about a second in a long wait
  static constexpr std::uint32_t kProbes = 4;
  static constexpr std::uint64_t kUsersMask = (1u << 17) - 1;

  static WIC_DEVICE std::uint64_t pack(bool active, std::uint32_t ticket, std::uint32_t value) {
    return (std::uint64_t{active} << 63) | (std::uint64_t{ticket & 0x7fffffffu} << 32) | value;
  }
  static WIC_DEVICE bool is_active(std::uint64_t mirror) { return (mirror >> 63) != 0; }
  static WIC_DEVICE std::uint32_t ticket_of(std::uint64_t mirror) {
    return static_cast<std::uint32_t>(mirror >> 32) & 0x7fffffffu;
  }
  static WIC_DEVICE std::uint32_t value_of(std::uint64_t mirror) { return static_cast<std::uint32_t>(mirror); }
  // Tickets wrap at 31 bits: a is at or after b when the distance is less than half the circle.
  static WIC_DEVICE bool reached(std::uint32_t a, std::uint32_t b) { return ((a - b) & 0x7fffffffu) < 0x40000000u; }

  // At least half a period after the first look, and at different rounds in different blocks: this strategy exists to
  // prevent simultaneous reads of a host word.
  WIC_DEVICE bool own_look_is_due(const Thread& thread) {
    const std::uint32_t phase = (thread.block() & 0xfff) * (kLooksBetweenOwn / 2) / 0x1000;
    return ((++looks_ + phase) & (kLooksBetweenOwn - 1)) == kLooksBetweenOwn - 1;
  }

  static WIC_DEVICE Observation own_look(const Thread& thread, const WaitContext& wait) {
    return {true, 1, thread.load(wait.word)};
  }
  WIC_DEVICE std::uint64_t* my_line(const Thread& thread) const {
    return &slot_->lines[thread.block() & (lines_ - 1)].mirror;
  }

  WIC_DEVICE bool become_watcher(const Thread& thread) {
    std::uint64_t master = thread.load(&slot_->master);
    if (is_active(master)) return false;
    if (!thread.compare_exchange(&slot_->master, master, pack(true, ticket_of(master), value_of(master)))) return false;
    role_ = Role::watcher;
    known_ = false;
    ticket_ = thread.load(&slot_->arrivals);
    thread.fence_acquire();
    return true;
  }

  // The arrivals read here count from the next look on, which starts after this read.
  WIC_DEVICE Observation watch(const Thread& thread, const WaitContext& wait) {
    const std::uint32_t arrivals = thread.load(&slot_->arrivals);
    const std::uint32_t value = thread.load(wait.word);
    if (!known_ || value != value_ || ticket_ != published_ticket_) publish(thread, value);
    if (arrivals != ticket_) {
      thread.fence_acquire();
      ticket_ = arrivals;
    }
    return {true, 1, value};
  }

  WIC_DEVICE void publish(const Thread& thread, std::uint32_t value) {
    // The value may release data: these fences make the data visible to the readers of the lines. Also where the value
    // is that of the last look: the word may have changed and changed back since, for other data.
    thread.fence_acquire();
    thread.fence_release();
    const std::uint64_t mirror = pack(true, ticket_, value);
    WIC_ROLLED
    for (std::uint32_t i = 0; i < lines_; ++i) thread.store(&slot_->lines[i].mirror, mirror);
    known_ = true;
    published_ticket_ = ticket_;
    value_ = value;
  }

  // Where waits at the site have similar lengths, the watcher sleeps through the part that is certain, until a new
  // waiter arrives. It sleeps through at most half of the usual length: so even a wait that the sleep prolongs is
  // shorter than the average, and lowers it.
  WIC_DEVICE void sleep_through_prediction(const Thread& thread, const WaitContext& wait, std::uint64_t now) {
    slept_ = true;
    const WaitLength usual = wait.usual(thread);
    const std::uint64_t spread = std::uint64_t{usual.deviation_ns} * 4;
    if (usual.mean_ns / 2 <= spread) return;
    const std::uint64_t until = wait.arrived_ns + usual.mean_ns / 2;
    while (now + kPredictedStepNs < until && now < wait.deadline_ns && !wait.strategy_changed(thread) &&
           (slot_ == nullptr || thread.load(&slot_->arrivals) == ticket_)) {
      thread.sleep_ns(kPredictedStepNs / 2);
      now = thread.clock_ns();
    }
  }

  // The word's slot, with this waiter counted; nullptr when other words hold all its places in the table.
  static WIC_DEVICE WatchSlot* join_slot(const Thread& thread, const WaitContext& wait) {
    const std::uint64_t address = reinterpret_cast<std::uint64_t>(wait.word) >> 2;
    const std::uint32_t start = static_cast<std::uint32_t>((address * 0x9e3779b97f4a7c15u) >> 32);
    WIC_ROLLED
    for (std::uint32_t claiming = 0; claiming < 2; ++claiming) {  // first search, then claim a free slot
      WIC_ROLLED
      for (std::uint32_t i = 0; i < kProbes; ++i) {
        WatchSlot& slot = wait.view->watch.slots[(start + i) & (wait.view->watch.slot_count - 1)];
        std::uint64_t key = thread.load(&slot.key);
        if (claiming != 0 && (key & kUsersMask) == 0 && key >> 17 != address) {
          if (thread.compare_exchange(&slot.key, key, (address << 17) | 1)) return &slot;
        }
        if (key >> 17 != address) continue;
        if (thread.fetch_add(&slot.key, 1) >> 17 == address) return &slot;
        thread.add(&slot.key, ~std::uint64_t{0});  // another word has just taken it
      }
    }
    return nullptr;
  }

  WatchSlot* slot_ = nullptr;
  std::uint32_t lines_ = 0;           // WatchTable::lines; the table itself is out of the caches after each fence
  ObservedWord<std::uint64_t> line_;  // as a waiter
  std::uint32_t ticket_ = 0;          // a waiter: its own; the watcher: the arrivals before its next look
  std::uint32_t published_ticket_ = 0;
  std::uint32_t value_ = 0;  // the last one published, or read from the line
  std::uint32_t looks_ = 0;
  Role role_ = Role::alone;
  bool fresh_ = false;
  bool known_ = false;  // value_ is valid
  bool slept_ = false;
};

}  // namespace wic
