#include "collector/program/time_slice.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace wicprof::collector {
namespace {

// In a thread of its own, whose slice is the system's.
template <class Function>
void in_thread(Function&& function) {
  std::thread(std::forward<Function>(function)).join();
}

bool set_slice(TimeNs slice) {
  struct {
    std::uint32_t size = 48, policy = SCHED_OTHER;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0, deadline = 0, period = 0;
  } attributes;
  attributes.runtime = static_cast<std::uint64_t>(slice);
  return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0 && time_slice() == slice;
}

class TimeSlices : public testing::Test {
 protected:
  void SetUp() override {
    in_thread([this] { can_ = usual_time_slice() >= 2 * TimeSlice::kShort && set_slice(TimeSlice::kShort); });
    if (!can_) GTEST_SKIP() << "this system has no slices that a thread may choose (Linux 6.12)";
  }
  bool can_ = false;
};

TEST_F(TimeSlices, AreShortUntilTheyAreRestored) {
  in_thread([] {
    TimeSlice slice;
    slice.restore();
    EXPECT_EQ(time_slice(), usual_time_slice());
    slice.shorten();
    EXPECT_TRUE(slice.is_short());
    EXPECT_EQ(time_slice(), TimeSlice::kShort);
    in_thread([] {  // which has its parent's
      TimeSlice own;
      own.shorten();
      own.restore();
      EXPECT_EQ(time_slice(), usual_time_slice());
    });
    slice.restore();
    EXPECT_FALSE(slice.is_short());
    EXPECT_EQ(time_slice(), usual_time_slice());
  });
}

TEST_F(TimeSlices, WhatTheProgramAskedForStays) {
  in_thread([] {
    const TimeNs own = 2 * usual_time_slice();
    ASSERT_TRUE(set_slice(own));
    TimeSlice slice;
    slice.shorten();
    EXPECT_EQ(time_slice(), own);
    slice.restore();
    EXPECT_EQ(time_slice(), own);
  });
  in_thread([] {
    TimeSlice slice;
    slice.shorten();
    const TimeNs own = 2 * usual_time_slice();
    ASSERT_TRUE(set_slice(own));  // meanwhile
    slice.restore();
    EXPECT_EQ(time_slice(), own);
  });
  in_thread([] {
    const sched_param none{};
    ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
    TimeSlice slice;
    slice.shorten();
    EXPECT_FALSE(slice.is_short());
    EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH);
  });
}

}  // namespace
}  // namespace wicprof::collector
