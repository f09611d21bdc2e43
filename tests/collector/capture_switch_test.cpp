// The switch that follows the session's word: what it changes, and that stop() ends its thread.
#include "collector/capture_switch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace wicprof::collector {
namespace {

struct Following {
  std::unique_ptr<ControlBlock> control = std::make_unique<ControlBlock>();
  std::atomic<int> state{-1};
  CaptureSwitch capture{control.get()};

  Following() {
    control->capture_changes = 1;
    capture.begin([this](bool on) { state = on ? 1 : 0; });
    capture.follow();
  }
  void expect(int wanted) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (state != wanted && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    EXPECT_EQ(state, wanted);
  }
  void want(bool on) {
    control->capturing = on ? 1 : 0;
    futex_wake_all(control->capturing);
  }
};

TEST(CaptureSwitch, FollowsTheWord) {
  Following following;
  following.want(true);
  following.expect(1);
  following.want(false);
  following.expect(0);
  EXPECT_TRUE(following.capture.stop(std::chrono::seconds(60)));
}

// A program whose end the tool plans has no thread for the word: the flusher looks at it.
TEST(CaptureSwitch, LooksAtTheWordWithoutAThread) {
  const auto control = std::make_unique<ControlBlock>();
  CaptureSwitch capture{control.get()};
  int state = -1;
  capture.begin([&](bool on) { state = on ? 1 : 0; });
  capture.follow();
  EXPECT_FALSE(capture.running());
  control->capturing = 0;
  EXPECT_EQ(state, 1);
  capture.look();
  EXPECT_EQ(state, 0);
  EXPECT_TRUE(capture.stop(std::chrono::seconds(60)));
}

// Repeated, since the thread may be anywhere between its look at the word and its sleep.
TEST(CaptureSwitch, StopEndsTheThreadThatSleepsOnTheWord) {
  for (int i = 0; i < 20; ++i) {
    Following following;
    if (i % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // probably asleep
    EXPECT_TRUE(following.capture.stop(std::chrono::seconds(5)));
    ASSERT_FALSE(following.capture.running());
  }
}

// Whoever stops it frees what the thread uses: a program that was stopped meanwhile has no time left.
TEST(CaptureSwitch, StopIsNotOverWhileTheThreadRuns) {
  for (int i = 0; i < 20; ++i) {
    Following following;
    if (following.capture.stop(std::chrono::seconds(0))) {
      EXPECT_FALSE(following.capture.running());
    }
    EXPECT_TRUE(following.capture.stop(std::chrono::seconds(60)));
    EXPECT_FALSE(following.capture.running());
  }
}

TEST(CaptureSwitch, NothingChangesAfterStop) {
  Following following;
  following.want(true);
  following.expect(1);
  EXPECT_TRUE(following.capture.stop(std::chrono::seconds(60)));
  following.want(false);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(following.state, 1);
}

}  // namespace
}  // namespace wicprof::collector
