// Reading counters of energy.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cli/record/energy_meter.h"
#include "cli/record/energy_sources.h"
#include "cli/terminal/messages.h"
#include "protocol/events/energy.h"
#include "tests/protocol/ring_contents.h"

namespace wicprof::cli {

void warn(std::string_view text) noexcept { ADD_FAILURE() << text; }

namespace {

namespace fs = std::filesystem;

/// Whether the condition comes to hold within a minute.
template <class Condition>
bool until(Condition condition) {
  for (const TimeNs end = now_ns() + 60 * kSecond; !condition();
       std::this_thread::sleep_for(std::chrono::milliseconds(1)))
    if (now_ns() > end) return false;
  return true;
}

// Loaded before the driver's own library, which has the same name.
void* const nvml = dlopen(FAKE_NVML, RTLD_NOW | RTLD_LOCAL);

bool says(const EnergySources& sources, const std::string& what) {
  return std::ranges::any_of(sources.lacking, [&](const std::string& each) { return each.find(what) != each.npos; });
}

struct Powercap {
  explicit Powercap(const char* name) : folder(fs::path(::testing::TempDir()) / name) { fs::remove_all(folder); }
  ~Powercap() { fs::remove_all(folder); }
  void zone(const std::string& zone, const std::string& name, const std::string& energy) const {
    fs::create_directories(folder / zone);
    std::ofstream(folder / zone / "name") << name << "\n";
    if (!energy.empty()) std::ofstream(folder / zone / "energy_uj") << energy << "\n";
    std::ofstream(folder / zone / "max_energy_range_uj") << "1000\n";
  }
  const fs::path folder;
};

TEST(EnergySources, PackagesOfProcessors) {
  const Powercap powercap("powercap_packages");
  powercap.zone("intel-rapl:0", "package-0", "70");
  powercap.zone("intel-rapl:1", "package-1", "80");
  powercap.zone("intel-rapl:0:0", "core", "10");  // a part of a package
  powercap.zone("intel-rapl:2", "psys", "10");    // the machine, with its packages
  EnergySources sources = find_energy_sources(powercap.folder.string());
  std::erase_if(sources.found, [](const EnergySource& source) { return source.name.starts_with("GPU"); });
  ASSERT_EQ(sources.found.size(), 2u);
  EXPECT_EQ(sources.found[0].name, "CPU package 0");
  EXPECT_EQ(sources.found[1].name, "CPU package 1");
  EXPECT_EQ(sources.found[1].read_uj(), 80u);
  EXPECT_EQ(sources.found[1].wraps_at, 1000u);
}

TEST(EnergySources, WhatCannotBeReadIsNamed) {
  const Powercap powercap("powercap_refused");
  powercap.zone("intel-rapl:0", "package-0", "");
  EXPECT_TRUE(says(find_energy_sources(powercap.folder.string()), "energy_uj: No such file"));
  EXPECT_TRUE(says(find_energy_sources("/nowhere"), "/nowhere names no package"));
}

TEST(EnergySources, StatesOfGpus) {
  ASSERT_NE(nvml, nullptr) << dlerror();
  const EnergySources sources = find_energy_sources("/nowhere");
  ASSERT_EQ(sources.found.size(), 1u);
  EXPECT_EQ(sources.found[0].name, "GPU 0 (made)");
  EXPECT_EQ(sources.found[0].read_uj(), 7000u);
  EXPECT_TRUE(says(sources, "no energy of GPU 1: NVML says \"Not Supported\""));
  ASSERT_EQ(sources.states.size(), 2u);
  EXPECT_EQ(sources.states[0].uuid, "GPU-00000000-0000-0000-0000-000000000001");
  EXPECT_EQ(sources.states[1].uuid, "GPU-00000000-0000-0000-0000-000000000002");
  const DeviceStateEvent state = sources.states[0].read();
  EXPECT_EQ(state.sm_clock_mhz, 1410u);
  EXPECT_EQ(state.max_sm_clock_mhz, 1980u);
  EXPECT_EQ(state.memory_clock_mhz, 3201u);
  EXPECT_EQ(state.temperature_c, 88);
  EXPECT_EQ(state.slowdown_reasons, 0x24u);
  EXPECT_EQ(sources.states[1].read().sm_clock_mhz, 1410u);
  EXPECT_EQ(sources.states[1].read().temperature_c, DeviceStateEvent::kUnknownTemperature);
  EXPECT_TRUE(says(sources, "of GPU 1, its driver does not tell: temperature"));
  EXPECT_FALSE(says(sources, "of GPU 0"));
}

// A counter that moves every 20 ms, and begins anew at 1000.
std::optional<std::uint64_t> steps() {
  static const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = std::chrono::steady_clock::now() - begin;
  return 900 + static_cast<std::uint64_t>(elapsed / std::chrono::milliseconds(20)) * 10 % 1000;
}

TEST(EnergyMeter, EventsAreAtStepsAndNeverCountBack) {
  PlainRing ring;
  EventSink sink(ring.ring());
  const TimeNs begin = now_ns();
  {
    EnergySources sources;
    sources.found = {{"steps", [] { return std::optional(*steps() % 1000); }, 1000},
                     {"gone", [] { return std::optional<std::uint64_t>(); }, 0}};
    EnergyMeter meter(std::move(sources), sink);
    std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  }
  const Delivered delivered = ring.read();
  const std::vector<EnergyEvent> events = delivered.all<EnergyEvent>();
  ASSERT_GE(events.size(), 2u);
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(delivered.text(events[i].meter), "steps");
    EXPECT_GE(events[i].at_ns, begin);
    EXPECT_EQ(events[i].energy_uj % 10, 0u);
    if (i == 0) continue;
    EXPECT_GT(events[i].energy_uj, events[i - 1].energy_uj);
    // 10 uJ per 20 ms, whatever the machine does between.
    const double steps_between = static_cast<double>(events[i].energy_uj - events[i - 1].energy_uj) / 10;
    const double time_between = static_cast<double>(events[i].at_ns - events[i - 1].at_ns) / (20 * kMillisecond);
    EXPECT_NEAR(steps_between, time_between, 4);
  }
}

TEST(EnergyMeter, StatesAreReadWithoutCountersOfEnergy) {
  PlainRing ring;
  EventSink sink(ring.ring());
  const TimeNs begin = now_ns();
  {
    static std::atomic<unsigned> readings{0};
    EnergySources sources;
    sources.states = {{"GPU-1", [] {
                         auto event = make_event<DeviceStateEvent>();
                         event.sm_clock_mhz = ++readings;
                         return event;
                       }}};
    EnergyMeter meter(std::move(sources), sink);
    EXPECT_TRUE(until([] { return readings >= 3; }));  // then two are written
  }
  const Delivered delivered = ring.read();
  const std::vector<DeviceStateEvent> events = delivered.all<DeviceStateEvent>();
  ASSERT_GE(events.size(), 2u);
  EXPECT_EQ(delivered.text(events[0].uuid), "GPU-1");
  EXPECT_EQ(events[0].sm_clock_mhz, 1u);
  EXPECT_GE(events[0].at_ns, begin);
  EXPECT_GE(events[1].at_ns - events[0].at_ns, kSecond);
}

struct Hang {
  std::atomic<bool> asked{false}, answers{false}, over{false};
  void operator()() {
    asked = true;
    until([this] { return answers.load(); });
    over = true;
  }
};

void expect_no_delay(const std::shared_ptr<Hang>& hang, EnergySources sources) {
  PlainRing ring;
  EventSink sink(ring.ring());
  {
    EnergyMeter meter(std::move(sources), sink);
    EXPECT_TRUE(until([&] { return hang->asked.load(); }));
  }
  EXPECT_FALSE(hang->over);
  hang->answers = true;
  EXPECT_TRUE(until([&] { return hang->over.load(); }));
  EXPECT_TRUE(ring.read().records.empty());
}

TEST(EnergyMeter, ASourceThatDoesNotAnswerDelaysNoEnd) {
  const auto hang = std::make_shared<Hang>();
  EnergySources sources;
  sources.found = {{"hangs",
                    [hang]() -> std::optional<std::uint64_t> {
                      (*hang)();
                      return 1;
                    },
                    0}};
  expect_no_delay(hang, std::move(sources));
}

TEST(EnergyMeter, AGpuThatDoesNotAnswerDelaysNoEnd) {
  const auto hang = std::make_shared<Hang>();
  EnergySources sources;
  sources.states = {{"GPU-1", [hang] {
                       (*hang)();
                       return make_event<DeviceStateEvent>();
                     }}};
  expect_no_delay(hang, std::move(sources));
}

}  // namespace
}  // namespace wicprof::cli
