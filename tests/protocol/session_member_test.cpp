// A part of a process in a session: it follows what is wanted, reports it, and goes its own way without a recorder.
#include "protocol/session_member.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/thread.h"

namespace wicprof {
namespace {

constexpr WantedWait kPoll{};
constexpr WantedWait kPark{Mode::park, StrategyId::automatic};
constexpr WantedWait kBackoff{Mode::park, StrategyId::backoff};

TEST(RecorderWatchTest, NobodyIsGoneWhoWasNeverThere) {
  const auto control = std::make_unique<ControlBlock>();
  RecorderWatch watch;
  for (TimeNs now = 0; now < 60 * kSecond; now += RecorderWatch::kInterval) ASSERT_FALSE(watch.gone(*control, now));
}

TEST(RecorderWatchTest, GoneWithinASecondAndBackWithTheNextBeat) {
  const auto control = std::make_unique<ControlBlock>();
  RecorderWatch watch;
  TimeNs now = kSecond;
  for (int i = 0; i < 100; ++i, now += RecorderWatch::kInterval) {
    if (i % 3 == 0) ++control->heartbeat;  // a slow one
    ASSERT_FALSE(watch.gone(*control, now));
  }
  ++control->heartbeat;
  const TimeNs last_beat = now;
  while (!watch.gone(*control, now)) now += RecorderWatch::kInterval;
  EXPECT_LT(now + RecorderWatch::kInterval - last_beat, kSecond);
  EXPECT_TRUE(watch.gone(*control, now + kSecond));
  ++control->heartbeat;
  EXPECT_FALSE(watch.gone(*control, now + 2 * kSecond));
}

TEST(RecorderWatchTest, LooksInQuickSuccessionCountOnce) {
  const auto control = std::make_unique<ControlBlock>();
  control->heartbeat = 1;
  RecorderWatch watch;
  EXPECT_FALSE(watch.gone(*control, 0));
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(watch.gone(*control, 60 * kSecond + i));  // both were stopped
}

/// Three sites, of which the session knows two.
class Part final : public Applier {
 public:
  WaitSide side() const override { return of_side; }
  std::size_t most_sites() const override { return 3; }
  std::size_t sites_now() const override { return 3; }
  Site site(std::size_t index) const override { return {100 + static_cast<SiteId>(index), static_cast<SiteId>(index)}; }
  WantedWait own() const override { return programs; }
  WantedWait now(SiteId site, WantedWait known) const override {
    return !knows_ways ? known : site == 0 ? program : ways[site - 100];
  }
  void recorder_gone(bool gone) override { without_recorder = gone; }
  Result<> apply(SiteId site, WantedWait way) override {
    if (!failure.empty()) return unavailable(failure);
    if (site == 0) ways = {program = way, way, way};
    if (site != 0) ways[site - 100] = way;
    return ok();
  }
  void write(const InterventionEvent& event) override { events.push_back(event); }
  void write_notice(NoticeSeverity, const std::string& text) override { notices.push_back(text); }
  TimeNs between_looks() override {
    ++looks;
    return SessionMember::kInterval;
  }

  WaitSide of_side = WaitSide::device;
  bool knows_ways = false;
  WantedWait programs = kPoll, program = kPoll;
  std::string failure;
  std::vector<WantedWait> ways{3};
  std::vector<InterventionEvent> events;
  std::vector<std::string> notices;
  std::atomic<bool> without_recorder{false};
  std::atomic<int> looks{0};
};

class SessionMemberTest : public testing::Test {
 protected:
  /// (site, new strategy) of the interventions since the last call.
  std::vector<std::pair<SiteId, StrategyId>> changes() {
    std::vector<std::pair<SiteId, StrategyId>> all;
    for (const InterventionEvent& e : part.events) all.push_back({e.site, static_cast<StrategyId>(e.new_strategy)});
    part.events.clear();
    return all;
  }
  using Changes = std::vector<std::pair<SiteId, StrategyId>>;
  /// Looks as often as a thread does without a recorder until it notices that.
  void lose_recorder() {
    for (int i = 0; i < 100 && !part.without_recorder; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      member.look();
    }
    ASSERT_TRUE(part.without_recorder);
  }

