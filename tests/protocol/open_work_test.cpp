// The tables of open work: entries that one thread writes and others read.
#include "protocol/open_work.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <new>
#include <thread>

namespace wicprof {
namespace {

TEST(OpenWork, AReaderSeesWholeEntries) {
  const auto work = std::make_unique<OpenWork>();
  OpenEntry<OpenKernel>* const entry = claim_entry(work->kernels, 1, work->kernels_left_out, process_is_gone);
  ASSERT_NE(entry, nullptr);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    OpenKernel kernel;
    for (std::uint32_t i = 1; !stop; ++i) {
      kernel.thread = kernel.correlation = kernel.block[2] = i;
      kernel.launched = i;
      entry->write(kernel);
    }
  });
  int seen = 0;
  for (int look = 0; look < 200'000; ++look) {
    const std::optional<OpenKernel> kernel = entry->read();
    if (!kernel) continue;
    ++seen;
    ASSERT_EQ(kernel->thread, kernel->correlation);
    ASSERT_EQ(kernel->thread, kernel->block[2]);
    ASSERT_EQ(kernel->launched, static_cast<TimeNs>(kernel->thread));
  }
  stop = true;
  writer.join();
  EXPECT_GT(seen, 0);
}

TEST(OpenWork, AThreadShowsItsCallWhileItLasts) {
  const auto work = std::make_unique<OpenWork>();
  std::atomic<int> step{0};
  std::thread waiting([&] {
    OwnOpenCall own;
    OpenCall call;
    call.begin = 5;
    call.stream = 7;
    copy_name(call.name, "cudaStreamSynchronize");
    own.begin(work.get(), call);
    step = 1;
    while (step != 2) std::this_thread::yield();
    own.end();
    step = 3;
    while (step != 4) std::this_thread::yield();
    own.again(9);
    step = 41;
    while (step != 42) std::this_thread::yield();
    copy_name(call.name, "cudaEventSynchronize");
    own.begin(work.get(), call);
    step = 5;
    while (step != 6) std::this_thread::yield();
  });
  while (step != 1) std::this_thread::yield();
  std::optional<OpenCall> seen = work->calls[0].read();
  ASSERT_TRUE(seen);
  EXPECT_STREQ(seen->name, "cudaStreamSynchronize");
  EXPECT_EQ(seen->stream, 7u);
  EXPECT_EQ(work->calls[0].pid(), static_cast<std::uint32_t>(getpid()));
  step = 2;
  while (step != 3) std::this_thread::yield();
  EXPECT_EQ(work->calls[0].read()->begin, 0);
  step = 4;
  while (step != 41) std::this_thread::yield();
  seen = work->calls[0].read();
  EXPECT_EQ(seen->begin, 9);
  EXPECT_EQ(seen->stream, 7u);
  EXPECT_STREQ(seen->name, "cudaStreamSynchronize");
  step = 42;
  while (step != 5) std::this_thread::yield();
  EXPECT_STREQ(work->calls[0].read()->name, "cudaEventSynchronize");
  step = 6;
  waiting.join();
  EXPECT_FALSE(work->calls[0].read()) << "a thread that ends gives its entry back";
}

TEST(OpenWork, AFullTableCountsAndTakesOverFromDeadProcesses) {
  const auto work = std::make_unique<OpenWork>();
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  const auto own = static_cast<std::uint32_t>(getpid()), dead = static_cast<std::uint32_t>(child);
  work->kernels[3].claim(dead);
  for (std::size_t i = 0; i < kMaxOpenKernels - 1; ++i) {
    ASSERT_NE(claim_entry(work->kernels, own, work->kernels_left_out, process_is_gone), nullptr);
  }
  EXPECT_EQ(claim_entry(work->kernels, own, work->kernels_left_out, process_is_gone), &work->kernels[3]);
  EXPECT_EQ(work->kernels_left_out, 0u);
  EXPECT_EQ(claim_entry(work->kernels, own, work->kernels_left_out, process_is_gone), nullptr);
  EXPECT_EQ(work->kernels_left_out, 1u);
}

OpenWork* contended = nullptr;
OpenEntry<OpenKernel>* taken_meanwhile = nullptr;

// Two processes find a full table, and both see that the holder of one entry has ended.
TEST(OpenWork, AnEntryOfADeadProcessGoesToOneOfTwoThatWantIt) {
  const auto work = std::make_unique<OpenWork>();
  contended = work.get();
  constexpr std::uint32_t kDead = 1, kFirst = 2, kSecond = 3, kOther = 4;
  for (OpenEntry<OpenKernel>& each : work->kernels) each.claim(kOther);
  work->kernels[3].give_back();
  work->kernels[3].claim(kDead);
  const auto other_comes_first = [](std::uint32_t pid) {
    if (pid != kDead) return false;
    const auto is_dead = [](std::uint32_t holder) { return holder == kDead; };
    taken_meanwhile = claim_entry(contended->kernels, kFirst, contended->kernels_left_out, is_dead);
    OpenKernel kernel;
    kernel.launched = 5;
    taken_meanwhile->write(kernel);
    return true;
  };
  EXPECT_EQ(claim_entry(work->kernels, kSecond, work->kernels_left_out, other_comes_first), nullptr);
  ASSERT_EQ(taken_meanwhile, &work->kernels[3]);
  EXPECT_EQ(work->kernels[3].pid(), kFirst);
  EXPECT_EQ(work->kernels[3].read()->launched, 5) << "what its holder has written";
}

// Most of what the writer does is writing, so some of these are killed within it.
TEST(OpenWork, AnEntryIsReadableAfterAHolderThatWasKilledWhileItWrote) {
  constexpr std::size_t kBytes = sizeof(OpenEntry<OpenKernel>);
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const entry = new (memory) OpenEntry<OpenKernel>{};
  for (int i = 0; i < 20; ++i) {
    const pid_t writer = fork();
    if (writer == 0) {
      entry->claim(static_cast<std::uint32_t>(getpid()));
      for (;;) entry->write({});
    }
    while (entry->pid() == 0) std::this_thread::yield();
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    ASSERT_TRUE(entry->take_over(static_cast<std::uint32_t>(writer), 1));
    EXPECT_TRUE(entry->read());
    entry->give_back();
  }
  munmap(memory, kBytes);
}

TEST(OpenWork, SharersStayUntilTheSessionEnds) {
  const auto work = std::make_unique<OpenWork>();
  EXPECT_FALSE(is_sharer(*work, 7));
  for (int i = 0; i < 2; ++i) add_sharer(*work, 7);
  for (std::uint32_t pid = 8; pid < 7 + kMaxSharers; ++pid) add_sharer(*work, pid);
  EXPECT_TRUE(is_sharer(*work, 7));
  EXPECT_TRUE(is_sharer(*work, 7 + kMaxSharers - 1)) << "the first process took one place";
  add_sharer(*work, 5);
  EXPECT_FALSE(is_sharer(*work, 5)) << "no place is left";
}

}  // namespace
}  // namespace wicprof
