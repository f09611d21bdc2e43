// What holds for every application: right in all three ways of waiting, and also while somebody toggles.
#include "apps.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace sample {
namespace {

using wicprof::Mode;

struct Case {
  const AppInfo* info;
  Way way;
};

const char* way_name(Way way) { return way == Way::naive ? "naive" : way == Way::poll ? "poll" : "park"; }

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const AppInfo* info : all_apps()) {
    for (const Way way : {Way::naive, Way::poll, Way::park}) cases.push_back({info, way});
  }
  return cases;
}

AppOptions options_of(const Case& c) {
  AppOptions options;
  options.way = c.way;
  options.timeout_ns = 60'000'000'000;
  for (const AppOption& option : c.info->options) options.more.try_emplace(option.name, option.standard);
  return options;
}

std::unique_ptr<wic::Runtime> runtime_of(const Case& c) {
  wic::RuntimeOptions options;
  options.devices = c.info->devices;
  options.mode = c.way == Way::park ? Mode::park : Mode::poll;
  return *wic::Runtime::create(options);
}

class EveryApplication : public testing::TestWithParam<Case> {};

TEST_P(EveryApplication, IsRight) {
  const auto runtime = runtime_of(GetParam());
  auto app = GetParam().info->make(*runtime, options_of(GetParam()));
  ASSERT_TRUE(app) << app.error().message;
  for (std::uint32_t step = 1; step <= 5; ++step) {
    const auto done = (*app)->step(step);
    ASSERT_TRUE(done) << "step " << step << ": " << done.error().message;
  }
  const auto right = (*app)->check();
  EXPECT_TRUE(right) << right.error().message;
  EXPECT_GT((*app)->traffic().messages, 0);
  EXPECT_GT((*app)->traffic().bytes, 0);
  EXPECT_FALSE((*app)->shape().empty());
}

TEST_P(EveryApplication, IsRightAfterAThousandToggles) {
  const auto runtime = runtime_of(GetParam());
  auto app = GetParam().info->make(*runtime, options_of(GetParam()));
  ASSERT_TRUE(app) << app.error().message;
  std::atomic<std::uint32_t> toggles{0};
  std::atomic<bool> over{false};
  std::thread toggler([&] {
    while (!over) {
      const Mode mode = toggles % 2 == 0 ? Mode::park : Mode::poll;
      if (!runtime->set_wait(0, {mode, wicprof::default_strategy(mode)})) break;
      ++toggles;
    }
  });
  wicprof::Result<> done = wicprof::ok();
  std::uint32_t step = 0;
  while (done && (step < 3 || toggles < 1000)) done = (*app)->step(++step);
  over = true;
  toggler.join();
  ASSERT_TRUE(done) << "step " << step << ": " << done.error().message;
  const auto right = (*app)->check();
  EXPECT_TRUE(right) << right.error().message;
}

// Deadlines that no wait can keep: the application ends with a word on it, or got by without a wait; it does not hang.
TEST_P(EveryApplication, SaysThatADeadlinePassed) {
  const auto runtime = runtime_of(GetParam());
  AppOptions options = options_of(GetParam());
  options.timeout_ns = 1;
  auto app = GetParam().info->make(*runtime, options);
  ASSERT_TRUE(app) << app.error().message;
  wicprof::Result<> done = wicprof::ok();
  for (std::uint32_t step = 1; done && step <= 20; ++step) done = (*app)->step(step);
  if (done) GTEST_SKIP() << "no wait of 20 steps found its word missing";
  EXPECT_EQ(done.error().kind, wicprof::ErrorKind::failed);
  EXPECT_NE(done.error().message.find("deadline"), std::string::npos) << done.error().message;
}

INSTANTIATE_TEST_SUITE_P(Gallery, EveryApplication, testing::ValuesIn(all_cases()), [](const auto& each) {
  return std::string(each.param.info->name) + "_" + way_name(each.param.way);
});

}  // namespace
}  // namespace sample
