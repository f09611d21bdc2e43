// The thread of patched loops: toggles reach the loops' words, and each is an intervention in the trace.
#include "collector/rewrite/toggle_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "protocol/events/intervention.h"
#include "protocol/events/notice.h"
#include "protocol/events/wait.h"
#include "tests/collector/rewrite/fake_driver.h"

namespace wicprof::collector {
namespace {

using namespace fake_driver;

constexpr WantedWait kPark{Mode::park, StrategyId::automatic};

class ToggleLoopTest : public RewriteTest {
 protected:
  ToggleLoopTest() {
    names_ = modules_.add(replacement, reinterpret_cast<CUlibrary>(1), nullptr, sink_);
    EXPECT_EQ(modules_.bind(api, sink_), "");
  }
  /// The word that the loop reads.
  std::uint32_t control_of_loop() {
    return std::atomic_ref(reinterpret_cast<rewriter::SiteWords*>(driver.memory.front().data())[0].control).load();
  }
  bool loop_comes_to(std::uint32_t word) {
    const TimeNs end = now_ns() + 60 * kSecond;
    while (control_of_loop() != word && now_ns() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return control_of_loop() == word;
  }
  std::uint32_t number() const { return find_site(*control_, names_.at(0).c_str()); }
  std::vector<InterventionEvent> interventions() {
    loop_.stop();
    return ring_.read().all<InterventionEvent>();
  }

  std::unique_ptr<ControlBlock> control_ = std::make_unique<ControlBlock>();
  PatchedModules modules_{control_.get()};
  ToggleLoop loop_{control_.get(), modules_};
  std::vector<std::string> names_;
};

TEST_F(ToggleLoopTest, AToggleOfTheProgramReachesTheLoopsAndTheTrace) {
  loop_.begin(api, sink_);
  loop_.begin(api, sink_);  // with the next module
  EXPECT_EQ(attached_processes(*control_), 1u);
  const std::uint32_t sequence = request_wait(*control_, 0, kPark);
  ASSERT_TRUE(wait_applied(*control_, sequence, 60 * kSecond));
  EXPECT_EQ(control_of_loop(), rewriter::kLongestPause);
  const auto events = interventions();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].site, 0u);
  EXPECT_EQ(events[0].side, WaitSide::device);
  EXPECT_EQ(events[0].new_strategy, static_cast<std::uint32_t>(StrategyId::automatic));
  EXPECT_EQ(attached_processes(*control_), 0u);
}

TEST_F(ToggleLoopTest, AToggleOfASiteIsAnIntervention) {
  loop_.begin(api, sink_);
  ASSERT_NE(number(), 0u);
  const std::uint32_t sequence = request_wait(*control_, number(), kPark);
  ASSERT_TRUE(wait_applied(*control_, sequence, 60 * kSecond));
  EXPECT_EQ(control_of_loop(), rewriter::kLongestPause);
  const auto events = interventions();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].site, PatchedModules::kFirstSite);
  EXPECT_EQ(events[0].sequence, sequence);
  EXPECT_EQ(events[0].old_mode, static_cast<std::uint8_t>(Mode::poll));
  EXPECT_EQ(events[0].new_mode, static_cast<std::uint8_t>(Mode::park));
  EXPECT_EQ(events[0].new_strategy, static_cast<std::uint32_t>(modules_.strategy(0)));
}

// As the driver does to others while one thread is in a copy that waits for a kernel.
std::atomic<bool> driver_holds_calls{false}, driver_is_asked{false};

TEST_F(ToggleLoopTest, ADriverThatHoldsACallKeepsNoWaitBack) {
  RewriteDriver holding = api;
  holding.pointer_attribute = [](void*, CUpointer_attribute, CUdeviceptr) {
    driver_is_asked = true;
    while (driver_holds_calls) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return CUDA_ERROR_INVALID_VALUE;
  };
  driver_holds_calls = true;
  modules_.record(true);
  loop_.begin(holding, sink_);
  auto* const ring = reinterpret_cast<rewriter::Record*>(driver.memory.back().data());
  const auto record = [&](std::uint64_t number, std::uint32_t flags, std::uint64_t at) {
    rewriter::Record made{number + 1, at, 0x1000, 1, flags, 0, 0, 0, 1, 5, 0};
    std::uint64_t words[sizeof made / sizeof(std::uint64_t)];
    std::memcpy(words, &made, sizeof made);
    for (const std::uint64_t word : words) made.check ^= word;
    ring[number] = made;
  };
  record(0, rewriter::Record::kKnowsValue, 100);
  record(1, rewriter::Record::kEnd, 200);
  const auto comes = [](const auto& what) {
    const TimeNs end = now_ns() + 60 * kSecond;
    while (!what() && now_ns() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return what();
  };
  EXPECT_TRUE(comes([] { return driver_is_asked.load(); }));
  std::size_t waits = 0;
  EXPECT_TRUE(comes([&] {
    waits += ring_.read().all<WaitEvent>().size();
    return waits == 1;
  }));
  record(2, rewriter::Record::kKnowsValue, 300);
  record(3, rewriter::Record::kEnd, 400);
  EXPECT_TRUE(comes([&] {
    waits += ring_.read().all<WaitEvent>().size();
    return waits == 2;
  })) << "while the other thread is in the driver";
  EXPECT_FALSE(loop_.stop()) << "nor does anybody wait for that one for long";
  driver_holds_calls = false;
  EXPECT_TRUE(loop_.stop());
}

TEST_F(ToggleLoopTest, AnotherStrategyIsNoChange) {
  control_->wanted = kPark.pack();
  modules_.follow_session();
  loop_.begin(api, sink_);
  const std::uint32_t sequence = request_wait(*control_, 0, {Mode::park, StrategyId::predicted_sleep});
  ASSERT_TRUE(wait_applied(*control_, sequence, 60 * kSecond));
  EXPECT_TRUE(interventions().empty());
}

TEST_F(ToggleLoopTest, WithoutARecorderTheLoopsPollAgain) {
  control_->heartbeat = 1;
  control_->wanted = kPark.pack();
  loop_.begin(api, sink_);
  EXPECT_EQ(control_of_loop(), rewriter::kLongestPause);
  EXPECT_TRUE(loop_comes_to(0));
  modules_.record(true);  // others follow the session, too
  EXPECT_EQ(control_of_loop(), rewriter::kRecord);
  ++control_->heartbeat;
  EXPECT_TRUE(loop_comes_to(rewriter::kRecord | rewriter::kLongestPause));
}

TEST_F(ToggleLoopTest, InAFullSessionTheLoopsFollowAllTheSame) {
  for (MemberControl& each : control_->members) each.state = std::uint64_t{1} << 40 | 1;
  loop_.begin(api, sink_);
  request_wait(*control_, 0, kPark);
  EXPECT_TRUE(loop_comes_to(rewriter::kLongestPause));
  EXPECT_EQ(control_->parts_refused, 1u);
  loop_.stop();
  EXPECT_EQ(control_->parts_refused, 0u);
  const Delivered got = ring_.read();
  ASSERT_EQ(got.all<NoticeEvent>().size(), 1u);
  EXPECT_NE(got.text(got.all<NoticeEvent>()[0].text).find("no place"), std::string::npos);
}

}  // namespace
}  // namespace wicprof::collector
