// Small programs that wait with shared_watch, for every schedule of which the same must hold: nobody leaves satisfied
// whose condition did not hold since it came, nobody hangs, and after the last has left no slot is active.
//
// Each group is one thread: its leader, which alone takes part in the protocol.
#pragma once

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "simt/exhaustive.h"
#include "wic/launch.h"
#include "wic/wait.h"

namespace wic::scenarios {

inline constexpr std::uint64_t kFar = 1'000'000'000;
inline constexpr wicprof::SiteId kSite = 1;
inline constexpr std::uint32_t kWords = 2;

/// A word with all values that it ever had. Only in a world whose threads take turns.
struct Word {
  alignas(128) std::uint32_t value;
  std::array<std::uint32_t, 16> history;
  std::uint32_t changes;

  void reset(std::uint32_t first) {
    value = history[0] = first;
    changes = 0;
  }
  WIC_DEVICE void set(const Thread& thread, std::uint32_t to) {
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
  WIC_DEVICE bool operator()(std::uint32_t value) const { return value == wanted; }
};

/// What all threads of a scenario share: at the same address in every run.
struct World {
  std::vector<StrategyWord> strategies = std::vector<StrategyWord>(2);
  std::vector<SiteMemory> sites = std::vector<SiteMemory>(2);
  std::vector<WatchSlot> watch = std::vector<WatchSlot>(kWatchSlots);
  std::array<Word, kWords> words{};
  std::uint32_t satisfied = 0, timed_out = 0;
  std::string wrong;
  simt::ExploredRun* run = nullptr;

  DeviceView view() {
    DeviceView v;
    v.strategies = strategies.data();
    v.sites = sites.data();
    v.watch = watch.data();
    return v;
  }
  void begin(simt::ExploredRun& next_run, std::uint32_t first) {
    run = &next_run;
    run->watch(words.data(), sizeof words);
    strategies[kSite].word = static_cast<std::uint32_t>(wicprof::StrategyId::shared_watch);
    sites[kSite].predicted_ns = 0;
    for (WatchSlot& slot : watch) {
      if (slot.word_address != 0) std::memset(&slot, 0, sizeof slot);
    }
    for (Word& word : words) word.reset(first);
    satisfied = timed_out = 0;
    wrong.clear();
  }
};

/// Waits until that time, and checks its own result.
inline WIC_DEVICE wicprof::WaitStatus checked_wait(const Thread& thread, World& world, std::uint32_t word,
                                                   std::uint32_t wanted, std::uint64_t until_ns) {
  const std::uint64_t now = thread.clock_ns();
  const std::uint32_t came_at = world.words[word].changes;
  world.run->learnt(came_at);
  const WaitResult wait = wait_until(thread, world.view(), block_group(thread), kSite, 1, &world.words[word].value,
                                     Is{wanted}, now < until_ns ? until_ns - now : 0);
  if (wait.status == wicprof::WaitStatus::satisfied) {
    ++world.satisfied;
    if (!world.words[word].had_since(came_at, wanted)) {
      world.wrong = "a waiter for " + std::to_string(wanted) + " was satisfied without its condition";
    }
  } else {
    ++world.timed_out;
  }
  return wait.status;
}

struct Waits {
  World* world;
  std::uint32_t word;
  std::uint32_t wanted;
  std::uint64_t until_ns = kFar;
  WIC_DEVICE void operator()(const Thread& thread) const { checked_wait(thread, *world, word, wanted, until_ns); }
};

/// Takes the word back to 0, so that the 1 that was in it must not do any more, and ends everything with a 2.
struct ResetsAndWaits {
  World* world;
  WIC_DEVICE void operator()(const Thread& thread) const {
    world->words[0].set(thread, 0);
    checked_wait(thread, *world, 0, 1, 10);
    world->words[0].set(thread, 2);
  }
};

struct Produces {
  World* world;
  std::uint32_t word;
  std::array<std::uint32_t, 3> values;
  std::uint32_t count;
  WIC_DEVICE void operator()(const Thread& thread) const {
    for (std::uint32_t i = 0; i < count; ++i) world->words[word].set(thread, values[i]);
  }
};

struct Toggles {
  World* world;
  WIC_DEVICE void operator()(const Thread& thread) const {
    const auto word = [](std::uint32_t changes, wicprof::StrategyId to) {
      return (changes << 8) | static_cast<std::uint32_t>(to);
    };
    thread.store(&world->strategies[kSite].word, word(1, wicprof::StrategyId::backoff));
    thread.store(&world->strategies[kSite].word, word(2, wicprof::StrategyId::shared_watch));
  }
};

inline std::string finish(World& world, simt::ExploredRun& run, std::uint32_t satisfied, std::uint32_t either) {
  const auto ended = run.run();
  if (!ended) return ended.error().message;
  if (!world.wrong.empty()) return world.wrong + run.turns();
  if (world.satisfied < satisfied || world.satisfied + world.timed_out != satisfied + either) {
    return "only " + std::to_string(world.satisfied) + " waits were satisfied" + run.turns();
  }
  for (const WatchSlot& slot : world.watch) {
    if ((slot.mirror >> 63) != 0) return "a slot is still active" + run.turns();
  }
  return {};
}

struct Scenario {
  const char* name;
  std::string (*program)(World& world, simt::ExploredRun& run);
};

inline void start(simt::ExploredRun& run, const auto& part) { run.launch({1, 1}, kernel_ref(part)); }

inline constexpr Scenario kScenarios[] = {
    {"TwoWaitersAndAProducer",
     [](World& world, simt::ExploredRun& run) {
       world.begin(run, 0);
       start(run, Waits{&world, 0, 1});
       start(run, Waits{&world, 0, 1});
       start(run, Produces{&world, 0, {1}, 1});
       return finish(world, run, 2, 0);
     }},
    {"TheWatcherLeavesByItsDeadline",
     [](World& world, simt::ExploredRun& run) {
       world.begin(run, 0);
       start(run, Waits{&world, 0, 1, 10});
       start(run, Waits{&world, 0, 1});
       start(run, Waits{&world, 0, 1});
       start(run, Produces{&world, 0, {1}, 1});
       run.tick(100);
       return finish(world, run, 2, 1);
     }},
    {"TogglesDuringAWait",
     [](World& world, simt::ExploredRun& run) {
       world.begin(run, 0);
       start(run, Waits{&world, 0, 1});
       start(run, Waits{&world, 0, 1});
       start(run, Toggles{&world});
       start(run, Produces{&world, 0, {1}, 1});
       return finish(world, run, 2, 0);
     }},
    {"TheWordGoesBack",
     [](World& world, simt::ExploredRun& run) {
       world.begin(run, 1);
       start(run, Waits{&world, 0, 2});
       start(run, ResetsAndWaits{&world});
       run.tick(100);
       return finish(world, run, 1, 1);
     }},
    {"TwoWords",
     [](World& world, simt::ExploredRun& run) {
       world.begin(run, 0);
       start(run, Waits{&world, 0, 1});
       start(run, Waits{&world, 0, 1});
       start(run, Waits{&world, 1, 1});
       start(run, Produces{&world, 1, {1}, 1});
       start(run, Produces{&world, 0, {1}, 1});
       return finish(world, run, 3, 0);
     }},
};

}  // namespace wic::scenarios
