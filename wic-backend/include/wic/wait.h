// wait_until: a group of threads waits until a word satisfies a condition or a deadline passes.
#pragma once

#include "wic/group.h"
#include "wic/record.h"
#include "wic/signal.h"
#include "wic/steward.h"
#include "wic/strategies/list.h"

namespace wic {

/// The usual condition: the word, a counter that only grows (and may wrap around), has reached `goal`.
struct AtLeast {
  std::uint32_t goal;
  /// For the trace: the value that the wait wants, which the word may have passed.
  WIC_DEVICE std::uint32_t wanted_value() const { return goal; }
  WIC_DEVICE bool operator()(std::uint32_t value) const { return static_cast<std::int32_t>(value - goal) >= 0; }
};

/// For watch(): the word has changed.
struct Differs {
  std::uint32_t seen;
  WIC_DEVICE bool operator()(std::uint32_t value) const { return value != seen; }
};

/// The value that the trace records for a wait: the last one seen, unless the condition defines its own.
template <class Condition>
WIC_DEVICE std::uint32_t recorded_value(const Condition& condition, std::uint32_t seen) {
  if constexpr (requires { condition.recorded_value(seen); }) {
    return condition.recorded_value(seen);
  } else {
    return seen;
  }
}

/// WaitEvent::ahead_plus_one of a wait that ended with the value `seen`.
template <class Condition>
WIC_DEVICE std::uint8_t ahead_plus_one(const Condition& condition, std::uint32_t seen) {
  if constexpr (requires { condition.wanted_value(); }) {
    const std::uint32_t ahead = seen - condition.wanted_value();
    return ahead < 0xff ? static_cast<std::uint8_t>(ahead + 1) : std::uint8_t{0};
  } else {
    return 0;
  }
}

struct WaitResult {
  WaitStatus status;
  std::uint32_t value;  ///< the last value seen

