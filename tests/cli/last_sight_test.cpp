// What a trace keeps of a program that hung, and when wic-prof looks.
#include "cli/record/last_sight.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>

#include "analyzer/stuck/view_text.h"

namespace wicprof::cli {
namespace {

using enum LastSight::End;

class LastSightTest : public testing::Test {
 protected:
  void begin_call(std::size_t entry, TimeNs at) {
    OpenCall call;
    call.begin = at;
    work->calls[entry].claim(own_);
    work->calls[entry].write(call);
  }
  void end_call(std::size_t entry) { work->calls[entry].write({}); }
  void mpi_call(TimeNs begin, TimeNs end) {
    OpenMpiCall call;
    call.begin = begin;
    call.end = end;
    work->mpi_calls[0].claim(own_);
    work->mpi_calls[0].write(call);
  }

  /// What the trace keeps now.
  std::string kept() {
    if (std::optional<std::string> text = sight.news()) kept_ = *std::move(text);
    return kept_;
  }
  bool is_hung() {
    const std::string text = kept();
    const Result<analyzer::StuckView> view = text.empty() ? analyzer::StuckView() : analyzer::view_of(text);
    return view && view->hung;
  }

  const std::uint32_t own_ = static_cast<std::uint32_t>(getpid());
  const std::unique_ptr<OpenWork> work = std::make_unique<OpenWork>();
  LastSight sight{*work, own_, false, 30 * kSecond};

 private:
  std::string kept_;
};

TEST_F(LastSightTest, KeepsWhatStillWaits) {
  begin_call(0, kSecond);
  sight.follow(30 * kSecond);
  EXPECT_EQ(kept(), "");
  sight.follow(32 * kSecond);
  EXPECT_TRUE(is_hung());
  for (TimeNs now = 33; now < 100; ++now) sight.follow(now * kSecond);
  EXPECT_FALSE(sight.news());  // nothing else waits
  sight.end(told);
  EXPECT_TRUE(is_hung());
}

TEST_F(LastSightTest, KeepsMoreOnceMoreWaits) {
  begin_call(0, kSecond);
  sight.follow(40 * kSecond);
  const std::string one = kept();
  begin_call(1, 40 * kSecond);
  sight.follow(50 * kSecond);
  EXPECT_EQ(kept(), one);
  sight.follow(71 * kSecond);
  const std::string two = kept();
  EXPECT_GT(two.size(), one.size());
  end_call(1);
  sight.follow(73 * kSecond);
  EXPECT_TRUE(is_hung());  // the first still waits
}

TEST_F(LastSightTest, AsksForTheWordsOfPatchedLoopsOncePerHang) {
  begin_call(0, kSecond);
  for (TimeNs now = 2; now < 40; ++now) sight.follow(now * kSecond);
  EXPECT_EQ(work->asked.load(), 1u);
}

TEST_F(LastSightTest, ForgetsAWaitThatEnds) {
  begin_call(0, kSecond);
  sight.follow(40 * kSecond);
  EXPECT_TRUE(is_hung());
  end_call(0);
  sight.follow(42 * kSecond);
  EXPECT_EQ(kept(), "");
  // Such waits are usual here.
  begin_call(0, 50 * kSecond);
  sight.follow(90 * kSecond);
  EXPECT_EQ(kept(), "");
  sight.follow(111 * kSecond);
  EXPECT_TRUE(is_hung());
}

TEST_F(LastSightTest, LooksAtOnceWhereATraceEnds) {
  begin_call(0, kSecond);
  sight.follow(30 * kSecond);
  EXPECT_NE(sight.look(31 * kSecond), "");  // before the next second
}

TEST_F(LastSightTest, AProgramThatEndsByItselfAndWellDidNotHang) {
  begin_call(0, kSecond);
  sight.follow(40 * kSecond);
  EXPECT_TRUE(is_hung());
  sight.end(well);
  sight.end(told);  // too late
  EXPECT_EQ(kept(), "");
}

TEST_F(LastSightTest, AProgramThatFailsHung) {
  begin_call(0, kSecond);
  sight.follow(40 * kSecond);
  sight.end(failed);
  EXPECT_TRUE(is_hung());
}

TEST_F(LastSightTest, ARankThatStandsStillForShortDidNotHang) {
  mpi_call(kSecond, 0);
  for (TimeNs now = 2; now < 5; ++now) sight.follow(now * kSecond);
  EXPECT_EQ(kept(), "");
  sight.follow(6 * kSecond);
  EXPECT_NE(kept(), "");
  EXPECT_FALSE(is_hung());
  sight.follow(40 * kSecond);
  EXPECT_TRUE(is_hung());
}

TEST_F(LastSightTest, ACallOfMpiThatHasEndedWaitsNoMore) {
  mpi_call(kSecond, 2 * kSecond);
  sight.follow(40 * kSecond);
  sight.follow(42 * kSecond);
  EXPECT_FALSE(is_hung());
  mpi_call(kSecond, 0);
  sight.follow(44 * kSecond);
  EXPECT_TRUE(is_hung());
}

}  // namespace
}  // namespace wicprof::cli
