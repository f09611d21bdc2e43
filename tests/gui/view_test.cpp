// Searches, areas, sites, segments, annotations, and what the window frees.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <thread>

#include "analyzer/words/writers.h"
#include "gui/app/reclaimer.h"
#include "gui/view/annotations.h"
#include "gui/view/area.h"
#include "gui/view/search.h"
#include "gui/view/segments.h"
#include "gui/view/site_table.h"
#include "tests/gui/handoffs.h"
#include "tests/store/support.h"

namespace wicprof::gui {
namespace {

using analyzer::TraceModel;
namespace synthetic = analyzer::synthetic;

TEST(Searches, IgnoresCase) {
  TraceModel model = handoffs();
  const std::string name = model.sites.front().name;
  EXPECT_EQ(search(model, name).total, model.waits.size() + model.signals.size());
  std::string upper = name;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(search(model, upper).total, search(model, name).total);
  EXPECT_EQ(search(model, "no such name").total, 0u);
  EXPECT_EQ(search(model, "").total, 0u);
  const auto hits = search(model, name).hits;
  for (std::size_t i = 1; i < hits.size(); ++i) EXPECT_LE(hits[i - 1].begin, hits[i].begin);
}

TEST(Searches, ExactNamesComeFirst) {
  TraceModel model;
  for (const auto& [name, at] : {std::pair("reduce_norm", 0), {"reduce", 100}, {"pre_reduce", 200}, {"REDUCE", 300}}) {
    store::KernelRow kernel;
    kernel.name = std::string(name);
    kernel.id = static_cast<store::RowId>(model.kernels.size() + 1);
    kernel.start = at;
    kernel.end = at + 10;
    model.kernels.push_back(kernel);
  }
  const SearchHits found = search(model, "reduce");
  ASSERT_EQ(found.hits.size(), 4u);
  EXPECT_EQ(found.exact, 2u);
  std::vector<TimeNs> order;
  for (const SearchHit& one : found.hits) order.push_back(one.begin);
  EXPECT_EQ(order, (std::vector<TimeNs>{100, 300, 0, 200}));
}

TEST(Searches, AreNarrowedByKindAndLength) {
  const TraceModel model = handoffs();
  const std::string name = model.sites.front().name;
  EXPECT_EQ(search(model, name + " kind:wait").total, model.waits.size());
  EXPECT_EQ(search(model, "kind:signal").total, model.signals.size());
  EXPECT_EQ(search(model, name + " <1ns").total, model.signals.size()) << "signals have no length";
  std::vector<TimeNs> lengths;
  for (const store::WaitRow& wait : model.waits) lengths.push_back(wait.resumed - wait.arrived);
  std::sort(lengths.begin(), lengths.end());
  const TimeNs middle = lengths[lengths.size() / 2];
  const auto longer = std::count_if(lengths.begin(), lengths.end(), [&](TimeNs length) { return length > middle; });
  EXPECT_EQ(search(model, "kind:wait >" + std::to_string(middle) + "ns").total, static_cast<std::uint64_t>(longer));
  EXPECT_EQ(read_query("a >1.5ms <2s b")->longer_than, 1'500'000);
  EXPECT_EQ(read_query("a >1.5ms <2s b")->name, "a b");
  EXPECT_EQ(read_query("std::pair<int> >x")->name, "std::pair<int> >x") << "part of a kernel's name";
  for (const char* wrong : {"kind:", "kind:what", ">5", "<3parsecs"}) {
    const Result<SearchQuery> query = read_query(wrong);
    ASSERT_FALSE(query) << wrong;
    EXPECT_NE(query.error().message.find(wrong), std::string::npos);
    EXPECT_EQ(search(model, wrong).total, 0u);
  }
  EXPECT_EQ(with_kind("a kind:wait >1ms", EventKind::kernel), "a >1ms kind:kernel");
  EXPECT_EQ(with_kind("a kind:wait", std::nullopt), "a");
}

TEST(Areas, SumsTheEventsInside) {
  const TraceModel model = handoffs();
  const Timeline timeline = build_timeline(model, kTrackKinds);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < timeline.tracks.size(); ++i) all.push_back(i);
  const Area area = sum_up(model, timeline, model.begin, model.end + 1, all);
  EXPECT_EQ(area.events, model.waits.size() + model.signals.size());
  ASSERT_FALSE(area.sums.empty());
  EXPECT_EQ(area.sums.front().state, State::polling);
  const TimeNs middle = (model.begin + model.end) / 2;
  double parts = 0;
  for (const auto& [from, to] : {std::pair{model.begin, middle}, std::pair{middle, model.end + 1}}) {
    const Area half = sum_up(model, timeline, from, to, all);
    for (const AreaSum& sum : half.sums) parts += sum.state == State::polling ? sum.time_ns : 0;
  }
  EXPECT_NEAR(parts, area.sums.front().time_ns, 1);
  EXPECT_TRUE(sum_up(model, timeline, model.begin, model.end, {}).sums.empty());
}

TEST(Areas, HaveATablePerSiteAndWay) {
  TraceModel model = synthetic::empty_program();
  synthetic::Handoff polled;
  synthetic::Handoff parked;
  parked.strategy = StrategyId::shared_watch;
  parked.first_iteration = 50;
  parked.start = synthetic::add_handoff(model, polled);
  const TimeNs end = synthetic::add_handoff(model, parked);
  analyzer::settle(model);
  const Timeline timeline = with_edges(model);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < timeline.tracks.size(); ++i) all.push_back(i);
  const Area whole = sum_up(model, timeline, model.begin, end, all);
  ASSERT_EQ(whole.sites.size(), 2u) << "one site, waited at in two ways";
  for (const AreaSite& site : whole.sites) {
    EXPECT_EQ(site.name, "flag");
    EXPECT_EQ(site.waits, 400u);
    ASSERT_TRUE(site.wake_p50_ns);
    EXPECT_EQ(*site.wake_p50_ns, polled.wake_latency);
  }
  TimeNs waited = 0;
  for (const store::WaitRow& wait : model.waits) waited += wait.resumed - wait.arrived;
  EXPECT_EQ(whole.sites[0].waiting_ns + whole.sites[1].waiting_ns, waited);
  const Area first = sum_up(model, timeline, model.begin, parked.start, all);
  ASSERT_EQ(first.sites.size(), 1u);
  EXPECT_EQ(first.sites[0].way, State::polling);
  EXPECT_TRUE(sum_up(model, timeline, model.begin, end, {}).sites.empty()) << "only the chosen tracks count";
}

