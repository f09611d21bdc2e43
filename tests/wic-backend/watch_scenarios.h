// Small programs that wait with shared_watch. Under every schedule: a wait is satisfied only if its condition held
// after its arrival, no wait hangs, and after the last waiter has left no slot is active.
//
// Each group is one thread: its leader, the only thread that takes part in the protocol.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "schedules/exhaustive.h"
#include "wic/launch.h"
#include "wic/wait.h"

namespace wic::scenarios {

inline constexpr std::uint64_t kSoon = 1'000'000'000;  // later than any reading of the clock before the tick
inline constexpr std::uint64_t kFar = 1'000 * kSoon;
inline constexpr wicprof::SiteId kSite = 1;
inline constexpr std::uint32_t kWords = 2;

/// A word with the history of its values. Only for worlds whose threads take turns.
struct Word {
  alignas(128) std::uint32_t value;
  std::array<std::uint32_t, 16> history;
  std::uint32_t changes;

  void reset(std::uint32_t first) {
    value = history[0] = first;
    changes = 0;
  }
  void set(const Thread& thread, std::uint32_t to) {
    thread.store_release(&value, to);
    history[++changes] = to;  // in the same turn as the store
  }
  bool had_since(std::uint32_t change, std::uint32_t wanted) const {
    for (std::uint32_t i = change; i <= changes; ++i) {
      if (history[i] == wanted) return true;
    }
    return false;
  }
};

struct Is {
  std::uint32_t wanted;
  bool operator()(std::uint32_t value) const { return value == wanted; }
};

/// Shared by all threads of a scenario: at the same address in every run.
struct World {
  static constexpr std::uint32_t kThreads = 8, kSlots = 1;
  std::vector<StrategyWord> strategies = std::vector<StrategyWord>(2);
  std::vector<SiteMemory> sites = std::vector<SiteMemory>(2 * kThreads);
  std::vector<WatchSlot> watch = std::vector<WatchSlot>(kSlots);
  std::array<Word, kWords> words{};
  std::uint32_t lines = 1;
  std::uint32_t satisfied = 0, timed_out = 0;
  std::string wrong;
  simt::ExploredRun* run = nullptr;

