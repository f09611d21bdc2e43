// wait_until: a group of threads waits until a word satisfies a condition or a deadline passes.
#pragma once

#include "wic/group.h"
#include "wic/record.h"
#include "wic/steward.h"
#include "wic/strategies/list.h"

namespace wic {

/// The usual condition: the word, a counter that only grows (and may wrap), has reached `goal`.
struct AtLeast {
  std::uint32_t goal;
  WIC_DEVICE bool operator()(std::uint32_t value) const { return static_cast<std::int32_t>(value - goal) >= 0; }
};

struct WaitResult {
  wicprof::WaitStatus status;
  std::uint32_t value;  ///< the last value seen
};

namespace detail {

enum class LoopEnd : std::uint32_t { satisfied = 0, deadline_passed = 1, strategy_changed = 2 };

struct LoopResult {
  LoopEnd end;
  std::uint32_t value;
};

// What a wait has gathered over all the strategies that it went through.
struct WaitTally {
  std::uint32_t polls = 0;
  std::uint32_t switched_after_ns = 0;
  std::uint8_t strategy = 0;  // the one in force last
};

inline constexpr std::uint64_t kSlowLookNs = 20'000;

WIC_DEVICE inline std::uint32_t clamp_to_word(std::uint64_t ns) { return ns > 0xffffffffu ? 0xffffffffu : low_word(ns); }

// The one poll loop. Returns when the condition holds, the deadline has passed, or the site's strategy has changed.
template <class Strategy, class Condition>
WIC_DEVICE LoopResult poll_loop(const Thread& thread, const WaitContext& wait, Strategy strategy,
                                const Condition& condition, WaitTally& tally) {
  LoopResult result{LoopEnd::satisfied, 0};
  std::uint64_t looked = wait.arrived_ns;
  for (;;) {
    const Observation seen = strategy.observe(thread, wait);
    std::uint32_t strategy_word = thread.load(&wait.strategy->word);  // in the shadow of the load above
    tally.polls += seen.read_word ? 1 : 0;
    if (seen.fresh) result.value = seen.value;
    if (seen.fresh && condition(seen.value)) {
      thread.fence_acquire();
      break;
    }
    const std::uint64_t now = thread.clock_ns();
    if (now >= wait.deadline_ns) {
      result.end = LoopEnd::deadline_passed;
      break;
    }
    // A look that took long lasted long enough for a change: without this it would show only after the next one.
    if (now - looked > kSlowLookNs) strategy_word = thread.load(&wait.strategy->word);
    looked = now;
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

template <class Condition>
WIC_DEVICE LoopResult poll_once(const Thread& thread, const WaitContext& wait, const Condition& condition,
                                WaitTally& tally) {
  return with_strategy(wait.strategy_id(),
                       [&](auto strategy) { return poll_loop(thread, wait, strategy, condition, tally); });
}

// Moves the site's prediction a quarter of the way to this wait's length. Not for a difference under an eighth: all
// waiters of a word leave at the same moment, and hundreds of stores to one line would keep them there.
WIC_DEVICE inline void learn(const Thread& thread, SiteMemory& site, std::uint64_t waited_ns) {
  const std::int64_t known = thread.load(&site.predicted_ns);
  const std::int64_t waited = clamp_to_word(waited_ns);
  const std::int64_t difference = waited - known;
  if ((difference < 0 ? -difference : difference) <= known / 8) return;
  thread.store(&site.predicted_ns, static_cast<std::uint32_t>(known == 0 ? waited : known + difference / 4));
}

// One thread waits, through as many strategies as it takes; the group learns the result at its barrier.
template <class Condition>
WIC_DEVICE WaitResult leader_wait(const Thread& thread, const DeviceView& view, const Group& group, WaitContext wait,
                                  const Condition& condition, WaitTally& tally) {
  GroupScratch& scratch = thread.group_scratch(group.barrier);
  if (group.is_leader(thread)) {
    LoopResult result;
    do {
      wait.strategy_word = thread.load(&wait.strategy->word);
      tally.strategy = wait.strategy_id();
      result = poll_once(thread, wait, condition, tally);
    } while (result.end == LoopEnd::strategy_changed);
    scratch.status = static_cast<std::uint32_t>(result.end);
    scratch.value = result.value;
    thread.exchange(&scratch.finished, kGroupFinished);
  } else if (thread.index() == group.first + kWarpSize) {
    serve_as_steward(thread, view, scratch);
  }
  thread.sync_warp();
  thread.barrier(group.barrier, group.threads);
  const WaitResult result{static_cast<wicprof::WaitStatus>(scratch.status), scratch.value};
  if (group.is_leader(thread)) thread.exchange(&scratch.finished, 0);
  thread.barrier(group.barrier, group.threads);  // before the scratch may be written again
  return result;
}

// Every thread waits for itself or for its leader, as the strategy of the moment has it. The group agrees on the strategy
// at its barrier and comes together there when it ends or changes, so no thread parks where another has left.
template <class Condition>
WIC_DEVICE WaitResult each_thread_wait(const Thread& thread, const Group& group, WaitContext wait,
                                       const Condition& condition, WaitTally& tally) {
  GroupScratch& scratch = thread.group_scratch(group.barrier);
  bool finished = false;
  LoopResult mine{LoopEnd::strategy_changed, 0};
  for (;;) {
    if (group.is_leader(thread)) {
      scratch.strategy = thread.load(&wait.strategy->word);
      scratch.unfinished = 0;
    }
    thread.sync_warp();
    thread.barrier(group.barrier, group.threads);
    wait.strategy_word = scratch.strategy;
    tally.strategy = wait.strategy_id();
    const bool for_all = leader_waits(wait.strategy_id());
    if (for_all ? group.is_leader(thread) : !finished) {
      mine = poll_once(thread, wait, condition, tally);
      if (for_all) {
        scratch.status = static_cast<std::uint32_t>(mine.end);
        scratch.value = mine.value;
      }
      if (mine.end == LoopEnd::strategy_changed) thread.store(&scratch.unfinished, 1);
    }
    thread.sync_warp();
    thread.barrier(group.barrier, group.threads);
    if (for_all && !finished) mine = {static_cast<LoopEnd>(scratch.status), scratch.value};
    finished = mine.end != LoopEnd::strategy_changed;
    const bool again = scratch.unfinished != 0;
    thread.barrier(group.barrier, group.threads);  // before the scratch may be written again
    if (!again) return {static_cast<wicprof::WaitStatus>(mine.end), mine.value};
  }
}

}  // namespace detail

/// Called by all threads of `group`, which leave together. Returns once `condition(*word)` held, with everything that
/// was written before the word was released visible to the whole group; or, as a result, once timeout_ns have passed.
/// One record a group (where one thread polls) or a warp (where every thread does) goes to the trace.
/// `condition`: a pure function of the value. `iteration`: the program's own count, for the trace.
template <class Condition>
WIC_DEVICE WaitResult wait_until(const Thread& thread, const DeviceView& view, const Group& group,
                                 wicprof::SiteId site, std::uint32_t iteration, const std::uint32_t* word,
                                 const Condition& condition, std::uint64_t timeout_ns) {
  const std::uint64_t arrived = thread.clock_ns();
  const WaitContext wait{word,       &view.strategies[site], 0, &view.sites[site],
                         view.watch, arrived,                arrived + timeout_ns};
  detail::WaitTally tally;
  const bool one_polls = group.pollers == wicprof::Pollers::leader;
  const WaitResult result = one_polls ? detail::leader_wait(thread, view, group, wait, condition, tally)
                                      : detail::each_thread_wait(thread, group, wait, condition, tally);
  if (one_polls ? group.is_leader(thread) : thread.lane() == 0) {
    const std::uint64_t resumed = thread.clock_ns();
    if (group.is_leader(thread) && tally.polls != 1) detail::learn(thread, view.sites[site], resumed - arrived);
    write_record(thread, view,
                 {wicprof::EventKind::wait, tally.strategy, result.status, site, iteration, tally.polls, arrived, resumed,
                  tally.switched_after_ns, result.value, word_tag(word),
                  static_cast<std::uint8_t>(group.threads / kWarpSize), group.pollers});
  }
  return result;
}

}  // namespace wic
