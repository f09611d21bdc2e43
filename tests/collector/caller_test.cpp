#include "collector/program/caller.h"

#include <gtest/gtest.h>
#include <ucontext.h>

#include <cstddef>
#include <thread>
#include <vector>

namespace wicprof::collector {
namespace {

/// Finds the caller, and counts how often a remembered word of the stack was looked at.
struct Finder {
  std::uint32_t call;  // of its own for each test: the process remembers paths
  Caller caller{};
  int looked = 0;

  __attribute__((noinline)) const void* find() {
    return caller.find({call, false, "call", nullptr}, __builtin_frame_address(0), [this](const void*) {
      ++looked;
      return true;
    });
  }
};

constexpr std::size_t kDeep =
    64 << 10;  // bytes of stack, more than the first function of a thread is away from its end

__attribute__((noinline)) const void* find_deeper(Finder& finder) {
  char frame[kDeep];
  asm volatile("" : : "r"(frame) : "memory");  // keeps the frame and the call
  const void* const found = finder.find();
  asm volatile("" : : "r"(frame) : "memory");
  return found;
}

TEST(Caller, ReadsARememberedWordInsteadOfUnwinding) {
  std::thread([] {
    Finder finder{1};
    const void* const first = find_deeper(finder);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(finder.looked, 0);
    EXPECT_EQ(find_deeper(finder), first);
    EXPECT_EQ(finder.looked, 1);
    EXPECT_EQ(finder.caller.unwound(), 1u);
  }).join();
}

TEST(Caller, FindsWhatAnotherThreadHasFoundOnTheSamePath) {
  std::vector<const void*> found;
  std::vector<std::uint64_t> unwound;
  for (int i = 0; i < 3; ++i) {
    std::thread([&] {
      Finder finder{20};
      found.push_back(find_deeper(finder));
      unwound.push_back(finder.caller.unwound());
    }).join();
  }
  EXPECT_NE(found[0], nullptr);
  EXPECT_EQ(found, std::vector<const void*>(3, found[0]));
  EXPECT_EQ(unwound, (std::vector<std::uint64_t>{1, 0, 0}));
}

TEST(Caller, ReadsNoWordBeyondTheStacksEnd) {
  std::thread([] {
    Finder finder{2};
    ASSERT_NE(find_deeper(finder), nullptr);
    EXPECT_NE(finder.find(), nullptr);  // a shorter path: the remembered word would lie beyond the end
    EXPECT_EQ(finder.looked, 0);
    EXPECT_EQ(finder.caller.unwound(), 2u);
  }).join();
}

Finder* of_fiber = nullptr;
ucontext_t program, fiber;

void run_fiber() {
  of_fiber->find();
  of_fiber->find();
  swapcontext(&fiber, &program);
}

TEST(Caller, ReadsNoWordOfAStackThatTheProgramMade) {
  std::vector<std::byte> stack(4 * kDeep);
  Finder finder{3};
  ASSERT_NE(find_deeper(finder), nullptr);
  of_fiber = &finder;
  ASSERT_EQ(getcontext(&fiber), 0);
  fiber.uc_stack.ss_sp = stack.data();
  fiber.uc_stack.ss_size = stack.size();
  fiber.uc_link = nullptr;
  makecontext(&fiber, run_fiber, 0);
  ASSERT_EQ(swapcontext(&program, &fiber), 0);
  EXPECT_EQ(finder.looked, 0);
  EXPECT_EQ(finder.caller.unwound(), 3u);
}

}  // namespace
}  // namespace wicprof::collector
