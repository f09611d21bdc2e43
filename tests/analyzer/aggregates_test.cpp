#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/aggregates/distribution.h"
#include "analyzer/aggregates/party_matrix.h"
#include "analyzer/aggregates/party_words.h"
#include "analyzer/analysis.h"
#include "program.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

struct Worked {
  explicit Worked(const TraceModel& trace) : model(trace), matching(match(trace)), work(trace), index(trace, work) {}
  PartyMatrix matrix(PartyBy by, const WaitFilter& filter = {}) const {
    return PartyMatrices(model, matching.edges, index).matrix(by, filter);
  }
  const TraceModel& model;
  Matching matching;
  DeviceWork work;
  WorkIndex index;
};

/// 8 waiters on 4 SMs; the CPU releases all of them 800 us after the begin of each of 10 iterations, and they resume
/// 1.5 us later.
TraceModel handoffs(std::uint32_t waiters = 8, StrategyId strategy = StrategyId::poll) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = waiters, .sms = 4, .iterations = 10, .strategy = strategy});
  settle(model);
  return model;
}

TimeNs total(const TraceModel& model) {
  TimeNs sum = 0;
  for (const store::WaitRow& wait : model.waits) sum += wait.resumed - wait.arrived;
  for (const store::HostWaitRow& wait : model.host_waits) sum += wait.end - wait.begin;
  return sum;
}