  /// Whether the condition held: the data behind the word may be used.
  WIC_DEVICE constexpr explicit operator bool() const { return status == WaitStatus::satisfied; }
};

namespace detail {

enum class LoopEnd : std::uint32_t { satisfied = 0, deadline_passed = 1, producer_lost = 2, strategy_changed = 3 };

struct LoopResult {
  LoopEnd end;
  std::uint32_t value;
};

// The figures of one wait, over all strategies that it used.
struct WaitTally {
  std::uint32_t polls = 0;
  std::uint32_t switched_after_ns = 0;
  std::uint8_t strategy = 0;  // the last one
  bool waited = false;        // the word was not ready at the leader's first look
};

// All waiters of a site read its strategy word; if they read more often than this, thousands of them would queue there.
inline constexpr std::uint64_t kStrategyLookNs = 20'000;
inline constexpr std::uint64_t kLongestStrategyLookNs = 200'000;  // in long waits: a toggle may take 1 ms
// Reading the device clock at each look would slow neighbours that are bound by shared memory.
inline constexpr std::uint32_t kCyclesBetweenClocks = 4'000;
inline constexpr std::uint32_t kMbarrierHintNs = 1'000'000;

WIC_DEVICE inline std::uint32_t clamp_to_word(std::uint64_t ns) {
  return ns > 0xffffffffu ? 0xffffffffu : low_word(ns);
}

// The one poll loop. Returns when the condition holds, the deadline has passed, or the site's strategy has changed.
template <class Strategy, class Condition>
WIC_DEVICE LoopResult poll_loop(const Thread& thread, const WaitContext& wait, Strategy strategy,
                                const Condition& condition, WaitTally& tally) {
  LoopResult result{LoopEnd::satisfied, 0};
  std::uint64_t now = wait.arrived_ns;
  std::uint64_t look_at_strategy = 0;
  std::uint32_t clock_read = thread.cycles();
  for (;;) {
    const Observation seen = strategy.observe(thread, wait);
    std::uint32_t strategy_word = wait.strategy_word;
    if (now >= look_at_strategy) {
      strategy_word = thread.load(&wait.strategy->word);  // overlaps with the load in observe()
      const std::uint64_t share = (now - wait.arrived_ns) / 16;
      look_at_strategy = now + (share < kStrategyLookNs          ? kStrategyLookNs
                                : share < kLongestStrategyLookNs ? share
                                                                 : kLongestStrategyLookNs);
    }
    tally.polls += seen.reads;
    if (seen.fresh) result.value = seen.value;
    if (seen.fresh && condition(seen.value)) {
      thread.fence_acquire();
      break;
    }
    tally.waited = true;
    if (strategy_word == wait.strategy_word && thread.cycles() - clock_read < kCyclesBetweenClocks) {
      strategy.pass(thread, wait, now);
      continue;
    }
    const std::uint64_t looked = now;
    now = thread.clock_ns();
    clock_read = thread.cycles();
    if (now >= wait.deadline_ns) {
      result.end = LoopEnd::deadline_passed;
      break;
    }
    // The strategy may have changed during a slow look; without this load the change would wait for the next look.
    if (now - looked > kStrategyLookNs) {
      strategy_word = thread.load(&wait.strategy->word);
      now = thread.clock_ns();
    }
    if (strategy_word != wait.strategy_word) {
      if (tally.switched_after_ns == 0) tally.switched_after_ns = clamp_to_word(now - wait.arrived_ns);
      result.end = LoopEnd::strategy_changed;
      break;
    }
    strategy.pass(thread, wait, now);
  }
  strategy.leave(thread, wait);
  return result;
}

// A wait whose producer is gone reads the word once more.
template <class Condition>
WIC_DEVICE LoopResult last_look(const Thread& thread, const WaitContext& wait, const Condition& condition,
                                WaitTally& tally) {
  const std::uint32_t value = thread.load(wait.word);
  ++tally.polls;
  if (!condition(value)) return {LoopEnd::producer_lost, value};
  thread.fence_acquire();
  return {LoopEnd::satisfied, value};
}

template <class Condition>
WIC_DEVICE LoopResult poll_once(const Thread& thread, const WaitContext& wait, const Condition& condition,
                                WaitTally& tally) {
  if (wait.strategy_id() == kProducerLost) return last_look(thread, wait, condition, tally);
  tally.strategy = wait.strategy_id();
  return with_strategy(wait.strategy_id(),
                       [&](auto strategy) { return poll_loop(thread, wait, strategy, condition, tally); });
}

// Moves the site's averages a quarter of the way to this wait. Waiters of one word leave together and should count
// once: a waiter that arrived before the last update belongs to that update. A difference under an eighth is not stored
// either: hundreds of stores to one line would delay the waiters.
WIC_DEVICE inline void update_averages(const Thread& thread, SiteMemory& site, std::uint64_t arrived,
                                       std::uint64_t now) {
  std::uint32_t known[4];
  thread.load_quad(site.quad, known);
  if (arrived < ((std::uint64_t{known[3]} << 32) | known[2])) return;
  const std::uint32_t waited = clamp_to_word(now - arrived);
  std::int64_t mean = known[0], deviation = known[1];
  const std::int64_t difference = std::int64_t{waited} - mean;
  const std::int64_t distance = difference < 0 ? -difference : difference;
  const std::int64_t eighth = mean / 8;
  if (distance <= eighth && deviation <= eighth) return;
  if (mean == 0) {
    mean = waited;
    deviation = waited / 2;
  } else {
    if (distance > eighth) mean += difference / 4;
    deviation += (distance - deviation) / 4;
  }
  thread.store_quad(site.quad, static_cast<std::uint32_t>(mean), static_cast<std::uint32_t>(deviation), low_word(now),
                    high_word(now));
}

// Waits for a word that was not ready at the first look.
template <class Condition>
WIC_DEVICE LoopResult wait_long(const Thread& thread, WaitContext wait, const Condition& condition, WaitTally& tally) {
  for (;;) {
    const LoopResult result = poll_once(thread, wait, condition, tally);
    if (result.end != LoopEnd::strategy_changed) return result;
    wait.strategy_word = thread.load(&wait.strategy->word);
  }
}

// A word that is ready costs one look: the strategy word is loaded beside it, not before it. At a hot site even one
// look by each waiter would hurt, so there is none. LoopEnd::strategy_changed: not ready.
template <class Condition>
WIC_DEVICE LoopResult first_look(const Thread& thread, bool hot, WaitContext& wait, const Condition& condition,
                                 WaitTally& tally) {
  wait.strategy_word = thread.load(&wait.strategy->word);
  if (hot) return {LoopEnd::strategy_changed, 0};
  const std::uint32_t value = thread.load(wait.word);
  tally.polls = 1;
  if (!condition(value)) return {LoopEnd::strategy_changed, value};
  thread.fence_acquire();
  if (wait.strategy_id() != kProducerLost) tally.strategy = wait.strategy_id();
  return {LoopEnd::satisfied, value};
}

// One thread waits, through any number of strategies; the group learns the result at its barrier.
template <class Condition>
WIC_DEVICE WaitResult leader_wait(const Thread& thread, const DeviceView& view, const Group& group, SiteId site,
                                  WaitContext wait, const Condition& condition, WaitTally& tally) {
  GroupScratch& scratch = thread.group_scratch(group.barrier);
  if (group.is_leader(thread)) {
    const LoopResult result = first_look(thread, view.hot.has(site), wait, condition, tally);
    scratch.status = static_cast<std::uint32_t>(result.end);
    scratch.value = result.value;
  }
  thread.sync_warp();
  thread.barrier(group.barrier, group.threads);
  tally.waited = scratch.status == static_cast<std::uint32_t>(LoopEnd::strategy_changed);
  if (tally.waited) {
    if (group.is_leader(thread)) {
      const LoopResult result = wait_long(thread, wait, condition, tally);
      scratch.long_status = static_cast<std::uint32_t>(result.end);
      scratch.value = result.value;
      thread.exchange(&scratch.finished, kGroupFinished);
    } else if (thread.index() == group.first + kWarpSize && view.control != nullptr) {
      serve_as_steward(thread, {view.control, view.strategies, view.steward}, scratch);
    }
    thread.sync_warp();
    thread.barrier(group.barrier, group.threads);
  }
  const WaitResult result{static_cast<WaitStatus>(tally.waited ? scratch.long_status : scratch.status), scratch.value};
  if (tally.waited && group.is_leader(thread)) thread.exchange(&scratch.finished, 0);
  thread.barrier(group.barrier, group.threads);  // before the scratch may be written again
  return result;
}

// Where the threads of a group wait for their leader, if not at the group's barrier. Not for the leader's own warp: its
// other lanes would take turns from it, so they wait at the reconvergence.
WIC_DEVICE inline void wait_at_mbarrier(const Thread& thread, GroupScratch& scratch, Parking parking) {
  if (parking == Parking::mbarrier) {
    while (!thread.mbarrier_try_wait(&scratch.parked)) {
    }
  } else {
    while (!thread.mbarrier_try_wait(&scratch.parked, kMbarrierHintNs)) {
    }
  }
}

struct GroupWait {
  WaitResult result;
  WaitTally tally;
};

// Every thread waits for itself or for its leader, depending on the current strategy. The group agrees on the strategy
// at its barrier and meets there when the wait ends or the strategy changes, so no thread parks after another has left.
template <class Condition>
WIC_DEVICE GroupWait each_thread_wait(Thread thread, Group group, WaitContext wait, Condition condition) {
  WaitTally tally;
  GroupScratch& scratch = thread.group_scratch(group.barrier);
  bool finished = false;
  LoopResult mine{LoopEnd::strategy_changed, 0};
  for (;;) {
    if (group.is_leader(thread)) {
      scratch.strategy = thread.load(&wait.strategy->word);
      scratch.unfinished = 0;
      thread.mbarrier_init(&scratch.parked);
    }
    thread.sync_warp();
    thread.barrier(group.barrier, group.threads);
    wait.strategy_word = scratch.strategy;
    if (wait.strategy_id() != kProducerLost) tally.strategy = wait.strategy_id();
    const bool for_all = leader_waits(wait.strategy_id());
    const Parking parking = parking_of(wait.strategy_id());
    if (for_all ? group.is_leader(thread) : !finished) {
      const LoopResult result = poll_once(thread, wait, condition, tally);
      if (!finished) mine = result;  // a leader may go on polling for the others after its own wait has ended
      if (for_all) {
        scratch.status = static_cast<std::uint32_t>(result.end);
        scratch.value = result.value;
        thread.mbarrier_arrive(&scratch.parked);
      }
      if (result.end == LoopEnd::strategy_changed) thread.store(&scratch.unfinished, 1);
      if (group.is_leader(thread)) scratch.waited = tally.waited;
    } else if (parking != Parking::barrier && thread.index() >= group.first + kWarpSize) {
      wait_at_mbarrier(thread, scratch, parking);
    }
    thread.sync_warp();
    thread.barrier(group.barrier, group.threads);
    if (for_all && !finished) mine = {static_cast<LoopEnd>(scratch.status), scratch.value};
    finished = mine.end != LoopEnd::strategy_changed;
    const bool again = scratch.unfinished != 0;
    tally.waited = scratch.waited != 0;
    if (group.is_leader(thread)) thread.mbarrier_invalidate(&scratch.parked);
    thread.barrier(group.barrier, group.threads);  // before the scratch may be written again
    if (!again) return {{static_cast<WaitStatus>(mine.end), mine.value}, tally};
  }
}

}  // namespace detail

/// All threads of `group` call it, and leave together. Returns once `condition(*word)` held; everything that was
/// written before the word was released is then visible to the whole group. Also returns once `timeout_ns` have passed,
/// or once the producer is known to be gone (Runtime::release_waiters): the status tells which. Writes one record per
/// group (where one thread polls) or per warp (where every thread polls) to the trace. `condition`: a pure function of
/// the value. `iteration`: the program's own count, for the trace. Site::wait() is the short form.
template <class Condition>
WIC_DEVICE WaitResult wait_until(const Thread& thread, const DeviceView& view, const Group& group, SiteId site,
                                 std::uint32_t iteration, const std::uint32_t* word, const Condition& condition,
                                 std::uint64_t timeout_ns) {
  const std::uint64_t arrived = thread.clock_ns();
  const WaitContext wait{
      word, &view.strategies[site], 0, &view.sites[site], view.watch, arrived, deadline_after(arrived, timeout_ns)};
  const bool one_polls = group.pollers == Pollers::leader;
  detail::GroupWait done;
  if (one_polls) {
    done.result = detail::leader_wait(thread, view, group, site, wait, condition, done.tally);
  } else {
    done = detail::each_thread_wait(thread, group, wait, condition);
  }
  const auto& [result, tally] = done;
  if (one_polls ? group.is_leader(thread) : thread.lane() == 0) {
    write_record(thread, view,
                 {wicprof::WaitEvent::kKind, tally.strategy, result.status, site, iteration, tally.polls, arrived,
                  thread.clock_ns(), tally.switched_after_ns, recorded_value(condition, result.value), word_tag(word),
                  static_cast<std::uint8_t>(group.threads / kWarpSize), group.pollers, tally.waited,
                  ahead_plus_one(condition, result.value)});
  }
  // Preferably not the leader: it has done the polling already.
  if (tally.waited && result.status == WaitStatus::satisfied &&
      thread.index() == group.first + (group.threads > kWarpSize ? kWarpSize : 0)) {
    detail::update_averages(thread, view.sites[site], arrived, thread.clock_ns());
  }
  return result;
}

/// Parks the group until the word differs from `seen`: a futex for warps. Otherwise like wait_until().
WIC_DEVICE inline WaitResult watch(const Thread& thread, const DeviceView& view, const Group& group, SiteId site,
                                   std::uint32_t iteration, const std::uint32_t* word, std::uint32_t seen,
                                   std::uint64_t timeout_ns) {
  return wait_until(thread, view, group, site, iteration, word, Differs{seen}, timeout_ns);
}

}  // namespace wic
