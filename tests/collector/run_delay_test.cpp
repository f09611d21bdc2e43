#include "collector/program/run_delay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace wicprof::collector {
namespace {

TEST(RunDelay, SleepingIsAVoluntarySwitch) {
  const Switches before = Switches::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_GT(Switches::now().voluntary, before.voluntary);
}

TEST(RunDelay, GrowsWhileAnotherThreadHasTheCpu) {
  if (!std::ifstream("/proc/thread-self/schedstat")) GTEST_SKIP() << "this system does not report run-queue delay";
  cpu_set_t mine;
  CPU_ZERO(&mine);
  CPU_SET(static_cast<unsigned>(sched_getcpu()), &mine);
  TimeNs delayed = 0;
  bool grew = false;
  std::thread victim([&] {
    ASSERT_EQ(sched_setaffinity(0, sizeof mine, &mine), 0);
    RunDelay delay;
    const TimeNs first = delay.read(Switches::now());
    ASSERT_GE(first, 0);
    EXPECT_EQ(delay.read(Switches::now()), first);
    std::atomic<bool> stop{false};
    std::thread rival([&] {
      sched_setaffinity(0, sizeof mine, &mine);
      while (!stop) {
      }
    });
    const TimeNs deadline = now_ns() + 20 * kSecond;
    while (!grew && now_ns() < deadline) {
      delayed = delay.read(Switches::now()) - first;
      grew = delayed > 0;
    }
    stop = true;
    rival.join();
  });
  victim.join();
  EXPECT_TRUE(grew);
}

/// The file is kept open from the second time on that the thread reads it, which may be kLater.
TimeNs read_often(RunDelay& delay) {
  for (std::uint64_t i = 0; i < RunDelay::kLater; ++i) delay.read({i, 0});
  return delay.read({RunDelay::kLater, 0});
}

// Opening the file makes the system add entries to /proc for each thread.
TEST(RunDelay, MostThreadsOfManyBeginLater) {
  if (!std::ifstream("/proc/thread-self/schedstat")) GTEST_SKIP() << "this system does not report run-queue delay";
  std::uint32_t at_once = 0, later = 0;
  constexpr std::uint32_t kThreads = RunDelay::kFirstThreads + 20 * RunDelay::kOneOf;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    std::thread([&] {
      RunDelay delay;
      const bool first = delay.read({}) >= 0;
      at_once += first;
      for (std::uint64_t k = 1; !first && k + 1 < RunDelay::kLater; ++k) EXPECT_EQ(delay.read({k, 0}), -1);
      later += !first && delay.read({RunDelay::kLater, 0}) >= 0;
    }).join();
  }
  EXPECT_GE(at_once, 20u);
  EXPECT_LE(at_once, RunDelay::kFirstThreads + 21);
  EXPECT_EQ(at_once + later, kThreads);
}

// A thread that waits keeps a descriptor of the user's process: 1,024 are all that many programs have.
TEST(RunDelay, ManyThreadsKeepFewFiles) {
  if (!std::ifstream("/proc/thread-self/schedstat")) GTEST_SKIP() << "this system does not report run-queue delay";
  const auto files = [] {
    const std::filesystem::directory_iterator list("/proc/self/fd");
    return std::distance(begin(list), end(list));
  };
  const auto before = files();
  constexpr int kThreads = 200;
  std::atomic<int> known{0};
  std::barrier<> all_read(kThreads + 1), may_end(kThreads + 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      RunDelay delay;
      known += read_often(delay) >= 0 ? 1 : 0;
      all_read.arrive_and_wait();
      may_end.arrive_and_wait();
    });
  }
  all_read.arrive_and_wait();
  EXPECT_LE(files() - before, RunDelay::kMaxFiles);
  EXPECT_EQ(known, kThreads);
  may_end.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(files(), before);
  // The descriptors of ended threads are free for others.
  std::thread([&] {
    RunDelay delay;
    read_often(delay);
    EXPECT_EQ(files() - before, 1);
  }).join();
}

/// Nothing but the descriptor of a RunDelay has such a number here.
constexpr int kLowest = 30;

int size_of_table() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("FDSize:")) return std::stoi(line.substr(line.find(':') + 1));
  }
  return 0;
}

// The kernel lets a program of several threads wait for all CPUs while the table grows.
TEST(RunDelay, LeavesTheTableOfDescriptorsAsLargeAsItIs) {
  if (!std::ifstream("/proc/thread-self/schedstat")) GTEST_SKIP() << "this system does not report run-queue delay";
  const int before = size_of_table();
  std::thread([&] {
    RunDelay delay;
    read_often(delay);
    bool kept = false;
    for (int file = kLowest; file < before; ++file) kept = kept || fcntl(file, F_GETFD) >= 0;
    EXPECT_TRUE(kept);
    EXPECT_EQ(size_of_table(), before);
  }).join();
}

TEST(RunDelay, DoesNotCloseAReusedDescriptor) {
  if (!std::ifstream("/proc/thread-self/schedstat")) GTEST_SKIP() << "this system does not report run-queue delay";
  int theirs = -1;
  std::thread([&] {
    RunDelay delay;
    read_often(delay);
    for (int file = kLowest; file < 512 && theirs < 0; ++file) {
      if (close(file) == 0) theirs = dup2(STDERR_FILENO, file);  // the program now owns our former number
    }
  }).join();
  ASSERT_GE(theirs, kLowest);
  EXPECT_EQ(close(theirs), 0);  // not closed at the thread's end
}

}  // namespace
}  // namespace wicprof::collector