  /// Each thread has its own memory of earlier waits, which is only advice.
  DeviceView view(const Thread& thread) {
    DeviceView v;
    v.strategies = strategies.data();
    v.sites = &sites[2 * thread.block()];
    v.watch = {watch.data(), kSlots, lines};
    v.hot.add(kSite);  // no first look past the watcher
    return v;
  }
  void begin(simt::ExploredRun& next_run, std::uint32_t first, std::uint32_t line_count) {
    run = &next_run;
    run->watch(words.data(), sizeof words);
    strategies[kSite].word = static_cast<std::uint32_t>(wicprof::StrategyId::shared_watch);
    std::fill(sites.begin(), sites.end(), SiteMemory{});
    std::fill(watch.begin(), watch.end(), WatchSlot{});
    for (Word& word : words) word.reset(first);
    lines = line_count;
    satisfied = timed_out = 0;
    wrong.clear();
  }
  /// A line names a watcher, and the master does not: two watchers freed or took the role.
  std::string two_watchers() const {
    for (const WatchSlot& slot : watch) {
      for (std::uint32_t i = 0; i < lines; ++i) {
        if (slot.lines[i].mirror >> 63 > slot.master >> 63) return "two watchers at once";
      }
    }
    return {};
  }
};

/// Waits until that time, and checks the result.
inline void wait_for(const Thread& thread, World& world, std::uint32_t word, std::uint32_t wanted,
                     std::uint64_t until_ns = kFar) {
  const std::uint64_t now = thread.clock_ns();
  const std::uint32_t came_at = world.words[word].changes;
  world.run->add_to_state(came_at);
  const WaitResult wait = wait_until(thread, world.view(thread), block_group(thread), kSite, 1,
                                     &world.words[word].value, Is{wanted}, now < until_ns ? until_ns - now : 0);
  if (wait.status == wicprof::WaitStatus::satisfied) {
    ++world.satisfied;
    if (!world.words[word].had_since(came_at, wanted)) {
      world.wrong = "a waiter for " + std::to_string(wanted) + " was satisfied without its condition";
    }
  } else {
    ++world.timed_out;
  }
}

inline void toggle(const Thread& thread, World& world, std::uint32_t changes, wicprof::StrategyId to) {
  thread.store(&world.strategies[kSite].word, (changes << 8) | static_cast<std::uint32_t>(to));
}

using Part = void (*)(const Thread& thread, World& world);

/// One block of one thread per part.
struct Cast {
  World* world;
  std::array<Part, 6> parts;
  void operator()(const Thread& thread) const { parts[thread.block()](thread, *world); }
};

struct Scenario {
  const char* name;
  std::uint32_t preemptions;  ///< all schedules with at most so many are tried
  std::uint32_t first;        ///< value of every word
  std::uint32_t lines;        ///< per slot
  std::uint32_t satisfied,
      either;  ///< waits that must be satisfied; waits that may be satisfied or pass their deadline
  std::vector<std::uint64_t> ticks;
  std::vector<Part> parts;
};

/// An error text, or an empty one.
inline std::string play(const Scenario& scenario, World& world, simt::ExploredRun& run) {
  world.begin(run, scenario.first, scenario.lines);
  Cast cast{&world, {}};
  std::copy(scenario.parts.begin(), scenario.parts.end(), cast.parts.begin());
  run.launch({static_cast<std::uint32_t>(scenario.parts.size()), 1}, kernel_ref(cast));
  for (const std::uint64_t tick : scenario.ticks) run.tick(tick);
  run.always([&world] { return world.two_watchers(); });
  const auto ended = run.run();
  if (!ended) return ended.error().message;
  if (!world.wrong.empty()) return world.wrong + run.turns();
  if (world.satisfied < scenario.satisfied ||
      world.satisfied + world.timed_out != scenario.satisfied + scenario.either) {
    return "only " + std::to_string(world.satisfied) + " waits were satisfied" + run.turns();
  }
  for (const WatchSlot& slot : world.watch) {
    if ((slot.master >> 63) != 0) return "a slot still has a watcher" + run.turns();
    if ((slot.key & 0x1ffff) != 0) return "a slot still counts a waiter" + run.turns();
  }
  return {};
}

inline const std::vector<Scenario>& all_scenarios() {
  static constexpr Part waits = [](const Thread& thread, World& world) { wait_for(thread, world, 0, 1); };
  static constexpr Part gives_up = [](const Thread& thread, World& world) { wait_for(thread, world, 0, 1, kSoon); };
  static constexpr Part gives_up_on_3 = [](const Thread& thread, World& world) {
    wait_for(thread, world, 0, 3, kSoon);
  };
  static constexpr Part produces = [](const Thread& thread, World& world) { world.words[0].set(thread, 1); };
  static constexpr Part toggles = [](const Thread& thread, World& world) {
    toggle(thread, world, 1, wicprof::StrategyId::backoff);
    toggle(thread, world, 2, wicprof::StrategyId::shared_watch);
  };
  static constexpr Part waits_for_2 = [](const Thread& thread, World& world) { wait_for(thread, world, 0, 2); };
  static constexpr Part waits_then_sets_2 = [](const Thread& thread, World& world) {
    wait_for(thread, world, 0, 1);
    world.words[0].set(thread, 2);
  };
  static const std::vector<Scenario> scenarios{
      {"TwoWaiters", 3, 0, 1, 2, 0, {}, {waits, waits, produces}},
      {"TwoWaitersOnLinesOfTheirOwn", 3, 0, 2, 2, 0, {}, {waits, waits, produces}},
      {"ThreeWaiters", 0, 0, 1, 3, 0, {}, {waits, waits, waits, produces}},
      {"TheWatcherGivesUp", 2, 0, 1, 1, 1, {kSoon}, {gives_up, waits, produces}},
      {"AToggleThereAndBack", 1, 0, 1, 2, 0, {}, {waits, waits, toggles, produces}},
      // A waiter that arrives after the 1 has gone must not take it.
      {"TheWordGoesBack",
       3,
       1,
       1,
       1,
       1,
       {kSoon},
       {waits_for_2,
        [](const Thread& thread, World& world) {
          world.words[0].set(thread, 0);
          wait_for(thread, world, 0, 1, kSoon);
          world.words[0].set(thread, 2);
        }}},
      // A value that the watcher has known for long is new to a waiter that has just arrived.
      {"TheWordIsReadyForALatecomer", 3, 1, 2, 2, 0, {}, {waits_then_sets_2, waits_for_2}},
      {"TheWatcherWaitsForMore", 2, 0, 2, 2, 0, {}, {waits_for_2, waits_then_sets_2, produces}},
      {"TheNextWatcherWaitsForSomethingElse",
       1,
       0,
       1,
       2,
       1,
       {kSoon},
       {waits_then_sets_2, gives_up_on_3,
        [](const Thread& thread, World& world) {
          world.words[0].set(thread, 1);
          wait_for(thread, world, 0, 2);
        }}},
      // The only slot passes from one word to the other, or one word gets none.
      {"TwoWords",
       1,
       0,
       1,
       3,
       0,
       {},
       {waits, waits, [](const Thread& thread, World& world) { wait_for(thread, world, 1, 1); },
        [](const Thread& thread, World& world) {
          world.words[1].set(thread, 1);
          world.words[0].set(thread, 1);
        }}},
  };
  return scenarios;
}

}  // namespace wic::scenarios