TEST(Sites, SortsByAnyColumnInBothDirections) {
  TraceModel model = synthetic::empty_program();
  synthetic::declare_site(model, 2, "second", WordMemory::device);
  synthetic::add_handoff(model, {});
  synthetic::Handoff other;
  other.site = 2;
  other.iterations = 10;
  other.polls = 5'000;
  synthetic::add_handoff(model, other);
  analyzer::settle(model);
  const analyzer::Analysis analysis = analyzer::analyze(model);
  const auto first = [&](SiteColumn by, bool down) { return site_table(analysis, by, down).front().site; };
  EXPECT_EQ(first(SiteColumn::count, true), 1u);
  EXPECT_EQ(first(SiteColumn::count, false), 2u);
  EXPECT_EQ(first(SiteColumn::polls, true), 2u);
  EXPECT_EQ(first(SiteColumn::name, true), 1u + (model.site_name(1) < model.site_name(2)));
}

TEST(Sites, SayWhatPollingTakesThere) {
  const TraceModel model = handoffs();
  analyzer::Analysis analysis = analyzer::analyze(model);
  analyzer::EnergyUse& meter = analysis.energy.emplace_back();
  meter.meter = "GPU 0";
  meter.sites.push_back({"another site", 1, {{9, 8, 10}, {}}, 1});
  const auto told = [&] {
    std::vector<std::string> facts;
    const std::optional<SiteDetail> detail = site_detail(model, analysis, analysis.sites[0].site);
    for (const auto& [name, value] : detail->facts)
      if (name == "polling takes") facts.push_back(value);
    return facts;
  };
  EXPECT_TRUE(told().empty());
  meter.sites.push_back({model.sites[0].name, 8, {{40, 30, 50}, analyzer::Estimate{-0.5, -1.5, 0.5}}, 1});
  EXPECT_EQ(told(),
            std::vector<std::string>{"40.0 W (30.0 to 50.0) of GPU 0; per iteration below resolution (-1.5 to 0.5 J)"});
}

TEST(Sites, EveryWaitIsInTheHistogramOnce) {
  const TraceModel model = handoffs();
  analyzer::WaitFilter filter;
  filter.site = 1;
  const analyzer::WaitHistogram histogram = analyzer::wait_distribution(model, filter).histogram;
  std::uint64_t count = histogram.instant;
  TimeNs end = 0;
  for (const analyzer::WaitHistogram::Bin& bin : histogram.bins) {
    count += bin.count();
    EXPECT_TRUE(end == 0 || bin.begin == end) << "without gaps";
    end = bin.end;
    EXPECT_LE(bin.count(), histogram.most);
  }
  EXPECT_EQ(count, model.waits.size());
  for (const store::WaitRow& wait : model.waits) {
    const TimeNs took = wait.resumed - wait.arrived;
    EXPECT_GE(took, histogram.bins.front().begin);
    EXPECT_LT(took, histogram.bins.back().end);
  }
}

