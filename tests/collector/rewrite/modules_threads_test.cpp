// Threads of the program that load patched modules and launch at the same time. Under ThreadSanitizer, too.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "collector/rewrite/patched_modules.h"
#include "tests/collector/rewrite/fake_driver.h"

namespace wicprof::collector {
namespace {

using namespace fake_driver;

TEST_F(RewriteTest, ModulesAreBoundWhileOthersAreLoaded) {
  constexpr int kModules = 32;
  PatchedModules modules(nullptr);
  std::atomic<bool> loaded{false};
  std::thread loads([&] {
    for (int i = 0; i < kModules; ++i) {
      rewriter::Replacement each = replacement;
      each.table += std::to_string(i);
      EXPECT_EQ(
          modules.add(each, reinterpret_cast<CUlibrary>(static_cast<std::uintptr_t>(i + 1)), nullptr, sink_).size(),
          1u);
      std::this_thread::yield();
    }
    loaded = true;
  });
  while (!loaded) EXPECT_EQ(modules.bind(api, sink_), "");
  loads.join();
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_FALSE(modules.unbound(driver.context));
  EXPECT_EQ(driver.memory.size(), kModules + 2u) << "a ring each, the words of all, and the clock's";
}

}  // namespace
}  // namespace wicprof::collector