  std::unique_ptr<ControlBlock> control = std::make_unique<ControlBlock>();
  Part part;
  SessionMember member{*control, control.get(), part};
};

TEST_F(SessionMemberTest, EachChangeIsAppliedWrittenAndReportedOnce) {
  EXPECT_EQ(member.join(), "");
  const std::uint32_t sequence = request_wait(*control, 0, kPark);
  EXPECT_FALSE(wait_applied(*control, sequence, 0));
  member.look();
  EXPECT_TRUE(wait_applied(*control, sequence, 0));
  EXPECT_EQ(part.ways[2].pack(), kPark.pack());
  ASSERT_EQ(part.events.size(), 1u);
  EXPECT_EQ(part.events[0].sequence, sequence);
  EXPECT_EQ(part.events[0].side, WaitSide::device);
  EXPECT_EQ(part.events[0].old_mode, 0);
  EXPECT_EQ(part.events[0].requested_ns, control->requested_ns);
  EXPECT_GE(part.events[0].effective_ns, part.events[0].requested_ns);
  request_wait(*control, 0, kPark);
  member.look();
  member.look();
  EXPECT_EQ(changes(), (Changes{{0, StrategyId::automatic}}));
}

// Other parts have joined, so that there is something to toggle.
TEST_F(SessionMemberTest, AToggleThatComesBeforeThePartHasJoinedIsApplied) {
  part.knows_ways = true;  // in which the program waits as the session wanted until now
  const std::uint32_t sequence = request_wait(*control, 0, kPark);
  member.join();
  EXPECT_FALSE(wait_applied(*control, sequence, 0));
  member.look();
  EXPECT_EQ(changes(), (Changes{{0, StrategyId::automatic}}));
  EXPECT_TRUE(wait_applied(*control, sequence, 0));
}

TEST_F(SessionMemberTest, ASiteHasItsOwnWayUntilTheWholeProgramIsChanged) {
  member.join();
  request_wait(*control, 2, kBackoff);
  member.look();
  EXPECT_EQ(changes(), (Changes{{102, StrategyId::backoff}}));
  EXPECT_EQ(part.ways[1].pack(), kPoll.pack());
  request_wait(*control, 0, kPoll);  // the program's way stays, and the site comes back to it
  member.look();
  EXPECT_EQ(changes(), (Changes{{0, StrategyId::poll}}));
  EXPECT_EQ(part.ways[2].pack(), kPoll.pack());
}

// Another process has the site, too, and a toggle came there before.
TEST_F(SessionMemberTest, ASiteThatWasDeclaredWithItsOwnWayComesBackWithTheWholeProgram) {
  part.knows_ways = true;
  request_wait(*control, 2, kBackoff);
  member.join();
  part.ways[2] = kBackoff;  // as the site's declaration finds it
  request_wait(*control, 0, kPoll);
  member.look();
  EXPECT_EQ(part.ways[2].pack(), kPoll.pack());
}

TEST_F(SessionMemberTest, HostThreadsFollowWhatIsWantedOfThem) {
  part.of_side = WaitSide::host;
  member.join();
  request_wait(*control, 0, kPark, WaitSide::device);
  member.look();
  EXPECT_EQ(changes(), Changes{});
  request_wait(*control, 0, kPark, WaitSide::host);
  member.look();
  EXPECT_EQ(changes(), (Changes{{0, StrategyId::hybrid}}));
}

TEST_F(SessionMemberTest, AFailedChangeIsANotice) {
  member.join();
  part.failure = "the device is gone";
  request_wait(*control, 0, kPark);
  member.look();
  EXPECT_EQ(changes(), Changes{});
  EXPECT_EQ(part.notices, std::vector<std::string>{"a toggle failed: the device is gone"});
}

TEST_F(SessionMemberTest, WithoutARecorderTheProgramWaitsInItsOwnWay) {
  part.programs = kBackoff;
  control->heartbeat = 1;
  control->wanted = kPark.pack();
  member.join();
  request_wait(*control, 1, kPoll);
  member.look();
  EXPECT_EQ(changes(), (Changes{{101, StrategyId::poll}}));
  lose_recorder();
  EXPECT_EQ(changes(), (Changes{{0, StrategyId::backoff}}));
  EXPECT_EQ(part.ways[1].pack(), kBackoff.pack());
  request_wait(*control, 0, kPark);  // by nobody: a session that is damaged
  member.look();
  EXPECT_EQ(changes(), Changes{});
  ++control->heartbeat;  // it was only stopped
  member.look();
  EXPECT_FALSE(part.without_recorder);
  EXPECT_EQ(changes(), (Changes{{0, StrategyId::automatic}}));
}

TEST_F(SessionMemberTest, WithoutAPlaceItFollowsSaysSoAndTriesAgain) {
  for (MemberControl& each : control->members) each.state = std::uint64_t{1} << 40 | 1;
  EXPECT_NE(member.join(), "");
  ASSERT_EQ(part.notices.size(), 1u);
  EXPECT_NE(part.notices[0].find("no place"), std::string::npos);
  EXPECT_EQ(control->parts_refused, 1u);
  const std::uint32_t sequence = request_wait(*control, 0, kPark);
  member.look();
  EXPECT_EQ(changes(), (Changes{{0, StrategyId::automatic}}));
  EXPECT_EQ(member.place(), nullptr);
  control->members[7].state = 0;
  member.look();
  EXPECT_NE(member.place(), nullptr);
  EXPECT_EQ(control->parts_refused, 0u);
  EXPECT_TRUE(wait_applied_by(*control, *member.place(), sequence, 0));
}

TEST_F(SessionMemberTest, ItsThreadFollowsAndLeaves) {
  member.join();
  bool prepared = false;
  ASSERT_TRUE(member.begin([](auto run) { return start_thread(std::move(run)); }, [&] { prepared = true; }));
  for (int i = 0; i < 100; ++i) {
    const std::uint32_t sequence = request_wait(*control, 0, i % 2 == 0 ? kPark : kPoll);
    ASSERT_TRUE(wait_applied(*control, sequence, 60 * kSecond)) << i;
  }
  member.leave();
  EXPECT_TRUE(prepared);
  EXPECT_EQ(part.events.size(), 100u);
  EXPECT_EQ(attached_processes(*control), 0u);
}

TEST_F(SessionMemberTest, ItsThreadNoticesThatTheRecorderIsGone) {
  control->heartbeat = 1;
  control->wanted = kPark.pack();
  member.join();
  ASSERT_TRUE(member.begin([](auto run) { return start_thread(std::move(run)); }, [] {}));
  const TimeNs end = now_ns() + 60 * kSecond;
  while (!part.without_recorder && now_ns() < end) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_LE(part.looks, 10);
  member.leave();
  EXPECT_EQ(changes(), (Changes{{0, StrategyId::poll}}));
}

TEST_F(SessionMemberTest, WithoutAThreadItCountsAsRefused) {
  member.join();
  EXPECT_FALSE(member.begin([](auto) { return std::thread(); }, [] {}));
  EXPECT_EQ(attached_processes(*control), 0u);
  EXPECT_EQ(control->parts_refused, 1u);
  member.leave();
  EXPECT_EQ(control->parts_refused, 0u);
}

}  // namespace
}  // namespace wicprof
