// wait_until: a group of threads waits until a word satisfies a condition or a deadline passes.
#pragma once

#include <type_traits>
#include <utility>

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

namespace detail {

// What a condition or a strategy may define beside the rest. Not as requires expressions: programs may be C++17.
template <class Condition, class = void>
inline constexpr bool kRecordsAValue = false;
template <class Condition>
inline constexpr bool
    kRecordsAValue<Condition, std::void_t<decltype(std::declval<const Condition&>().recorded_value(0u))>> = true;

template <class Condition, class = void>
inline constexpr bool kWantsAValue = false;
template <class Condition>
inline constexpr bool kWantsAValue<Condition, std::void_t<decltype(std::declval<const Condition&>().wanted_value())>> =
    true;

template <class Strategy, class = void>
inline constexpr bool kBegins = false;
template <class Strategy>
inline constexpr bool kBegins<Strategy, std::void_t<decltype(std::declval<Strategy&>().begin(
                                            std::declval<const Thread&>(), std::declval<const WaitContext&>()))>> =
    true;

}  // namespace detail

/// The value that the trace records for a wait: the last one seen, unless the condition defines its own.
template <class Condition>
WIC_DEVICE std::uint32_t recorded_value(const Condition& condition, std::uint32_t seen) {
  if constexpr (detail::kRecordsAValue<Condition>) {
    return condition.recorded_value(seen);
  } else {
    return seen;
  }
}

/// WaitEvent::ahead_plus_one of a wait that ended with the value `seen`.
template <class Condition>
WIC_DEVICE std::uint8_t ahead_plus_one(const Condition& condition, std::uint32_t seen) {
  if constexpr (detail::kWantsAValue<Condition>) {
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
  std::uint8_t reports = 0;   // of the wait in progress
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
  if constexpr (kBegins<Strategy>) strategy.begin(thread, wait);
  for (;;) {
    const Observation seen = strategy.observe(thread, wait);
    std::uint32_t strategy_word = wait.strategy_word;
    if (now >= look_at_strategy) {
      strategy_word = wait.load_strategy(thread);  // overlaps with the load in observe()
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
      strategy.pass(thread, wait, now, condition);
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
      strategy_word = wait.load_strategy(thread);
      now = thread.clock_ns();
    }
    if (strategy_word != wait.strategy_word) {
      if (tally.switched_after_ns == 0) tally.switched_after_ns = clamp_to_word(now - wait.arrived_ns);
      result.end = LoopEnd::strategy_changed;
      break;
    }
    strategy.pass(thread, wait, now, condition);
  }
  strategy.leave(thread, wait);
  return result;
}

// A wait whose producer is gone reads the word once more.
template <class Condition>
WIC_DEVICE LoopResult last_look(const Thread& thread, const std::uint32_t* word, const Condition& condition,
                                WaitTally& tally) {
  const std::uint32_t value = thread.load(word);
  ++tally.polls;
  if (!condition(value)) return {LoopEnd::producer_lost, value};
  thread.fence_acquire();
  return {LoopEnd::satisfied, value};
}

template <class Condition>
WIC_DEVICE void report_open_wait(const Thread& thread, const WaitContext& wait, const Condition& condition,
                                 std::uint32_t value, std::uint8_t report) {
  std::uint32_t wanted = 0;
  if constexpr (kWantsAValue<Condition>) wanted = condition.wanted_value();
  write_open_wait(
      thread, *wait.view,
      {wait.word, wait.arrived_ns, wait.site, wait.iteration, value, wanted, kWantsAValue<Condition>, report});
}

// Polls with one strategy, with a pause for each report: the poll loop gets the time of the next report as its
// deadline, so that it keeps no time of its own for that.
template <class Condition>
WIC_DEVICE LoopResult poll_once(const Thread& thread, WaitContext wait, const Condition& condition, WaitTally& tally) {
  if (wait.strategy_id() == kProducerLost) return last_look(thread, wait.word, condition, tally);
  tally.strategy = wait.strategy_id();
  const std::uint64_t deadline = wait.deadline_ns;
  for (;;) {
    const bool reports = wait.view->records != nullptr && tally.reports < kMostReports;
    const std::uint64_t report_at = wait.arrived_ns + (reports ? report_age_ns(tally.reports) : 0);
    wait.deadline_ns = reports && report_at < deadline ? report_at : deadline;
    const LoopResult result = with_observation(
        wait.strategy_id(), [&](auto strategy) { return poll_loop(thread, wait, strategy, condition, tally); });
    if (result.end != LoopEnd::deadline_passed || wait.deadline_ns == deadline) return result;
    // One record per group, or per warp where every thread polls: then the first lane's.
    if (thread.lane() == 0) report_open_wait(thread, wait, condition, result.value, tally.reports);
    ++tally.reports;
  }
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
    wait.strategy_word = wait.load_strategy(thread);
  }
}

