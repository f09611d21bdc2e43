#include "store/write/wait_tally.h"

#include <gtest/gtest.h>

#include <map>

#include "protocol/events/header.h"

namespace wicprof::store {
namespace {

constexpr TimeNs kLongAfter = kSecond * 3600;

WaitEvent device_wait(std::uint64_t length, StrategyId strategy = StrategyId::poll) {
  auto wait = make_event<WaitEvent>();
  wait.arrived_ns = 1000;
  wait.resumed_ns = 1000 + length;
  wait.strategy = static_cast<std::uint8_t>(strategy);
  return wait;
}

HostWaitEvent host_wait(TimeNs length, TimeNs cpu) {
  auto wait = make_event<HostWaitEvent>();
  wait.begin_ns = 1000;
  wait.end_ns = 1000 + length;
  wait.cpu_ns = cpu;
  return wait;
}

std::map<std::string, std::uint64_t> waits_by_site(WaitTally& tally, TimeNs now) {
  std::map<std::string, std::uint64_t> waits;
  for (const WaitSumOfSite& each : tally.waits(now)) waits[each.site] += each.sum.waits;
  return waits;
}

using Counts = std::map<std::string, std::uint64_t>;

TEST(WaitTally, SumsBySideAndStrategy) {
  WaitTally tally;
  tally.name_site(1, "a");
  tally.add(1, device_wait(5));
  tally.add(1, device_wait(7));
  tally.add(1, device_wait(100, StrategyId::shared_watch));
  tally.add(1, host_wait(30, 20));
  tally.add(1, host_wait(30, -1));
  const std::vector<WaitSumOfSite> sums = tally.waits(now_ns());
  ASSERT_EQ(sums.size(), 3u);
  EXPECT_EQ(sums[0].strategy, StrategyId::poll);
  EXPECT_EQ(sums[0].sum.waiting_ns, 12u);
  EXPECT_EQ(sums[0].sum.cpu_ns, std::nullopt);
  EXPECT_EQ(sums[1].sum.waiting_ns, 100u);
  EXPECT_EQ(sums[2].side, WaitSide::host);
  EXPECT_EQ(sums[2].sum.waits, 2u);
  EXPECT_EQ(sums[2].sum.cpu_ns, 20u);
}

MpiCommunicatorEvent member(CommunicatorId communicator, std::int32_t rank, std::int32_t size) {
  auto event = make_event<MpiCommunicatorEvent>();
  event.communicator = communicator;
  event.rank = event.world_rank = rank;
  event.size = size;
  return event;
}
MpiCallEvent allreduce(CommunicatorId communicator, std::uint32_t sequence, TimeNs begin_us, TimeNs end_us) {
  auto event = make_event<MpiCallEvent>();
  event.operation = MpiOperation::allreduce;
  event.communicator = communicator;
  event.sequence = sequence;
  event.begin_ns = begin_us * kMicrosecond;
  event.end_ns = end_us * kMicrosecond;
  return event;
}

TEST(RankTally, ChargesTheLastOfACollectiveThatIsComplete) {
  RankTally tally;
  for (std::int32_t rank = 0; rank < 3; ++rank) tally.add(100 + static_cast<std::uint32_t>(rank), member(7, rank, 3));
  tally.add(101, allreduce(7, 1, 50, 60));
  tally.add(100, allreduce(7, 1, 10, 60));
  EXPECT_TRUE(tally.ranks().empty()) << "one is missing";
  tally.add(102, allreduce(7, 1, 20, 60));
  tally.add(999, allreduce(7, 2, 20, 60));  // is in no communicator
  auto broadcast = allreduce(7, 2, 0, 5);
  broadcast.operation = MpiOperation::bcast;
  for (std::uint32_t process = 100; process < 103; ++process) tally.add(process, broadcast);
  const std::vector<RankSum> sums = tally.ranks();
  ASSERT_EQ(sums.size(), 3u);
  EXPECT_EQ(sums[0].rank, "0");
  EXPECT_EQ(sums[0].waited_ns, 40'000u);
  EXPECT_EQ(sums[1].late_ns, 70'000u);
  EXPECT_EQ(sums[1].late_arrivals, 1u);
  EXPECT_EQ(sums[2].waited_ns, 30'000u);
  EXPECT_EQ(sums[2].late_arrivals, 0u);
}

TEST(RankTally, BoundsItsLabels) {
  RankTally tally;
  constexpr std::int32_t kRanks = 2 * static_cast<std::int32_t>(RankTally::kMaxRanks);
  for (std::int32_t rank = 0; rank < kRanks; rank += 2) {
    const auto pair = static_cast<CommunicatorId>(rank + 1);
    tally.add(static_cast<std::uint32_t>(rank), member(pair, rank, 2));
    tally.add(static_cast<std::uint32_t>(rank + 1), member(pair, rank + 1, 2));
    tally.add(static_cast<std::uint32_t>(rank), allreduce(pair, 1, 0, 20));
    tally.add(static_cast<std::uint32_t>(rank + 1), allreduce(pair, 1, 10, 20));
  }
  const std::vector<RankSum> sums = tally.ranks();
  ASSERT_EQ(sums.size(), RankTally::kMaxRanks + 1);
  EXPECT_EQ(sums.back().rank, RankTally::kOther);
  EXPECT_EQ(sums.back().late_ns, 128u * 10'000u);
}

TEST(WaitTally, WakeLatenciesWhicheverComesFirst) {
  WaitTally tally;
  tally.name_site(1, "a");
  auto wait = make_event<WaitEvent>();
  wait.iteration = 7;
  wait.word_tag = 3;
  wait.value = 7;
  wait.waited = 1;
  auto signal = make_event<SignalEvent>();
  signal.iteration = 7;
  signal.word_tag = 3;
  signal.value = 6;
  tally.signals(1, signal, 1100);    // another writer, whose signal ended no wait
  tally.wakes(1, wait, 1000, 1500);  // its signal comes later
  signal.value = 7;
  tally.signals(1, signal, 1400);
  tally.wakes(1, wait, 1450, 1500);  // it came behind the signal
  tally.wakes(1, wait, 1000, 1300);  // clocks differ
  wait.waited = 0;
  tally.wakes(1, wait, 1000, 1500);  // the word was ready
  wait.waited = 1;
  wait.word_tag = 4;
  tally.wakes(1, wait, 1000, 1500);  // nobody signals that word
  wait.iteration = signal.iteration = 0;
  wait.word_tag = 3;
  tally.signals(1, signal, 1400);  // its value comes again and again
  tally.wakes(1, wait, 1000, 9000);
  const std::vector<WaitSumOfSite> sums = tally.waits(now_ns());
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].sum.wakes, 2u);
  EXPECT_EQ(sums[0].sum.wake_ns, 100u + 50u);
  EXPECT_EQ(sums[0].sum.waits, 0u);
}

TEST(WaitTally, APlaceMayHaveWaitsBeforeItsName) {
  WaitTally tally;
  tally.add(1, host_wait(5, 1));
  EXPECT_EQ(waits_by_site(tally, now_ns()), Counts{});
  tally.name_site(1, "a");
  EXPECT_EQ(waits_by_site(tally, now_ns()), (Counts{{"a", 1}}));
  tally.add(1, host_wait(5, 1));
  EXPECT_EQ(waits_by_site(tally, now_ns()), (Counts{{"a", 2}}));
}

TEST(WaitTally, ASiteWhoseNameIsLostIsUnnamedForWhatItHadUntilThen) {
  WaitTally tally;
  tally.add(0, host_wait(5, 1));
  tally.add(1, host_wait(5, 1));
  EXPECT_EQ(waits_by_site(tally, now_ns()), (Counts{{"unnamed", 1}}));
  EXPECT_EQ(waits_by_site(tally, now_ns() + kLongAfter), (Counts{{"unnamed", 2}}));
  tally.add(1, host_wait(5, 1));
  tally.name_site(1, "late");
  tally.add(1, host_wait(5, 1));
  EXPECT_EQ(waits_by_site(tally, now_ns()), (Counts{{"unnamed", 3}, {"late", 1}}));
}

TEST(WaitTally, OnlySitesWithWaitsTakeOneOfTheNames) {
  WaitTally tally;
  for (SiteId site = 1; site <= 1000; ++site) tally.name_site(site, "silent " + std::to_string(site));
  for (SiteId site = 1001; site <= 1100; ++site) {
    tally.name_site(site, std::to_string(site));
    tally.add(site, device_wait(5));
  }
  const Counts waits = waits_by_site(tally, now_ns());
  EXPECT_EQ(waits.size(), WaitTally::kMaxSites + 1);
  EXPECT_EQ(waits.at("other"), 100 - WaitTally::kMaxSites);
  tally.name_site(1101, "1001");  // another process's number for a known name
  tally.add(1101, device_wait(5));
  EXPECT_EQ(waits_by_site(tally, now_ns()).at("1001"), 2u);
}

TEST(WaitTally, ANumberThatGetsAnotherNameKeepsWhatItCounted) {
  WaitTally tally;
  tally.name_site(1, "first");
  tally.add(1, device_wait(5));
  tally.name_site(1, "second");
  tally.add(1, device_wait(5));
  EXPECT_EQ(waits_by_site(tally, now_ns()), (Counts{{"first", 1}, {"second", 1}}));
}

TEST(WaitTally, DamagedRecordsAddNothingThatNoRecordingHas) {
  WaitTally tally;
  tally.name_site(1, "a");
  tally.add(1, device_wait(std::uint64_t{1} << 60));
  WaitEvent backwards = device_wait(5);
  backwards.resumed_ns = 1;
  tally.add(1, backwards);
  WaitEvent unknown = device_wait(5);
  unknown.arrived_ns = 0;
  tally.add(1, unknown);
  tally.add(1, host_wait(-5, 1));
  EXPECT_EQ(waits_by_site(tally, now_ns()), Counts{});
  for (SiteId site = 1; site < 100'000; ++site) tally.add(site * 7919, device_wait(5));
  for (int strategy = 0; strategy < 256; ++strategy) tally.add(1, device_wait(5, static_cast<StrategyId>(strategy)));
  EXPECT_LT(tally.waits(now_ns() + kLongAfter).size(), 50u);
}

TEST(WaitTally, AChangeCountsOnceHoweverManyPartsReportIt) {
  WaitTally tally;
  auto change = make_event<InterventionEvent>();
  change.new_mode = 1;
  for (const std::uint32_t sequence : {1u, 1u, 2u, 1u}) {
    change.sequence = sequence;
    tally.add(change);
  }
  change.new_mode = 7;
  change.sequence = 3;
  tally.add(change);
  EXPECT_EQ(tally.changes(), (std::array<std::uint64_t, 2>{0, 2}));
}

}  // namespace
}  // namespace wicprof::store
