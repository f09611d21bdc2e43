#include "collector/program/per_thread.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace wicprof::collector {
namespace {

std::atomic<int> alive{0}, made{0};
struct Counted {
  Counted() {
    ++alive;
    ++made;
  }
  ~Counted() { --alive; }
  int value = 0;
};
PerThread<Counted>& states() {
  static auto* const of_threads = new PerThread<Counted>;
  return *of_threads;
}

TEST(PerThread, EachThreadHasItsOwnUntilItEnds) {
  const int before = alive;
  states().here().value = 1;
  for (int i = 0; i < 100; ++i) {
    std::thread([] {
      EXPECT_EQ(states().if_made(), nullptr);
      EXPECT_EQ(states().here().value, 0);
      states().here().value = 2;
      EXPECT_EQ(states().here().value, 2);
    }).join();
  }
  EXPECT_EQ(states().here().value, 1);
  EXPECT_EQ(alive, before + 1);  // this thread's
}

TEST(PerThread, OutlivesVariablesOfTheThread) {
  struct Last {
    ~Last() { value_at_end = states().here().value; }
    std::atomic<int>& value_at_end;
  };
  std::atomic<int> value_at_end{0};
  std::thread([&] {
    thread_local Last last{value_at_end};
    EXPECT_EQ(&last.value_at_end, &value_at_end);
    states().here().value = 7;
  }).join();
  EXPECT_EQ(value_at_end, 7);
}

// A key of the program may be destroyed after ours: its destructor gets a new state, which is freed, too.
TEST(PerThread, IsMadeAgainForWhoeverComesLater) {
  static std::atomic<int> seen{-1};
  static pthread_key_t later{};
  const int before = alive;
  states();
  ASSERT_EQ(pthread_key_create(&later, [](void*) { seen = states().here().value; }), 0);
  std::thread([] {
    states().here().value = 5;
    pthread_setspecific(later, &seen);
  }).join();
  EXPECT_EQ(seen, 0);
  EXPECT_EQ(alive, before);
  pthread_key_delete(later);
}

// While threads use theirs, end, and begin: each use is behind `in_use`, as callbacks are behind a gate.
TEST(PerThread, ForgetsTheStatesOfAllThreads) {
  const int before = alive;
  std::mutex in_use;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        std::thread([&] {
          const std::lock_guard lock(in_use);
          EXPECT_EQ(states().here().value++, 0);
        }).join();
        const std::lock_guard lock(in_use);
        ++states().here().value;
      }
    });
  }
  for (int i = 0; i < 100; ++i) {
    const std::lock_guard lock(in_use);
    states().here().value = 7;
    int seen = 0;
    states().forget([&](Counted& state) { seen += state.value == 7; });
    EXPECT_GE(seen, 1);
    EXPECT_EQ(states().if_made(), nullptr);
    EXPECT_EQ(states().here().value, 0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  states().forget([](Counted&) {});
  EXPECT_LE(alive, before);
}

}  // namespace
}  // namespace wicprof::collector