// Groups of a wait as types, so that the compiler knows their barriers out of line, too: an SM has 64 barriers, and one
// whose number is not a constant takes 16 in each block.
struct WholeBlock {
  WIC_DEVICE Group of(const Thread& thread, Pollers pollers) const { return {0, thread.barrier_size(), 0, pollers}; }
};
template <std::uint32_t kBarrier>
struct GroupAt {
  std::uint32_t first : 16;
  std::uint32_t threads : 16;  // one register for both
  WIC_DEVICE Group of(const Thread&, Pollers pollers) const { return {first, threads, kBarrier, pollers}; }
};

// Calls visit(a GroupAt). A group whose barrier is a constant where the wait is inlined leaves one of the calls.
template <class Visitor>
WIC_DEVICE WaitResult with_group(const Group& group, Visitor&& visit) {
  static_assert(kGroupBarriers == 8);
  switch (group.barrier) {
    case 0:
      return visit(GroupAt<0>{group.first, group.threads});
    case 1:
      return visit(GroupAt<1>{group.first, group.threads});
    case 2:
      return visit(GroupAt<2>{group.first, group.threads});
    case 3:
      return visit(GroupAt<3>{group.first, group.threads});
    case 4:
      return visit(GroupAt<4>{group.first, group.threads});
    case 5:
      return visit(GroupAt<5>{group.first, group.threads});
    case 6:
      return visit(GroupAt<6>{group.first, group.threads});
    default:
      return visit(GroupAt<7>{group.first, group.threads});
  }
}

// The arguments of a wait. The deadline is computed where a wait is long enough to have one.
template <class GroupKind>
struct WaitCall {
  const std::uint32_t* word;
  const DeviceView* view;
  std::uint64_t arrived_ns;
  std::uint64_t timeout_ns;
  SiteId site;
  std::uint32_t iteration;
  GroupKind group;

  WIC_DEVICE WaitContext begin(std::uint32_t strategy_word) const {
    return {word, view, arrived_ns, deadline_after(arrived_ns, timeout_ns), site, strategy_word, iteration};
  }
};

// One record per group where one thread polls, per warp where every thread polls.
template <class GroupKind, class Condition>
WIC_DEVICE void record_wait(const Thread& thread, const WaitCall<GroupKind>& wait, const Group& group,
                            const Condition& condition, const WaitResult& result, const WaitTally& tally,
                            std::uint64_t end_ns) {
  if (group.pollers == Pollers::leader ? group.is_leader(thread) : thread.lane() == 0) {
    write_record(thread, *wait.view,
                 {wicprof::WaitEvent::kKind, tally.strategy, result.status, wait.site, wait.iteration, tally.polls,
                  wait.arrived_ns, end_ns, tally.switched_after_ns, recorded_value(condition, result.value),
                  word_tag(wait.word), static_cast<std::uint8_t>((group.threads + kWarpSize - 1) / kWarpSize),
                  group.pollers, tally.waited, ahead_plus_one(condition, result.value)});
  }
  // Preferably not the leader: it has done the polling already.
  if (tally.waited && result.status == WaitStatus::satisfied &&
      thread.index() == group.first + (group.threads > kWarpSize ? kWarpSize : 0)) {
    update_averages(thread, wait.view->sites[wait.site], wait.arrived_ns, end_ns);
  }
}

// The rest of a wait whose word was not ready at the leader's first look. One thread waits, through any number of
// strategies; the group learns the result at its barrier.
template <class GroupKind, class Condition>
WIC_OUT_OF_LINE WaitResult wait_behind_leader(Thread thread, WaitCall<GroupKind> call, Condition condition) {
  const Group group = call.group.of(thread, Pollers::leader);
  GroupScratch& scratch = thread.group_scratch(group.barrier);
  WaitTally tally;
  tally.waited = true;
  if (group.is_leader(thread)) {
    tally.polls = call.view->hot.has(call.site) ? 0 : 1;
    const LoopResult result = wait_long(thread, call.begin(scratch.strategy), condition, tally);
    scratch.long_status = static_cast<std::uint32_t>(result.end);  // others may not have read `status` yet
    scratch.value = result.value;
    thread.exchange(&scratch.finished, kGroupFinished);
  } else if (thread.index() == group.first + kWarpSize && call.view->control != nullptr) {
    const DeviceView& view = *call.view;
    serve_as_steward(thread, {view.control, view.strategies, view.steward}, scratch);
  }
  thread.sync_warp();
  thread.barrier(group.barrier, group.threads);
  const WaitResult result{static_cast<WaitStatus>(scratch.long_status), scratch.value};
  if (group.is_leader(thread)) thread.exchange(&scratch.finished, 0);
  thread.barrier(group.barrier, group.threads);  // before the scratch may be written again
  record_wait(thread, call, group, condition, result, tally, thread.clock_ns());
  return result;
}

// The record of a wait whose word was ready at the leader's first look. The leader calls it.
template <class GroupKind, class Condition>
WIC_DEVICE void record_ready(const Thread& thread, const WaitCall<GroupKind>& call, const Condition& condition,
                             std::uint32_t value, std::uint32_t strategy_word) {
  const Group group = call.group.of(thread, Pollers::leader);
  const auto strategy = static_cast<std::uint8_t>(strategy_word & 0xffu);
  WaitTally tally;
  tally.polls = 1;
  if (strategy != kProducerLost) tally.strategy = strategy;
  record_wait(thread, call, group, condition, {WaitStatus::satisfied, value}, tally, thread.clock_ns());
}

