#include "collector/waits/experience.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "collector/waits/wait_sites.h"
#include "protocol/control.h"
#include "tests/protocol/ring_contents.h"

namespace wicprof::collector {
namespace {

using namespace std::chrono_literals;

/// A thread that waits by `hybrid`, and whose launches are watched from the begin on.
class LearningTest : public testing::Test {
 protected:
  LearningTest() {
    control_->host_wanted = WantedWait{Mode::park, StrategyId::hybrid}.pack();
    hosts_.on_hybrid([this](bool on) { watched_ = on; });
    hosts_.begin(sink_);
    hosts_.want_launches();
  }
  ~LearningTest() override { hosts_.stop(); }

  /// Steps of so many launches and one wait each.
  void steps(int count, std::uint64_t launches, TimeNs length) {
    for (int i = 0; i < count; ++i, now_ += length) {
      known_.launches += launches;
      known_.past.emplace();
      known_.past->wait.last_end = now_;
      learning_.learn_past(known_, sink_);
    }
  }
  bool becomes(bool watched) const {
    for (int i = 0; i < 1000 && watched_ != watched; ++i) std::this_thread::sleep_for(10ms);
    return watched_ == watched;
  }
  /// After the control's thread has looked at least once.
  bool is_still(bool watched) const {
    std::this_thread::sleep_for(500ms);
    return watched_ == watched;
  }

  std::unique_ptr<ControlBlock> control_ = std::make_unique<ControlBlock>();
  WaitSites sites_{control_.get()};
  HostControl hosts_{control_.get(), sites_};
  Learning learning_{hosts_};
  PlainRing events_;
  EventSink sink_{events_.ring()};
  Experience known_;
  TimeNs now_ = kMillisecond;
  std::atomic<bool> watched_{false};
};

TEST_F(LearningTest, LaunchesAreNoLongerWatchedWhereThatTakesOverOnePercentOfTheTime) {
  ASSERT_TRUE(becomes(true));
  steps(100, 10, 10 * 100 * kWatchedLaunch);
  EXPECT_TRUE(is_still(true));
  steps(20, 12, 10 * 100 * kWatchedLaunch);
  EXPECT_TRUE(becomes(false));
  hosts_.want_launches();
  EXPECT_TRUE(is_still(false));
}

}  // namespace
}  // namespace wicprof::collector
