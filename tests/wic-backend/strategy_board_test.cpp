// The board while a device is slow to take its words.
#include "src/strategy/strategy_board.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <type_traits>

#include "simt/simt_device.h"
#include "src/runtime/control_loop.h"
#include "tests/protocol/runtime_folder.h"
#include "wic/strategies/list.h"

namespace wic {
namespace {

using wicprof::Mode;
using wicprof::StrategyId;
using wicprof::WantedWait;

/// A device whose writes beside running kernels are done only once `answers` is set.
class SlowDevice final : public simt::SimtDevice {
 public:
  SlowDevice() : SimtDevice(0, 2) {}
  Result<bool> live_write_done() override { return answers.load(); }
  Result<> start_live_write(Span<const LiveWord> words) override {
    EXPECT_TRUE(answers) << "a GPU waits here for the earlier write, for ever if that is stuck";
    return SimtDevice::start_live_write(words);
  }
  std::atomic<bool> answers{true};
};

struct Fixture {
  SlowDevice device;
  std::unique_ptr<StrategyWord[]> words = std::make_unique<StrategyWord[]>(kMaxSites);
  std::unique_ptr<ControlPage> page = std::make_unique<ControlPage>();
  StrategyBoard board{WantedWait{Mode::poll, StrategyId::poll}};
  Fixture() { board.add_device(device, words.get(), page.get()); }
};

TEST(Strategies, TheLoopObservesAsTheStrategyDoes) {
  for (std::uint8_t id = 0; id <= static_cast<std::uint8_t>(StrategyId::naive); ++id) {
    with_strategy(id, [id](auto strategy) {
      EXPECT_EQ(static_cast<std::uint8_t>(decltype(strategy)::kId), id);
      with_observation(id, [id](auto observation) {
        EXPECT_TRUE((std::is_base_of_v<decltype(observation), decltype(strategy)>))
            << "no case for strategy " << static_cast<int>(id) << " in with_observation()";
      });
    });
  }
}

TEST(StrategyBoard, ReadersDoNotWaitForADevice) {
  Fixture fixture;
  StrategyBoard& board = fixture.board;
  ASSERT_TRUE(board.add_site({"hot", wicprof::WordMemory::pinned_host, wicprof::Pollers::leader, true}));
  fixture.device.answers = false;
  std::atomic<bool> begun{false}, ended{false};
  std::thread writer([&] {
    begun = true;
    EXPECT_TRUE(board.want(0, {Mode::park, StrategyId::backoff}));
    ended = true;
  });
  while (!begun || board.wanted(0).mode != Mode::park) std::this_thread::yield();
  EXPECT_TRUE(board.hot_sites().has(1));
  EXPECT_EQ(board.site_count(), 1u);
  EXPECT_FALSE(board.choice(1).reason.empty());
  EXPECT_FALSE(board.any_automatic());
  EXPECT_TRUE(board.sites_fed_by(7).empty());
  EXPECT_TRUE(board.refusal(1, {Mode::poll, StrategyId::poll}));
  EXPECT_FALSE(ended) << "the device has not taken the words yet";
  fixture.device.answers = true;
  writer.join();
  EXPECT_EQ(board.strategy(1), StrategyId::backoff);
}

TEST(StrategyBoard, ADeviceThatNeverAnswersIsAnErrorAndLeavesNoSite) {
  Fixture fixture;
  fixture.device.answers = false;
  const auto site = fixture.board.add_site({"late", {}, {}, false});
  ASSERT_FALSE(site);
  EXPECT_NE(site.error().message.find("within 2 s"), std::string::npos) << site.error().message;
  EXPECT_EQ(fixture.board.site_count(), 0u);
  fixture.device.answers = true;
  EXPECT_TRUE(fixture.board.add_site({"late", {}, {}, false}));
}

TEST(StrategyBoard, ARequestForTheProgramReplacesThoseOfSites) {
  Fixture fixture;
  StrategyBoard& board = fixture.board;
  EXPECT_TRUE(board.want(0, {Mode::park, StrategyId::backoff})) << "no site yet";
  const wicprof::SiteId first = *board.add_site({"first", {}, {}, false});
  const wicprof::SiteId second = *board.add_site({"second", {}, {}, false});
  EXPECT_EQ(board.strategy(first), StrategyId::backoff);
  ASSERT_TRUE(board.want(second, {Mode::poll, StrategyId::poll}));
  EXPECT_EQ(board.strategy(second), StrategyId::poll);
  EXPECT_EQ(board.strategy(first), StrategyId::backoff);
  ASSERT_TRUE(board.want(0, {Mode::park, StrategyId::leader_bar_sync}));
  EXPECT_EQ(board.strategy(first), StrategyId::leader_bar_sync);
  EXPECT_EQ(board.strategy(second), StrategyId::leader_bar_sync);
  EXPECT_FALSE(board.want(3, {Mode::poll, StrategyId::poll}));
}

// The program declares a site for which a toggle has asked before, and the device is slow to take the site's word.
TEST(ControlLoop, AToggleWhileASiteIsDeclaredIsTheLastWord) {
  const wicprof::RuntimeFolder folder;
  const auto session = wicprof::SessionOwner::create({"declared", false, "test"});
  ASSERT_TRUE(session);
  wicprof::ControlBlock& tool = session->map().control();
  Fixture fixture;
  StrategyBoard& board = fixture.board;
  TraceLink trace;
  ASSERT_TRUE(trace.attach(session->path().c_str()));
  ControlLoop control(board, trace);
  ASSERT_TRUE(control.start());
  const std::uint32_t number = wicprof::register_site(tool, "word");
  wicprof::request_wait(tool, number, {Mode::park, StrategyId::backoff});
  const wicprof::SiteId site = *board.add_site({"word", {}, {}, false});
  fixture.device.answers = false;
  std::thread holds_the_device([&] { EXPECT_TRUE(board.set_lost(site, false)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::thread declares([&] { control.add_site(site, "word"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::uint32_t sequence = wicprof::request_wait(tool, 0, {Mode::poll, StrategyId::poll});
  EXPECT_TRUE(wicprof::wait_applied(tool, sequence, 60 * wicprof::kSecond));
  fixture.device.answers = true;
  holds_the_device.join();
  declares.join();
  EXPECT_EQ(board.wanted(site).mode, Mode::poll);
}

// Toggles, new sites, observations and readers at once: run under ThreadSanitizer.
TEST(StrategyBoard, TakesCallsOfManyThreads) {
  Fixture fixture;
  StrategyBoard& board = fixture.board;
  ASSERT_TRUE(board.add_site({"first", wicprof::WordMemory::pinned_host, wicprof::Pollers::leader, true}));
  std::atomic<bool> stop{false};
  std::thread toggler([&] {
    for (int i = 0; !stop; ++i) {
      EXPECT_TRUE(board.want(
          i % 2, {i % 3 == 0 ? Mode::poll : Mode::park, i % 3 == 0 ? StrategyId::poll : StrategyId::automatic}));
    }
  });
  std::thread observer([&] {
    while (!stop) {
      EXPECT_TRUE(board.see(1, SiteObservation{}));
      EXPECT_TRUE(board.set_lost(1, false));
    }
  });
  std::thread reader([&] {
    while (!stop) {
      EXPECT_TRUE(board.hot_sites().has(1));
      EXPECT_GE(board.site_count(), 1u);
    }
  });
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(board.add_site({"site " + std::to_string(i), {}, {}, false}));
  stop = true;
  toggler.join();
  observer.join();
  reader.join();
  EXPECT_EQ(board.site_count(), 101u);
}

}  // namespace
}  // namespace wic
