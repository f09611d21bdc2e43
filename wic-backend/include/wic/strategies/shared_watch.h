// A futex for groups of warps. One watcher a word and device: it alone reads the word, and passes on what is new to
// lines in local device memory; every other group's leader looks at one of those instead, and the rest of each group
// stands at its barrier.
//
//   key:      | address / 4 : 47 | waiters here : 17 |   whose slot this is; free for another word at 0 waiters
//   arrivals: one more with every waiter; the value after its own arrival is a waiter's ticket
//   master, lines: | active:1 | ticket:31 | value:32 |   one 64-bit word, so that every step is one atomic step
//
//   master not active --compare_exchange by any waiter--> active: that waiter is the watcher
//   watcher, on a new value or new arrivals:  lines, master := active, ticket, value
//   watcher leaves:                           lines, then master := not active
//
// A value may count only for those who had arrived before it was read: the word may have changed back since. So the
// watcher reads `arrivals` first and the word after it, and publishes both; a waiter believes its line once the ticket
// there has reached its own. That is message passing from the waiter through the watcher and back, so it needs no other
// order than release and acquire.
//
// A watcher that leaves for any reason (satisfied, deadline, another strategy) says so on every line before it frees
// the role on the master, so a line never goes back in time. Every waiter looks at its line at least every twenty
// microseconds, and at the word itself about every second: a wake-up cannot be lost, only late.
#pragma once

#include "wic/strategies/strategy.h"
#include "wic/types.h"

namespace wic {

class SharedWatch {
 public:
  static constexpr StrategyId kId = StrategyId::shared_watch;
  static constexpr bool kLeaderWaits = true;
  static constexpr Parking kParking = Parking::barrier;

  WIC_DEVICE Observation observe(const Thread& thread, const WaitContext& wait) {
    if (role_ == Role::none) arrive(thread, wait);
    if (role_ == Role::waiter) {
      if (own_look_is_due(thread)) return own_look(thread, wait);
      const std::uint64_t line = line_.look(thread, my_line(thread, wait));
      fresh_ = fresh_ || reached(ticket_of(line), ticket_);
      // Only who has nothing to gain from the last watcher's last words becomes the next.
      const bool news = fresh_ && !(known_ && value_of(line) == value_);
      if (news || is_active(line) || !become_watcher(thread)) {
        known_ = fresh_;
        value_ = value_of(line);
        return {fresh_, 0, value_};
      }
    }
    return role_ == Role::watcher ? watch(thread, wait) : own_look(thread, wait);
  }

  WIC_DEVICE void pass(const Thread& thread, const WaitContext& wait, std::uint64_t now) {
    const std::uint64_t waited = now - wait.arrived_ns;
    if (role_ == Role::waiter) {
      // A line without a watcher is to be taken over, not waited for.
      const std::uint32_t ns = patient_sleep_ns(waited);
      if (is_active(line_.value)) {
        line_.stand_by(thread, my_line(thread, wait), ns);
      } else if (ns != 0) {
        thread.sleep_ns(ns);
      }
    } else if (!slept_) {
      sleep_through_prediction(thread, wait, now);
    } else if (waited >= kWatcherPatienceNs) {
      thread.sleep_ns(patient_sleep_ns(waited));
    }
  }

  WIC_DEVICE void leave(const Thread& thread, const WaitContext& wait) {
    if (slot_ == nullptr) return;
    if (role_ == Role::watcher) {
      const std::uint64_t last = pack(false, published_ticket_, value_);
      // All that the lines ever get from this watcher comes before the next watcher, and before another word.
      for (std::uint32_t i = 0; i < wait.watch.lines; ++i) thread.store(&slot_->lines[i].mirror, last);
      thread.fence_release();
      thread.store(&slot_->master, last);
      thread.fence_release();
    }
    thread.add(&slot_->key, ~std::uint64_t{0});  // one waiter less
  }

 private:
  enum class Role : std::uint8_t { none, watcher, waiter, alone };

  static constexpr std::uint64_t kWatcherPatienceNs = 200'000;  // for so long it looks again at once: it is only one
  static constexpr std::uint32_t kPredictedStepNs = 1'000;
  static constexpr std::uint32_t kLooksBetweenOwn = 1u << 13;  // rounds: about a second, in a wait of that length
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

  // At least half of the period after the first look, and never many blocks at the same time: reads of a host word by
  // many are what this strategy is there to prevent.
  WIC_DEVICE bool own_look_is_due(const Thread& thread) {
    const std::uint32_t phase = (thread.block() & 0xfff) * (kLooksBetweenOwn / 2 / 0x1000);
    return ((++looks_ + phase) & (kLooksBetweenOwn - 1)) == kLooksBetweenOwn - 1;
  }