// A word that is ready costs one look: the strategy word is loaded beside it, not before it. At a hot site even one
// look by each waiter would hurt, so there is none.
template <class GroupKind, class Condition>
WIC_DEVICE WaitResult leader_wait(const Thread& thread, const WaitCall<GroupKind>& call, const Condition& condition) {
  const Group group = call.group.of(thread, Pollers::leader);
  GroupScratch& scratch = thread.group_scratch(group.barrier);
  if (group.is_leader(thread)) {
    const std::uint32_t strategy_word = thread.load(&call.view->strategies[call.site].word);
    LoopEnd end = LoopEnd::strategy_changed;  // not ready
    if (!call.view->hot.has(call.site)) {
      const std::uint32_t value = thread.load(call.word);
      scratch.value = value;
      if (condition(value)) {
        thread.fence_acquire();
        end = LoopEnd::satisfied;
      }
    }
    scratch.strategy = strategy_word;  // not earlier: this would wait for one load before the other begins
    scratch.status = static_cast<std::uint32_t>(end);
  }
  thread.sync_warp();
  thread.barrier(group.barrier, group.threads);
  if (scratch.status != static_cast<std::uint32_t>(LoopEnd::satisfied)) {
    return wait_behind_leader(thread, call, condition);
  }
  const WaitResult result{WaitStatus::satisfied, scratch.value};
  const std::uint32_t strategy_word = scratch.strategy;
  thread.barrier(group.barrier, group.threads);  // before the scratch may be written again
  if (group.is_leader(thread)) record_ready(thread, call, condition, result.value, strategy_word);
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

// Every thread waits for itself or for its leader, depending on the current strategy. The group agrees on the strategy
// at its barrier and meets there when the wait ends or the strategy changes, so no thread parks after another has left.
template <class GroupKind, class Condition>
WIC_OUT_OF_LINE WaitResult each_thread_wait(Thread thread, WaitCall<GroupKind> call, Condition condition) {
  const Group group = call.group.of(thread, Pollers::each_thread);
  WaitContext wait = call.begin(0);
  WaitTally tally;
  GroupScratch& scratch = thread.group_scratch(group.barrier);
  LoopResult mine{LoopEnd::strategy_changed, 0};
  const auto finished = [&mine] { return mine.end != LoopEnd::strategy_changed; };
  for (;;) {
    if (group.is_leader(thread)) {
      scratch.strategy = wait.load_strategy(thread);
      scratch.unfinished = 0;
      thread.mbarrier_init(&scratch.parked);
    }
    thread.sync_warp();
    thread.barrier(group.barrier, group.threads);
    wait.strategy_word = scratch.strategy;
    if (wait.strategy_id() != kProducerLost) tally.strategy = wait.strategy_id();
    const bool one_warp = group.threads == kWarpSize && warp_polls(wait.strategy_id());
    const bool for_all = leader_waits(wait.strategy_id()) && !one_warp;
    const Parking parking = parking_of(wait.strategy_id());
    if (for_all ? group.is_leader(thread) : !finished()) {
      const LoopResult result = poll_once(thread, wait, condition, tally);
      if (!finished()) mine = result;  // a leader may go on polling for the others after its own wait has ended
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
    if (for_all && !finished()) mine = {static_cast<LoopEnd>(scratch.status), scratch.value};
    const bool again = scratch.unfinished != 0;
    tally.waited = scratch.waited != 0;
    if (group.is_leader(thread)) thread.mbarrier_invalidate(&scratch.parked);
    thread.barrier(group.barrier, group.threads);  // before the scratch may be written again
    if (!again) break;
  }
  const WaitResult result{static_cast<WaitStatus>(mine.end), mine.value};
  record_wait(thread, call, group, condition, result, tally, thread.clock_ns());
  return result;
}

template <class Condition>
WIC_DEVICE WaitResult wait_for_block(const Thread& thread, const DeviceView& view, SiteId site, std::uint32_t iteration,
                                     const std::uint32_t* word, const Condition& condition, std::uint64_t timeout_ns) {
  const std::uint64_t arrived = thread.clock_ns();
  return leader_wait(thread, WaitCall<WholeBlock>{word, &view, arrived, timeout_ns, site, iteration, {}}, condition);
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
  return detail::with_group(group, [&](auto kind) {
    const detail::WaitCall<decltype(kind)> call{word, &view, arrived, timeout_ns, site, iteration, kind};
    return group.pollers == Pollers::leader ? detail::leader_wait(thread, call, condition)
                                            : detail::each_thread_wait(thread, call, condition);
  });
}

/// Parks the group until the word differs from `seen`: a futex for warps. Otherwise like wait_until().
WIC_DEVICE inline WaitResult watch(const Thread& thread, const DeviceView& view, const Group& group, SiteId site,
                                   std::uint32_t iteration, const std::uint32_t* word, std::uint32_t seen,
                                   std::uint64_t timeout_ns) {
  return wait_until(thread, view, group, site, iteration, word, Differs{seen}, timeout_ns);
}

}  // namespace wic