TEST(Parties, EveryWaitIsInOneCell) {
  const TraceModel model = handoffs();
  const Worked worked(model);
  for (const PartyBy by : kPartyBy) {
    const PartyMatrix matrix = worked.matrix(by);
    WaitFigures sum;
    for (const PartyCell& cell : matrix.cells) {
      sum.waits += cell.figures.waits;
      sum.waiting_ns += cell.figures.waiting_ns;
    }
    EXPECT_EQ(sum.waits, 80u) << party_by_key(by);
    EXPECT_EQ(sum.waiting_ns, total(model)) << party_by_key(by);
    EXPECT_EQ(matrix.all.waiting_ns, sum.waiting_ns);
    EXPECT_EQ(matrix.all.woken, 80u);
    EXPECT_EQ(matrix.all.wake_p50_ns, 1'500);
  }
}

TEST(Parties, APartyIsWhatTheQuestionSays) {
  const TraceModel model = handoffs();
  const Worked worked(model);
  EXPECT_EQ(worked.matrix(PartyBy::sm).waiters.size(), 4u);
  EXPECT_EQ(worked.matrix(PartyBy::thread).waiters.size(), 8u);
  EXPECT_EQ(worked.matrix(PartyBy::site).waiters.front().name, model.site_name(1));
  const PartyMatrix devices = worked.matrix(PartyBy::device);
  ASSERT_EQ(devices.releasers.size(), 1u);
  EXPECT_EQ(devices.releasers.front().name, "host");
  EXPECT_EQ(devices.waiters.front().name, model.device_name(0));
}

TEST(Parties, TheLastRowStandsForAllOthers) {
  const TraceModel model = handoffs(100);
  const PartyMatrix matrix = Worked(model).matrix(PartyBy::thread);
  ASSERT_EQ(matrix.waiters.size(), PartyMatrix::kMaxParties);
  EXPECT_EQ(matrix.other_waiters, 100 - (PartyMatrix::kMaxParties - 1));
  EXPECT_EQ(matrix.waiters.back().figures.waits, 10 * matrix.other_waiters);
  EXPECT_EQ(matrix.all.waits, 1000u);
  for (std::size_t i = 2; i < matrix.waiters.size(); ++i)
    EXPECT_GE(matrix.waiters[i - 2].figures.waiting_ns, matrix.waiters[i - 1].figures.waiting_ns) << "longest first";
}

TEST(Parties, TheWorstWaitOfACellIsItsLongest) {
  TraceModel model = handoffs();
  model.waits.edit(5)->arrived -= 100'000'000;
  settle(model);
  const PartyMatrix matrix = Worked(model).matrix(PartyBy::device);
  ASSERT_TRUE(matrix.cells.front().figures.worst);
  const auto longest = std::max_element(model.waits.begin(), model.waits.end(), [](const auto& a, const auto& b) {
    return a.resumed - a.arrived < b.resumed - b.arrived;
  });
  EXPECT_EQ(matrix.cells.front().figures.worst->row, longest->id);
  EXPECT_EQ(matrix.cells.front().figures.max_ns, longest->resumed - longest->arrived);
}

TEST(Parties, AWaitWithoutASignalHasNoReleaser) {
  TraceModel model = handoffs();
  model.signals.clear();
  settle(model);
  const PartyMatrix matrix = Worked(model).matrix(PartyBy::kernel);
  ASSERT_EQ(matrix.releasers.size(), 1u);
  EXPECT_EQ(matrix.releasers.front().name, kUnknownParty);
  EXPECT_EQ(matrix.all.woken, 0u);
  EXPECT_FALSE(matrix.all.wake_p50_ns);
  EXPECT_NE(party_sentence(matrix).find("does not show for whom"), std::string::npos);
}

TEST(Parties, ACallWaitsForTheWorkThatEndsLast) {
  test_program::Program program;
  program.launch("void stencil(float*)", 7, {100'000, 900'000}, 50'000);
  program.launch("reduce", 7, {900'000, 1'000'000}, 60'000);
  program.host_wait("cudaDeviceSynchronize", {200'000, 1'004'000}, std::nullopt);
  const PartyMatrix matrix = Worked(program.settled()).matrix(PartyBy::kernel);
  ASSERT_EQ(matrix.cells.size(), 1u);
  EXPECT_EQ(matrix.waiters.front().name, "thread 7");
  EXPECT_EQ(matrix.releasers.front().name, "reduce");
  EXPECT_EQ(matrix.cells.front().figures.wake_p50_ns, 4'000);
  EXPECT_EQ(party_sentence(matrix), "thread 7 waited longest for reduce: 804 us in 1 wait.");
}

TEST(Parties, FiltersBySiteWayAndWindow) {
  TraceModel model = empty_program();
  declare_site(model, 2, "other", WordMemory::device);
  add_handoff(model, {.iterations = 10});
  add_handoff(model, {.site = 2, .iterations = 10, .strategy = StrategyId::shared_watch});
  settle(model);
  const Worked worked(model);
  WaitFilter site;
  site.site = 2;
  EXPECT_EQ(worked.matrix(PartyBy::site, site).waiters.front().name, "other");
  EXPECT_EQ(worked.matrix(PartyBy::site, site).all.waits, 80u);
  WaitFilter polled;
  polled.way = WaitWay::polling;
  EXPECT_EQ(worked.matrix(PartyBy::site, polled).waiters.front().name, model.site_name(1));
  // Half of the first iteration: 8 waits at each site, which count only from the window's begin to its end.
  WaitFilter window;
  window.window = Interval{model.begin + 100'000, model.begin + 500'000};
  const PartyMatrix part = worked.matrix(PartyBy::site, window);
  EXPECT_EQ(part.all.waits, 16u);
  EXPECT_EQ(part.all.waiting_ns, 16 * 400'000);
  WaitFilter nothing;
  nothing.window = Interval{model.end + 1, model.end + 2};
  EXPECT_TRUE(worked.matrix(PartyBy::site, nothing).waiters.empty());
}

TEST(Parties, TheAnalysisLeavesOutWhatNobodyShows) {
  const TraceModel model = handoffs();
  const Analysis analysis = analyze(model, Parties::left_out);
  EXPECT_TRUE(analysis.parties.empty());
  EXPECT_EQ(analysis.sites.size(), analyze(model).sites.size());
}

TEST(Parties, TheAnalysisHasOneMatrixForEachMeaning) {
  const TraceModel model = handoffs();
  const Analysis analysis = analyze(model);
  ASSERT_EQ(analysis.parties.size(), std::size(kPartyBy));
  const Worked worked(model);
  for (const PartyMatrix& matrix : analysis.parties) {
    const PartyMatrix same = worked.matrix(matrix.by);
    EXPECT_EQ(matrix.cells.size(), same.cells.size());
    EXPECT_EQ(matrix.all.waiting_ns, same.all.waiting_ns);
  }
}

TEST(Lengths, FiguresBelongToTheirWay) {
  TraceModel model = empty_program();
  add_handoff(model, {.iterations = 10, .polls = 70});
  add_handoff(model, {.iterations = 5, .start = 2'000'000'000, .polls = 1, .strategy = StrategyId::shared_watch});
  settle(model);
  const WaitDistribution lengths = wait_distribution(model, {});
  ASSERT_EQ(lengths.ways.size(), 2u);
  EXPECT_EQ(lengths.ways[0].way, WaitWay::polling);
  EXPECT_EQ(lengths.ways[0].figures.waits, 80u);
  EXPECT_EQ(lengths.ways[0].figures.polls_per_wait(), 70.0);
  EXPECT_EQ(lengths.ways[1].figures.waits, 40u);
  EXPECT_EQ(lengths.ways[1].figures.polls_per_wait(), 1.0);
  std::uint64_t polling = 0, parked = 0;
  for (const WaitHistogram::Bin& bin : lengths.histogram.bins) {
    polling += bin.polling;
    parked += bin.parked;
  }
  EXPECT_EQ(polling, 80u);
  EXPECT_EQ(parked, 40u);
  EXPECT_LE(lengths.histogram.most_of(WaitWay::parked), lengths.histogram.most);
}

TEST(Nothing, NamesTheReasonAndTheNextCommand) {
  test_program::Program program;
  EXPECT_EQ(why_no_waits(program.settled()).command, "wic-prof doctor");
  program.kernel("busy", 7, {10, 20});
  EXPECT_NE(why_no_waits(program.settled()).command.find("pcsampling"), std::string::npos);
}

}  // namespace
}  // namespace wicprof::analyzer
