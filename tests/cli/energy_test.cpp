// Reading counters of energy.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
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
  const auto says = [](const EnergySources& sources, const std::string& what) {
    for (const std::string& lacking : sources.lacking) {
      if (lacking.find(what) != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(says(find_energy_sources(powercap.folder.string()), "energy_uj: No such file"));
  EXPECT_TRUE(says(find_energy_sources("/nowhere"), "/nowhere names no package"));
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
    EnergyMeter meter({{"steps", [] { return std::optional(*steps() % 1000); }, 1000},
                       {"gone", [] { return std::optional<std::uint64_t>(); }, 0}},
                      sink);
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

std::atomic<bool> source_answers{false};

TEST(EnergyMeter, ASourceThatDoesNotAnswerDelaysNoEnd) {
  PlainRing ring;
  EventSink sink(ring.ring());
  static std::atomic<bool> asked{false}, over{false};
  const auto hang = []() -> std::optional<std::uint64_t> {
    asked = true;
    while (!source_answers) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    over = true;
    return 1;
  };
  {
    EnergyMeter meter({{"hangs", hang, 0}}, sink);
    while (!asked) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(over);
  source_answers = true;
  while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(ring.read().all<EnergyEvent>().empty());
}

}  // namespace
}  // namespace wicprof::cli
