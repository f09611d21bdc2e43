#include "collector/program/time_slice.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <thread>

#include "collector/program/short_slices.h"

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

ShortSlices& slices = *new ShortSlices;  // of the process

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
    TimeSlice slice(slices);
    slice.restore();
    EXPECT_EQ(time_slice(), usual_time_slice());
    slice.shorten();
    EXPECT_TRUE(slice.is_short());
    EXPECT_EQ(time_slice(), TimeSlice::kShort);
    in_thread([] {  // which has its parent's
      TimeSlice own(slices);
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
    TimeSlice slice(slices);
    slice.shorten();
    EXPECT_EQ(time_slice(), own);
    slice.restore();
    EXPECT_EQ(time_slice(), own);
  });
  in_thread([] {
    TimeSlice slice(slices);
    slice.shorten();
    const TimeNs own = 2 * usual_time_slice();
    ASSERT_TRUE(set_slice(own));  // meanwhile
    slice.restore();
    EXPECT_EQ(time_slice(), own);
  });
  in_thread([] {
    const sched_param none{};
    ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
    TimeSlice slice(slices);
    slice.shorten();
    EXPECT_FALSE(slice.is_short());
    EXPECT_EQ(sched_getscheduler(0), SCHED_BATCH);
  });
}

// A child process that runs another program, which has the slice of the thread that started it, until the object ends.
class Child {
 public:
  Child() : id_(fork()) {
    if (id_ != 0) return;
    execlp("sleep", "sleep", "60", nullptr);
    _exit(1);
  }
  ~Child() {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  TimeNs slice() const { return time_slice(id_); }

 private:
  pid_t id_;
};

TEST_F(TimeSlices, WhatAThreadStartsGetsTheSystemsSlice) {
  in_thread([] {
    TimeSlice slice(slices);
    slice.shorten();
    ASSERT_TRUE(slice.is_short());
    const Child child;
    EXPECT_EQ(child.slice(), TimeSlice::kShort);
    std::promise<pid_t> started;
    std::promise<void> end;
    std::thread thread([&] {
      started.set_value(static_cast<pid_t>(syscall(SYS_gettid)));
      end.get_future().wait();
    });
    const pid_t id = started.get_future().get();
    EXPECT_EQ(time_slice(id), TimeSlice::kShort);
    slices.mend();
    EXPECT_EQ(time_slice(id), usual_time_slice());
    EXPECT_EQ(child.slice(), usual_time_slice());
    EXPECT_EQ(time_slice(), TimeSlice::kShort);  // it has shortened its own slice
    slice.restore();
    end.set_value();
    thread.join();
  });
}

TEST_F(TimeSlices, WhatAThreadStartedIsMendedOnceAllSlicesAreRestored) {
  in_thread([] {
    TimeSlice slice(slices);
    slice.shorten();
    const Child child;
    slice.restore();
    slices.mend();
    EXPECT_EQ(child.slice(), usual_time_slice());
  });
}

TEST_F(TimeSlices, AChildThatShortensItsSlicesLaterKeepsThem) {
  in_thread([] {
    TimeSlice slice(slices);
    slice.shorten();
    int ready[2], go[2];
    ASSERT_EQ(pipe(ready), 0);
    ASSERT_EQ(pipe(go), 0);
    const pid_t child = fork();
    if (child == 0) {
      char byte = 0;
      const bool asked = read(go[0], &byte, 1) == 1 && set_slice(TimeSlice::kShort) && write(ready[1], &byte, 1) == 1;
      read(go[0], &byte, asked ? 1 : 0);
      _exit(0);
    }
    slices.mend();
    EXPECT_EQ(time_slice(child), usual_time_slice());
    char byte = 0;
    ASSERT_EQ(write(go[1], &byte, 1), 1);
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    slices.mend();
    EXPECT_EQ(time_slice(child), TimeSlice::kShort);
    ASSERT_EQ(write(go[1], &byte, 1), 1);
    waitpid(child, nullptr, 0);
    for (const int file : {ready[0], ready[1], go[0], go[1]}) close(file);
    slice.restore();
  });
}

TEST_F(TimeSlices, OthersKeepWhatTheyAskedFor) {
  in_thread([] {
    TimeSlice slice(slices);
    slice.shorten();
    in_thread([] {
      const TimeNs own = 2 * usual_time_slice();
      ASSERT_TRUE(set_slice(own));
      slices.mend();
      EXPECT_EQ(time_slice(), own);
    });
    slice.restore();
  });
}

}  // namespace
}  // namespace wicprof::collector
