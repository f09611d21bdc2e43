// Which waits a trace keeps as those of a program that hung, and when wic-prof looks.
#include "cli/record/hang_record.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

namespace wicprof::cli {
namespace {

class HangRecordTest : public testing::Test {
 protected:
  void begin_call(std::size_t entry, TimeNs at) {
    OpenCall call;
    call.begin = at;
    work->calls[entry].claim(static_cast<std::uint32_t>(getpid()));
    work->calls[entry].write(call);
  }
  void end_call(std::size_t entry) { work->calls[entry].write({}); }

  const std::unique_ptr<OpenWork> work = std::make_unique<OpenWork>();
  std::atomic<int> looks{0};
  HangRecord record{*work, 30 * kSecond, [this] { return std::to_string(++looks); }};
};

TEST_F(HangRecordTest, KeepsWhatStillWaits) {
  begin_call(0, kSecond);
  record.follow(30 * kSecond);
  EXPECT_EQ(record.document(), "");
  record.follow(32 * kSecond);
  EXPECT_EQ(record.document(), "1");
  for (TimeNs now = 33; now < 100; ++now) record.follow(now * kSecond);
  EXPECT_EQ(record.document(), "1");  // nothing else waits
}

TEST_F(HangRecordTest, LooksAgainOnceMoreWaits) {
  begin_call(0, kSecond);
  record.follow(40 * kSecond);
  EXPECT_EQ(record.document(), "1");
  begin_call(1, 40 * kSecond);
  record.follow(50 * kSecond);
  EXPECT_EQ(record.document(), "1");
  record.follow(71 * kSecond);
  EXPECT_EQ(record.document(), "2");
  end_call(1);
  record.follow(73 * kSecond);
  EXPECT_EQ(record.document(), "2");  // the first still waits
}

TEST_F(HangRecordTest, ForgetsAWaitThatEnds) {
  begin_call(0, kSecond);
  record.follow(40 * kSecond);
  EXPECT_EQ(record.document(), "1");
  end_call(0);
  record.follow(42 * kSecond);
  EXPECT_EQ(record.document(), "");
  // Such waits are usual here.
  begin_call(0, 50 * kSecond);
  record.follow(90 * kSecond);
  EXPECT_EQ(record.document(), "");
  record.follow(111 * kSecond);
  EXPECT_EQ(record.document(), "2");
}

TEST_F(HangRecordTest, LooksAtOnceWhereATraceEnds) {
  begin_call(0, kSecond);
  record.follow(30 * kSecond);
  record.look(31 * kSecond);  // before the next second
  EXPECT_EQ(record.document(), "1");
}

// The thread that watches the program also hears Ctrl-C; another one ends a trace.
TEST_F(HangRecordTest, FollowingDoesNotWaitForALook) {
  std::atomic<bool> begun{false}, over{false};
  HangRecord slow(*work, 30 * kSecond, [&] {
    begun = true;
    for (const TimeNs until = now_ns() + 2 * kSecond; !over && now_ns() < until;) std::this_thread::yield();
    return std::string(over ? "over" : "late");
  });
  begin_call(0, kSecond);
  std::thread ends_a_trace([&] { slow.look(40 * kSecond); });
  while (!begun) std::this_thread::yield();
  slow.follow(41 * kSecond);
  over = true;
  ends_a_trace.join();
  EXPECT_EQ(slow.document(), "over");
}

TEST_F(HangRecordTest, ACallOfMpiThatHasEndedWaitsNoMore) {
  OpenMpiCall call;
  call.begin = kSecond;
  call.end = 2 * kSecond;
  work->mpi_calls[0].claim(static_cast<std::uint32_t>(getpid()));
  work->mpi_calls[0].write(call);
  record.follow(40 * kSecond);
  EXPECT_EQ(record.document(), "");
  call.end = 0;
  work->mpi_calls[0].write(call);
  record.follow(42 * kSecond);
  EXPECT_EQ(record.document(), "1");
}

}  // namespace
}  // namespace wicprof::cli
