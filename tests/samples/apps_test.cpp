// Properties of every application, of the paper and of the field: correct in all three ways of waiting, and polling and
// parked with each rival that it runs with (rivals/rival.h), also while the mode toggles. Compiled for the CPU device,
// for one GPU that plays both ends, and for two GPUs (APPS_C_DEVICES for the c_ programs, APPS_G_DEVICES for the g_
// programs).
#include "apps.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "field/apps.h"

namespace sample {
namespace {

using wicprof::Mode;

struct Case {
  const AppInfo* info;
  Way way;
  Rival rival = Rival::none;
};

const char* way_name(Way way) { return way == Way::naive ? "naive" : way == Way::poll ? "poll" : "park"; }

#ifdef APPS_C_DEVICES
constexpr bool kOnGpu = true;
std::string devices_of(const AppInfo& info) { return info.min_devices > 1 ? APPS_G_DEVICES : APPS_C_DEVICES; }
// Sizes for this test; the default sizes on GPUs take seconds to set up and to check.
std::uint32_t size_of(const AppInfo& info) {
  static const std::map<std::string, std::uint32_t> sizes{{"c_srs", 64},
                                                          {"c_cg", 24},
                                                          {"c_fe", 16},
                                                          {"c_h3d", 48},
                                                          {"g_bfs", 1u << 16},
                                                          {"g_bs", 1u << 18},
                                                          {"g_c2d", 768},
                                                          {"g_stn", 96},
                                                          {"g_gem", 512},
                                                          {"g_kmn", 1u << 17},
                                                          {"field_queues", 64},
                                                          {"field_engine", 64},
                                                          {"field_parameter_server", 1u << 16},
                                                          {"field_storage", 256},
                                                          {"field_expert_dispatch", 64},
                                                          {"field_megakernel", 64},
                                                          {"field_locks", 64},
                                                          {"field_all_reduce", 16}};
  return sizes.at(info.name);
}
#else
constexpr bool kOnGpu = false;
std::string devices_of(const AppInfo& info) { return info.devices; }
std::uint32_t size_of(const AppInfo&) { return 0; }
#endif

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  std::vector<const AppInfo*> apps = all_apps();
  apps.insert(apps.end(), field_apps().begin(), field_apps().end());
  for (const AppInfo* info : apps) {
    for (const Way way : {Way::naive, Way::poll, Way::park}) {
      if (check_way(*info, way)) cases.push_back({info, way});
    }
    for (const RivalInfo& rival : kRivals) {
      for (const Way way : {Way::poll, Way::park}) {
        AppOptions options;
        options.way = way;
        options.rival = rival.rival;
        if (check_rival(*info, options)) cases.push_back({info, way, rival.rival});
      }
    }
  }
  return cases;
}

AppOptions options_of(const Case& c) {
  AppOptions options;
  options.way = c.way;
  options.rival = c.rival;
  options.timeout_ns = kOnGpu ? 5'000'000'000 : 60'000'000'000;
  options.on_gpu = kOnGpu;
  options.size = size_of(*c.info);
  for (const AppOption& option : c.info->options) options.more.try_emplace(option.name, option.default_value);
  return options;
}

class EveryApplication : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    wic::RuntimeOptions options;
    options.devices = devices_of(*GetParam().info);
    options.mode = GetParam().way == Way::park ? Mode::park : Mode::poll;
    auto runtime = wic::Runtime::create(options);
    if (!runtime && runtime.error().kind == wicprof::ErrorKind::unavailable) GTEST_SKIP() << runtime.error().message;
    ASSERT_TRUE(runtime) << runtime.error().message;
    runtime_ = *std::move(runtime);
  }

  std::unique_ptr<wic::Runtime> runtime_;
};

TEST_P(EveryApplication, IsCorrect) {
  auto app = GetParam().info->make(*runtime_, options_of(GetParam()));
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

TEST_P(EveryApplication, IsCorrectAfterAThousandToggles) {
  auto app = GetParam().info->make(*runtime_, options_of(GetParam()));
  ASSERT_TRUE(app) << app.error().message;
  std::atomic<std::uint32_t> toggles{0};
  std::atomic<bool> over{false};
  std::thread toggler([&] {
    while (!over) {
      const Mode mode = toggles % 2 == 0 ? Mode::park : Mode::poll;
      if (!runtime_->set_wait(0, {mode, wicprof::default_strategy(mode)})) break;
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

// With an impossible deadline the application ends with an error, or never has to wait; it does not hang.
TEST_P(EveryApplication, ReportsAMissedDeadline) {
  AppOptions options = options_of(GetParam());
  options.timeout_ns = 1;
  auto app = GetParam().info->make(*runtime_, options);
  ASSERT_TRUE(app) << app.error().message;
  wicprof::Result<> done = wicprof::ok();
  for (std::uint32_t step = 1; done && step <= 20; ++step) done = (*app)->step(step);
  if (done) GTEST_SKIP() << "no wait in 20 steps found its word unset";
  EXPECT_EQ(done.error().kind, wicprof::ErrorKind::failed);
  EXPECT_NE(done.error().message.find("deadline"), std::string::npos) << done.error().message;
}

TEST(Field, RefusesWhatItDoesNotHaveWithTheReason) {
  AppOptions options;
  for (const AppInfo* info : field_apps()) {
    options.rival = Rival::gps;
    const auto rival = check_rival(*info, options);
    ASSERT_FALSE(rival) << info->name;
    EXPECT_NE(rival.error().message.find("paper's applications"), std::string::npos) << rival.error().message;
    const auto naive = check_way(*info, Way::naive);
    ASSERT_EQ(static_cast<bool>(naive), info->no_naive == nullptr) << info->name;
    if (!naive) {
      EXPECT_NE(naive.error().message.find("host thread"), std::string::npos) << naive.error().message;
    }
  }
}

TEST(Rivals, AreRefusedWithTheReason) {
  AppOptions options;
  for (const AppInfo* info : all_apps()) {
    for (const RivalInfo& rival : kRivals) {
      options.rival = rival.rival;
      options.way = Way::naive;
      const auto naive = check_rival(*info, options);
      ASSERT_FALSE(naive);
      EXPECT_NE(naive.error().message.find("--wait naive"), std::string::npos) << naive.error().message;
      options.way = Way::poll;
      const auto other_ends = check_rival(*info, options);
      if (rival.between_gpus == (info->min_devices > 1)) continue;
      ASSERT_FALSE(other_ends) << info->name << " " << rival.name;
      EXPECT_EQ(other_ends.error().kind, wicprof::ErrorKind::bad_input);
      EXPECT_NE(other_ends.error().message.find("here "), std::string::npos);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gallery, EveryApplication, testing::ValuesIn(all_cases()), [](const auto& each) {
  const Case& c = each.param;
  const std::string name = std::string(c.info->name) + "_" + way_name(c.way);
  return c.rival == Rival::none ? name : name + "_" + rival_info(c.rival).name;
});

}  // namespace
}  // namespace sample
