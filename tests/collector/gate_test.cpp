#include "collector/program/gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace wicprof::collector {
namespace {

using namespace std::chrono_literals;

struct Counter {
  std::atomic<long> visits{0};
  long last = 0;  // written by visitors in turn, read by whoever takes the object away
};

TEST(Gate, LeadsNowhereUntilItIsOpenAndOnceItIsClosed) {
  Gate<Counter> gate;
  Counter counter;
  EXPECT_EQ(Gate<Counter>::Visit(gate).object(), nullptr);
  gate.open(counter);
  EXPECT_EQ(Gate<Counter>::Visit(gate).object(), &counter);
  gate.close();
  EXPECT_EQ(Gate<Counter>::Visit(gate).object(), nullptr);
  EXPECT_TRUE(gate.is_left());
}

TEST(Gate, IsLeftOnceEachVisitHasEnded) {
  Gate<Counter> gate;
  Counter counter;
  gate.open(counter);
  {
    const Gate<Counter>::Visit visit(gate), within(gate);
    gate.close();
    EXPECT_FALSE(gate.is_left());
    EXPECT_EQ(visit.object(), &counter);  // until its end
  }
  EXPECT_TRUE(gate.is_left());
  gate.open(counter);
  gate.close();
  EXPECT_TRUE(gate.is_left());  // again
}

// What the program's threads do all the time, while the object behind the gate comes and goes.
TEST(Gate, NobodyIsBehindItOnceItIsLeft) {
  static Gate<Counter> gate;
  std::atomic<bool> stop{false};
  std::atomic<long> seen{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        const Gate<Counter>::Visit visit(gate);
        if (visit.object() == nullptr) continue;
        ++visit.object()->visits;
        ++seen;
      }
    });
  }
  const auto until = std::chrono::steady_clock::now() + 20s;
  for (int round = 0; round < 30 && std::chrono::steady_clock::now() < until; ++round) {
    auto counter = std::make_unique<Counter>();
    const long before = seen;
    gate.open(*counter);
    while (seen == before && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    gate.close();
    while (!gate.is_left()) std::this_thread::yield();
    counter->last = counter->visits;
    EXPECT_GT(counter->last, 0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace wicprof::collector