TEST(Segments, GivesTheEffectOfAChange) {
  synthetic::Phases phases;
  phases.period = [](Mode mode, std::size_t i) {
    return (mode == Mode::poll ? 3'000'000 : 100'000) + static_cast<TimeNs>(i % 7) * 100;
  };
  const TraceModel model = synthetic::phased_program(phases);
  const BeforeAfter values = before_after(model, analyzer::compare(model));
  ASSERT_TRUE(values.before && values.after);
  EXPECT_EQ(values.before->mode, Mode::poll);
  EXPECT_EQ(values.after->mode, Mode::park);
  EXPECT_EQ(values.verdict, analyzer::Verdict::improvement);
  ASSERT_TRUE(values.speedup);
  EXPECT_NEAR(values.speedup->value, 30, 0.2);
  const auto list = differences(*values.before, *values.after, 0.02);
  ASSERT_FALSE(list.empty());
  EXPECT_TRUE(list.front().better);
  EXPECT_FALSE(list.front().worse);
}

TEST(Segments, OfTwoTracesHaveTheShareOfTheIterationsTime) {
  TraceModel before = handoffs(), after = handoffs();
  const analyzer::Analysis analysis = analyzer::analyze(before);
  ASSERT_FALSE(analysis.sites.empty());
  // A long start-up before the first iteration.
  store::CopyRow copy{};
  copy.start = before.begin - 100 * (before.end - before.begin);
  copy.end = copy.start + 1'000;
  before.copies.push_back(copy);
  analyzer::settle(before);
  const BeforeAfter values = before_after(before, after, analyzer::compare(before, after));
  ASSERT_TRUE(values.before && values.after);
  EXPECT_NEAR(values.before->wait_share, analysis.sites.front().share, 0.05);
  EXPECT_NEAR(values.before->wait_share, values.after->wait_share, 1e-9);
}

TEST(AnnotationFiles, SurviveSavingAndRefuseInvalidFiles) {
  const store::TempFolder folder;
  const std::string path = annotations_path(folder / "t.wicprof");
  EXPECT_TRUE(load_annotations(path)) << "a missing file means no annotations";
  Annotations annotations;
  annotations.marks = {{5, "a \"mark\""}, {900, "later"}};
  annotations.pinned = {"sm/0/3"};
  annotations.dark = true;
  ASSERT_TRUE(save_annotations(path, annotations));
  const Result<Annotations> back = load_annotations(path);
  ASSERT_TRUE(back);
  ASSERT_EQ(back->marks.size(), 2u);
  EXPECT_EQ(back->marks[0].text, "a \"mark\"");
  EXPECT_EQ(back->pinned, annotations.pinned);
  EXPECT_TRUE(back->dark);
  for (const char* nonsense : {"", "[]", "{\"marks\": [7]}", "{\"marks\": 7}", "not json"}) {
    std::ofstream(path) << nonsense;
    EXPECT_FALSE(load_annotations(path)) << nonsense;
  }
  EXPECT_FALSE(save_annotations(folder / "no/such/folder.json", annotations));
}

/// Reports the thread that frees it.
struct Freed {
  std::promise<std::thread::id>& by;
  ~Freed() { by.set_value(std::this_thread::get_id()); }
};

TEST(ReclaimerThread, FreesOnItsThread) {
  Reclaimer reclaimer;
  std::promise<std::thread::id> freed;
  reclaimer.take(std::make_shared<const Freed>(freed));
  EXPECT_NE(freed.get_future().get(), std::this_thread::get_id());
}

TEST(ReclaimerThread, FreesEverything) {
  const auto held = std::make_shared<const int>(1);
  {
    Reclaimer reclaimer;
    for (int i = 0; i < 100; ++i) reclaimer.take(held);
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(EventFacts, ASignalIsFromWhoeverWroteTheWord) {
  const analyzer::TraceModel model;
  store::SignalRow signal{};
  signal.device = kHostDevice;
  signal.thread = 7;
  EXPECT_EQ(sender_of(model, signal), "host thread 7");
  for (const SignalWriter writer :
       {SignalWriter::copy, SignalWriter::unknown_copy, SignalWriter::memset, SignalWriter::stream_write}) {
    signal.writer = writer;
    EXPECT_EQ(sender_of(model, signal), analyzer::writer_words(writer).text) << "as in stuck and in analyze";
    EXPECT_NE(sender_of(model, signal), "host thread 7");
  }
}

}  // namespace
}  // namespace wicprof::gui
