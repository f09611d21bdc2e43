// A strategy decides how a waiting thread learns the word's value (observe), how time passes between two looks at it
// (pass, which may look for the wait's condition itself), and what it leaves behind (leave); some also prepare the wait
// (begin). The one poll loop (wait.h) owns the deadline, the memory order and the change of strategy.
//
// To add one: a file here, its number and name in protocol/strategy.h, a case in both switches of strategies/list.h.
#pragma once

#include <cstdint>

#include "wic/device_state.h"
#include "wic/thread.h"
#include "wic/types.h"

namespace wic {

/// One wait as a strategy sees it. Few words, since each takes a register of the kernel; the view stays where it is.
struct WaitContext {
  const std::uint32_t* word;
  const DeviceView* view;
  std::uint64_t arrived_ns;
  std::uint64_t deadline_ns;
  SiteId site;
  std::uint32_t strategy_word;  ///< its value when the current strategy began
  std::uint32_t iteration = 0;  ///< for the report of a wait that lasts

  WIC_DEVICE std::uint8_t strategy_id() const { return static_cast<std::uint8_t>(strategy_word & 0xffu); }
  /// The live strategy word.
  WIC_DEVICE std::uint32_t load_strategy(const Thread& thread) const {
    return thread.load(&view->strategies[site].word);
  }
  WIC_DEVICE bool strategy_changed(const Thread& thread) const { return load_strategy(thread) != strategy_word; }
  /// How long waits at the site usually last.
  WIC_DEVICE WaitLength usual(const Thread& thread) const { return view->sites[site].usual(thread); }
};

struct Observation {
  bool fresh;           ///< the word held `value` at some moment since this wait began
  std::uint32_t reads;  ///< of the word itself since the last observation: counted as polls
  std::uint32_t value;
};

/// Where the threads of a group wait while its leader polls.
enum class Parking : std::uint8_t {
  barrier,        ///< the group's named barrier
  mbarrier,       ///< an mbarrier in shared memory, try_wait without a time hint
  mbarrier_hint,  ///< the same with a hint: a sleep that the barrier can end
};

/// For strategies in which a thread reads the word itself and keeps no shared state.
struct DirectObservation {
  static constexpr Parking kParking = Parking::barrier;

  WIC_DEVICE Observation observe(const Thread& thread, const WaitContext& wait) {
    return {true, 1, thread.load(wait.word)};
  }
  WIC_DEVICE void leave(const Thread&, const WaitContext&) {}
};

inline constexpr std::uint64_t kAwakeNs = 125'000;     ///< a leader polls this long without sleeping
inline constexpr std::uint64_t kLongWaitNs = 250'000;  ///< from this length on, naps are a larger share of the wait
inline constexpr std::uint32_t kMaxNapNs = 8'000;      ///< about the nap after 1 ms

/// How long to sleep between two looks, by the wait's length so far: a long wait is likely to go on, and sleeping may
/// prolong it by about a hundredth to leave turns to warps that compute on the same SM. A sleep lasts up to twice as
/// long. Not calibrated; bench_interference and bench_wake_latency measure what it gains and costs.
WIC_DEVICE inline std::uint32_t nap_ns(std::uint64_t waited_ns) {
  if (waited_ns < kAwakeNs) return 0;
  if (waited_ns < kLongWaitNs) return static_cast<std::uint32_t>(waited_ns / 512);
  return waited_ns < 1'000'000 ? static_cast<std::uint32_t>(waited_ns / 128) : kMaxNapNs;
}

/// A word as a waiter last saw it.
template <class Word>
struct ObservedWord {
  Word value = 0;
  std::uint32_t looks = 0;  ///< at the word, since the last count
  bool news = false;        ///< the last look found what was waited for, and the strategy has not used the value yet

  WIC_DEVICE Word look(const Thread& thread, const Word* word) {
    if (!news) {
      value = thread.load(word);
      ++looks;
    }
    news = false;
    return value;
  }

  /// Looks again until `found(the word)`, with a sleep before each look, for half a millisecond at most. A round of the
  /// poll loop per look would learn no more, but would reload what the compiler has spilled to local memory, and that
  /// traffic competes with neighbours that are bound by memory: with 16 looks at most, a kernel that streams memory
  /// beside 528 waiters on a host word took 1.03 times as long on an H200, and 1.015 with these numbers. A round also
  /// reads the clock and the strategy word, during which a counter that takes several steps would take its last one.
  template <class Found>
  WIC_DEVICE void stand_by(const Thread& thread, const Word* word, std::uint32_t sleep_ns, const Found& found) {
    const std::uint32_t looks_at_most = sleep_ns <= 2'000 ? 128 : sleep_ns <= 4'000 ? 64 : 32;
    std::uint32_t done = 0;
    news = false;
    WIC_ROLLED
    while (done < looks_at_most && !news) {
      if (sleep_ns != 0) thread.sleep_ns(sleep_ns);
      value = thread.load(word);
      ++done;
      news = found(value);
    }
    looks += done;
  }
};

/// For strategies in which a thread polls: at full speed, or with naps in long waits. Both are one piece of code in a
/// kernel, which is smaller for that, and wakes up as fast with naps as without in waits that are too short for them.
struct PollingObservation {
  static constexpr Parking kParking = Parking::barrier;

  WIC_DEVICE explicit PollingObservation(bool naps) : naps_(naps) {}

  WIC_DEVICE Observation observe(const Thread& thread, const WaitContext& wait) {
    const std::uint32_t value = observed_.look(thread, wait.word);
    const std::uint32_t reads = observed_.looks;
    observed_.looks = 0;
    return {true, reads, value};
  }
  template <class Condition>
  WIC_DEVICE void pass(const Thread& thread, const WaitContext& wait, std::uint64_t now, const Condition& condition) {
    if (!naps_) return;
    const std::uint32_t ns = nap_ns(now - wait.arrived_ns);
    if (ns != 0) observed_.stand_by(thread, wait.word, ns, condition);
  }
  WIC_DEVICE void leave(const Thread&, const WaitContext&) {}

 private:
  ObservedWord<std::uint32_t> observed_;
  bool naps_;
};

/// The longest single sleep (a sleep of t lasts up to 2 t), about as long as stand_by(). A strategy returns to the poll
/// loop this often; the loop checks the deadline and the strategy word, so a toggle takes effect within a millisecond.
inline constexpr std::uint32_t kLongestSleepNs = 200'000;

}  // namespace wic
