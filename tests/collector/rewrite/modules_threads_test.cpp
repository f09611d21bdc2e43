// Threads of the program that load patched modules and launch at the same time. Under ThreadSanitizer, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "collector/rewrite/patched_modules.h"
#include "tests/collector/rewrite/fake_driver.h"

namespace wicprof::collector {
namespace {

using namespace fake_driver;

constexpr int kModules = 9;
constexpr auto kUnordered = std::memory_order_relaxed;  // so that nothing here hides a race
std::atomic<int> bound{0}, loaded{0};

// The list of sites grows between a look at it and the next lock of the thread that binds.
TEST_F(RewriteTest, ModulesAreBoundWhileOthersAreLoaded) {
  RewriteDriver waits_for_a_load = api;
  waits_for_a_load.synchronize = [](CUstream) {
    const int other = std::min(bound.fetch_add(1, kUnordered) + 2, kModules);
    while (loaded.load(kUnordered) < other) std::this_thread::yield();
    return CUDA_SUCCESS;
  };
  PatchedModules modules(nullptr);
  std::thread loads([&] {
    for (int i = 0; i < kModules; ++i) {
      while (bound.load(kUnordered) < i) std::this_thread::yield();
      rewriter::Replacement each = replacement;
      each.table += std::to_string(i);
      auto* const library = reinterpret_cast<CUlibrary>(static_cast<std::uintptr_t>(i + 1));
      EXPECT_EQ(modules.add(each, library, nullptr, sink_).size(), 1u);
      loaded.fetch_add(1, kUnordered);
    }
  });
  while (bound.load(kUnordered) < kModules) EXPECT_EQ(modules.bind(waits_for_a_load, sink_), "");
  loads.join();
  EXPECT_FALSE(modules.unbound(driver.context));
  EXPECT_EQ(driver.memory.size(), kModules + 2u) << "a ring each, the words of all, and the clock's";
}

}  // namespace
}  // namespace wicprof::collector