  static WIC_DEVICE Observation own_look(const Thread& thread, const WaitContext& wait) {
    return {true, 1, thread.load(wait.word)};
  }
  WIC_DEVICE std::uint64_t* my_line(const Thread& thread, const WaitContext& wait) const {
    return &slot_->lines[thread.block() & (wait.watch.lines - 1)].mirror;
  }

  WIC_DEVICE void arrive(const Thread& thread, const WaitContext& wait) {
    slot_ = join_slot(thread, wait);
    if (slot_ == nullptr) {
      role_ = Role::alone;
      return;
    }
    role_ = Role::waiter;
    // Released: whoever sees this number and reads the word then reads it after all that came before this wait.
    ticket_ = thread.fetch_add_acq_rel(&slot_->arrivals, 1) + 1;
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

  // The arrivals that are read now count from the next look on: by then this read is over.
  WIC_DEVICE Observation watch(const Thread& thread, const WaitContext& wait) {
    const std::uint32_t arrivals = thread.load(&slot_->arrivals);
    const std::uint32_t value = thread.load(wait.word);
    if (!known_ || value != value_ || ticket_ != published_ticket_) publish(thread, wait, value);
    if (arrivals != ticket_) {
      thread.fence_acquire();
      ticket_ = arrivals;
    }
    return {true, 1, value};
  }

  WIC_DEVICE void publish(const Thread& thread, const WaitContext& wait, std::uint32_t value) {
    // A value that is new here may release data: what came with it is passed on with it.
    if (!known_ || value != value_) {
      thread.fence_acquire();
      thread.fence_release();
    }
    const std::uint64_t mirror = pack(true, ticket_, value);
    for (std::uint32_t i = 0; i < wait.watch.lines; ++i) thread.store(&slot_->lines[i].mirror, mirror);
    known_ = true;
    published_ticket_ = ticket_;
    value_ = value;
  }

  // Where waits at the site last alike, the watcher leaves the word alone through the part that is sure to come; but
  // only as long as nobody new asks, and never through more than half of it: a wait that was overslept teaches a
  // shorter one.
  WIC_DEVICE void sleep_through_prediction(const Thread& thread, const WaitContext& wait, std::uint64_t now) {
    slept_ = true;
    const WaitLength usual = wait.site->usual(thread);
    const std::uint64_t spread = std::uint64_t{usual.deviation_ns} * 4;
    if (usual.mean_ns / 2 <= spread) return;
    const std::uint64_t until = wait.arrived_ns + usual.mean_ns / 2;
    while (now + kPredictedStepNs < until && now < wait.deadline_ns && !wait.strategy_changed(thread) &&
           (slot_ == nullptr || thread.load(&slot_->arrivals) == ticket_)) {
      thread.sleep_ns(kPredictedStepNs / 2);
      now = thread.clock_ns();
    }
  }

  // The slot of the word with this waiter counted in; nullptr when its places in the table are taken by other words.
  static WIC_DEVICE WatchSlot* join_slot(const Thread& thread, const WaitContext& wait) {
    const std::uint64_t address = reinterpret_cast<std::uint64_t>(wait.word) >> 2;
    const std::uint32_t start = static_cast<std::uint32_t>((address * 0x9e3779b97f4a7c15u) >> 32);
    for (std::uint32_t claiming = 0; claiming < 2; ++claiming) {  // first look for it, then for room
      for (std::uint32_t i = 0; i < kProbes; ++i) {
        WatchSlot& slot = wait.watch.slots[(start + i) & (wait.watch.slot_count - 1)];
        std::uint64_t key = thread.load(&slot.key);
        if (claiming != 0 && (key & kUsersMask) == 0 && key >> 17 != address) {
          if (thread.compare_exchange(&slot.key, key, (address << 17) | 1)) return &slot;
        }
        if (key >> 17 != address) continue;
        if (thread.fetch_add(&slot.key, 1) >> 17 == address) return &slot;
        thread.add(&slot.key, ~std::uint64_t{0});  // it has just become another word's
      }
    }
    return nullptr;
  }

  WatchSlot* slot_ = nullptr;
  Sight<std::uint64_t> line_;  // a waiter's own
  std::uint32_t ticket_ = 0;   // a waiter's own; a watcher's: who had arrived before its next look
  std::uint32_t published_ticket_ = 0;
  std::uint32_t value_ = 0;  // the last that was published, or taken from the line
  std::uint32_t looks_ = 0;
  Role role_ = Role::none;
  bool fresh_ = false;
  bool known_ = false;  // value_ holds something
  bool slept_ = false;
};

}  // namespace wic
