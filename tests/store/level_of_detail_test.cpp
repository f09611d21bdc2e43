// The summaries of a trace, compared with the same sums over its rows.
#include "store/summaries/lane_builder.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "store/sqlite/sqlite.h"
#include "store/summaries/level_of_detail.h"
#include "tests/store/random_trace.h"

namespace wicprof::store {
namespace {

struct LaneEvent {
  TimeNs begin, end;
  State state;
  bool begins = true;  // false: time only
  std::int64_t times = 1;
};
using LaneName = std::pair<TrackKey, std::uint32_t>;
using LaneEvents = std::map<LaneName, std::vector<LaneEvent>>;

void put_in_rows(LaneEvents& to, const TrackKey& key, std::vector<LaneEvent> events) {
  std::stable_sort(events.begin(), events.end(), [](const LaneEvent& a, const LaneEvent& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<TimeNs> ends;
  for (const LaneEvent& event : events) {
    std::uint32_t row = 0;
    while (row < ends.size() && ends[row] > event.begin) ++row;
    if (row == ends.size()) ends.push_back(0);
    ends[row] = event.end;
    to[{key, row}].push_back(event);
  }
}

/// The number of warps at the barrier behind each wait, computed independently from the description in
/// store/summaries/wait_states.h.
std::vector<std::int64_t> behind(const Reader& reader, const WaitList& waits) {
  std::map<SiteId, Pollers> pollers;
  for (const SiteRow& site : *reader.rows<SiteTable>()) pollers[site.id] = site.pollers;
  std::set<std::tuple<DeviceId, std::uint32_t, std::uint32_t>> leaders;
  for (const WaitRow& wait : waits) {
    if (pollers[wait.site] == Pollers::leader) leaders.insert({wait.device, wait.block, wait.warp});
  }
  std::vector<KernelRow> kernels;  // a list by columns makes each row anew
  for (const KernelRow& kernel : *reader.rows<KernelTable>()) kernels.push_back(kernel);
  std::vector<std::int64_t> counts;
  for (const WaitRow& wait : waits) {
    std::set<std::uint32_t> shapes;
    for (const KernelRow& kernel : kernels) {
      if (kernel.device == wait.device && kernel.start <= wait.arrived && kernel.end >= wait.arrived &&
          wait.block < kernel.grid[0])
        shapes.insert(kernel.block[0]);
    }
    std::int64_t count = 0;
    if (pollers[wait.site] == Pollers::leader && shapes.size() == 1) {
      for (std::uint32_t warp = wait.warp + 1;
           warp * 32 < *shapes.begin() && !leaders.contains({wait.device, wait.block, warp}); ++warp)
        ++count;
    }
    counts.push_back(count);
  }
  return counts;
}

LaneEvents events_of(const Reader& reader) {
  LaneEvents all;
  std::map<std::tuple<std::uint32_t, std::uint32_t>, WaitRow> last;
  std::map<std::tuple<std::uint32_t, std::uint32_t>, TimeNs> until;
  const WaitList waits = *reader.rows<WaitTable>();
  const std::vector<std::int64_t> others = behind(reader, waits);
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const WaitRow& wait = waits[i];
    auto& lane = all[{{LaneKind::sm, 0, wait.device, 0, wait.sm}, 0}];
    const bool polls = wait.strategy == StrategyId::poll,
               cut = wait.switched && *wait.switched > wait.arrived && *wait.switched < wait.resumed;
    const bool never_looks = !polls && wait.site == 2 && wait.polls == 0 && !cut;
    const State state = never_looks ? State::at_barrier
                        : polls     ? State::polling
                                    : State::parked,
                other = polls ? State::parked : State::polling;
    if (cut) {
      lane.push_back({wait.arrived, *wait.switched, other});
      lane.push_back({*wait.switched, wait.resumed, state, false});
    } else {
      lane.push_back({wait.arrived, wait.resumed, state});
    }
    lane.push_back({wait.arrived, wait.resumed, State::at_barrier, false, others[i]});
    const std::tuple who{wait.block, wait.warp};
    if (last.contains(who) && last[who].sm == wait.sm && wait.iteration >= last[who].iteration &&
        until[who] < wait.arrived)
      lane.push_back({until[who], wait.arrived, State::computing, false, 1 + others[i]});
    until[who] = last.contains(who) ? std::max(until[who], wait.resumed) : wait.resumed;
    last.insert_or_assign(who, wait);
  }
  for (const SignalRow& signal : *reader.rows<SignalTable>())
    all[{{LaneKind::signals, 0, 0, 0, signal.site}, 0}].push_back({signal.at, signal.at, State::signalling});
  std::map<TrackKey, std::vector<LaneEvent>> spans;
  for (const HostWaitRow& row : *reader.rows<HostWaitTable>())
    spans[{LaneKind::thread, row.process, 0, 0, row.thread}].push_back({row.begin, row.end, state_of_host_wait(row)});
  for (const CallRow& row : *reader.rows<CallTable>())
    spans[{LaneKind::thread, row.process, 0, 0, row.thread}].push_back({row.start, row.end, State::calling});
  for (const KernelRow& row : *reader.rows<KernelTable>())
    spans[{LaneKind::stream, row.process, row.device, row.context, row.stream}].push_back(
        {row.start, row.end, State::computing});
  for (const CopyRow& row : *reader.rows<CopyTable>())
    spans[{LaneKind::stream, row.process, row.device, row.context, row.stream}].push_back(
        {row.start, row.end, State::transferring});
  for (const NvtxRow& row : *reader.rows<NvtxTable>())
    spans[{LaneKind::nvtx, row.process, 0, 0, row.thread, row.domain}].push_back({row.start, row.end, State::range});
  for (const UvmRow& row : *reader.rows<UvmTable>())
    spans[{LaneKind::managed, 0, row.device}].push_back({row.start, row.end, state_of_migration(row.kind)});
  for (const ThreadSampleRow& row : *reader.rows<ThreadSampleTable>()) {
    if (const auto delay = noticeable_delay(row.begin, row.end, row.run_delay))
      spans[{LaneKind::delay, row.process, 0, 0, row.thread}].push_back(
          {row.end - *delay, row.end, State::descheduled});
  }
  for (auto& [key, list] : spans) put_in_rows(all, key, std::move(list));
  return all;
}

void expect_block(const LaneBlock& block, TimeNs origin, const std::vector<LaneEvent>& events,
                  const std::string& where) {
  const TimeNs width = column_width(block.level), first = origin + block.number * block_width(block.level);
  std::vector<std::uint32_t> begins(kBlockColumns);
  std::array<std::vector<std::int64_t>, kStates> time;
  for (auto& list : time) list.resize(kBlockColumns);
  for (const LaneEvent& event : events) {
    if (event.begins && event.begin >= first && event.begin < first + block_width(block.level))
      ++begins[static_cast<std::size_t>((event.begin - first) / width)];
    const TimeNs from = std::max(event.begin, first), to = std::min(event.end, first + block_width(block.level));
    for (TimeNs at = from; at < to;) {
      const auto column = static_cast<std::size_t>((at - first) / width);
      const TimeNs edge = std::min(to, first + static_cast<TimeNs>(column + 1) * width);
      time[index_of(event.state)][column] += event.times * (edge - at);
      at = edge;
    }
  }
  EXPECT_EQ(block.begins, begins) << where;
  for (std::size_t s = 0; s < kStates; ++s) {
    std::vector<std::int64_t> actual = block.time[s];
    actual.resize(kBlockColumns);
    EXPECT_EQ(actual, time[s]) << where << ", state " << s;
  }
}

/// Those that overlap each of the adjacent blocks with these ends.
std::vector<std::vector<LaneEvent>> by_block(const std::vector<LaneEvent>& events, const std::vector<TimeNs>& ends) {
  std::vector<std::vector<LaneEvent>> all(ends.size());
  for (const LaneEvent& event : events) {
    const auto first = std::upper_bound(ends.begin(), ends.end(), event.begin);
    for (auto i = static_cast<std::size_t>(first - ends.begin()); i < ends.size(); ++i) {
      all[i].push_back(event);
      if (ends[i] >= event.end) break;
    }
  }
  return all;
}

/// Every block of every lane at every level.
void expect_equal_to_rows(const Reader& reader, const Overview& overview) {
  const LaneEvents events = events_of(reader);
  EXPECT_EQ(overview.lanes().size(), events.size());
  const TimeNs last = overview.origin() + block_width(overview.top_level());
  for (const Lane& lane : overview.lanes()) {
    const auto found = events.find({lane.track, lane.row});
    ASSERT_NE(found, events.end()) << "a lane without rows";
    EXPECT_EQ(lane.events, static_cast<std::uint64_t>(std::count_if(found->second.begin(), found->second.end(),
                                                                    [](const LaneEvent& t) { return t.begins; })));
    for (int level = overview.top_level(); level >= 0; --level) {
      const auto blocks = overview.cover(lane.id, overview.origin(), last, level);
      ASSERT_TRUE(blocks) << blocks.error().message;
      TimeNs at = overview.origin();
      std::vector<TimeNs> ends;
      for (const LaneBlock& block : *blocks) {
        EXPECT_EQ(overview.origin() + block.number * block_width(block.level), at) << "adjacent";
        ends.push_back(at += block_width(block.level));
        EXPECT_GE(block.level, level);
      }
      EXPECT_EQ(at, last);
      const std::vector<std::vector<LaneEvent>> within = by_block(found->second, ends);
      for (std::size_t i = 0; i < blocks->size(); ++i) {
        const LaneBlock& block = (*blocks)[i];
        expect_block(block, overview.origin(), within[i],
                     "lane " + std::to_string(lane.id) + " level " + std::to_string(block.level));
      }
    }
  }
}

TEST(LevelOfDetail, EqualsTheRowsAtEveryLevel) {
  const TempFolder folder;
  for (const RandomTrace& what :
       {RandomTrace{1, 1, 1'000}, {2, 40, 20'000}, {3, 500, 3'000'000}, {4, 3'000, 900'000'000}}) {
    SCOPED_TRACE(what.seed);
    const std::string path = folder / ("t" + std::to_string(what.seed));
    record_random(path, what);
    const auto reader = Reader::open(path);
    ASSERT_TRUE(reader);
    const auto overview = reader->overview();
    ASSERT_TRUE(overview) << overview.error().message;
    EXPECT_TRUE(overview->kept());
    expect_equal_to_rows(*reader, *overview);
  }
}

TEST(LevelOfDetail, SplitsWhereMuchHappens) {
  const TempFolder folder;
  record_random(folder / "t", {5, 18'000, 4'000'000'000});
  const auto reader = Reader::open(folder / "t");
  const auto overview = reader->overview();
  ASSERT_TRUE(overview) << overview.error().message;
  expect_equal_to_rows(*reader, *overview);
  int finest = overview->top_level();
  for (const Lane& lane : overview->lanes()) {
    for (const LaneBlock& block :
         *overview->cover(lane.id, overview->origin(), overview->origin() + block_width(overview->top_level()), 0)) {
      finest = std::min(finest, block.level);
      std::uint64_t events = 0;
      for (const std::uint32_t begins : block.begins) events += begins;
      EXPECT_TRUE(events <= kSplitFrom || block.level == std::max(0, overview->top_level() - kFinestBelowTop));
    }
  }
  EXPECT_LT(finest, overview->top_level());
}

TEST(LevelOfDetail, KnowsTheTracedTimeAndTheRows) {
  const TempFolder folder;
  record_random(folder / "t", {6, 400});
  const auto reader = Reader::open(folder / "t");
  const auto overview = reader->overview();
  ASSERT_TRUE(overview);
  EXPECT_EQ(overview->rows(RowKind::wait), 400u);
  EXPECT_EQ(overview->rows(RowKind::kernel), 100u);
  EXPECT_EQ(overview->begin(),
            std::min({reader->rows<WaitTable>()->front().arrived, reader->rows<SignalTable>()->front().at,
                      reader->rows<KernelTable>()->front().start, reader->rows<CopyTable>()->front().start}));
}

TEST(LevelOfDetail, AnUnfinishedTraceGetsTemporaryOnes) {
  const TempFolder folder;
  record_random(folder / "t", {7, 300, 3'000'000, false});
  const auto reader = Reader::open(folder / "t");
  ASSERT_TRUE(reader);
  const std::string before = contents(folder / "t");
  double told = 0;
  const auto overview = reader->overview([&](double part) { return (told = part) >= 0; });
  ASSERT_TRUE(overview) << overview.error().message;
  EXPECT_FALSE(overview->kept());
  expect_equal_to_rows(*reader, *overview);
  EXPECT_EQ(contents(folder / "t"), before) << "the file is unchanged";
}

TEST(LevelOfDetail, CountsWarpsAtABarrier) {
  const TempFolder folder;
  record_random(folder / "t", {14, 2'000});
  const auto reader = Reader::open(folder / "t");
  const auto overview = reader->overview();
  ASSERT_TRUE(overview) << overview.error().message;
  std::int64_t actual = 0, wanted = 0, of_groups = 0;
  for (const Lane& lane : overview->lanes()) {
    if (lane.track.kind != LaneKind::sm) continue;
    const auto blocks = overview->cover(lane.id, overview->origin(), overview->origin() + 1, overview->top_level());
    ASSERT_TRUE(blocks);
    for (const std::int64_t time : blocks->front().time[index_of(State::at_barrier)]) actual += time;
  }
  for (const auto& [name, events] : events_of(*reader)) {
    for (const LaneEvent& event : events) {
      if (event.state != State::at_barrier) continue;
      wanted += event.times * (event.end - event.begin);
      if (event.times > 1) of_groups += event.end - event.begin;
    }
  }
  EXPECT_GT(of_groups, 0);
  EXPECT_GT(actual, 0);
  EXPECT_EQ(actual, wanted);
}

TEST(LevelOfDetail, RecomputesSummariesOfAnOlderVersion) {
  const TempFolder folder;
  record_random(folder / "t", {15, 300});
  for (const char* older : {"UPDATE lane_extent SET version = version - 1; UPDATE lane_block SET columns = x'00'",
                            "ALTER TABLE lane_extent DROP COLUMN version"}) {
    {
      Database database;
      ASSERT_EQ(database.open(folder / "t", OpenMode::read_write), 0);
      ASSERT_EQ(database.execute(older), 0) << database.message();
    }
    const auto reader = Reader::open(folder / "t");
    const auto overview = reader->overview();
    ASSERT_TRUE(overview) << overview.error().message;
    EXPECT_FALSE(overview->kept());
    expect_equal_to_rows(*reader, *overview);
  }
}

// Those of a large trace are read on another thread while the recorder matches and indexes.
TEST(LevelOfDetail, OfALargeTraceAreTheSame) {
  const TempFolder folder;
  const std::string path = folder / "trace.wicprof";
  Result<Recorder> recorder = Recorder::create(options_for(path));
  ASSERT_TRUE(recorder) << recorder.error().message;
  for (std::uint32_t i = 0; i < 150'000; ++i) {
    recorder->add(0, wait_event(i).header);
    if (i % 3 == 0) recorder->add(0, signal_event(i, 1'000'100 + i * 1000ull).header);
  }
  ASSERT_TRUE(recorder->finish());
  Database database;
  ASSERT_EQ(database.open(path, OpenMode::read_write), 0);
  EXPECT_EQ(database.integer("SELECT count(*) FROM wait WHERE ready_ns IS NOT NULL"), 50'000);
  const auto contents = [&] {
    return database.text("SELECT group_concat(hex(columns) || level || number || lane_id) FROM lane_block") +
           database.text("SELECT group_concat(kind || ',' || row || ',' || events || ',' || most) FROM lane") +
           database.text("SELECT begin_ns || ',' || end_ns || ',' || blocks FROM lane_extent");
  };
  const std::string recorded = contents();
  for (const char* table : {"lane", "lane_block", "lane_extent", "row_kind", "long_row"})
    ASSERT_EQ(database.execute(std::string("DELETE FROM ") + table), 0);
  ASSERT_EQ(summarise(database), 0) << database.message();
  EXPECT_EQ(contents(), recorded);
  EXPECT_GT(recorded.size(), 1000u);
}

TEST(LevelOfDetail, ComputesSummariesThatAnOlderTraceLacks) {
  const TempFolder folder;
  record_random(folder / "t", {8, 300});
  {
    Database database;
    ASSERT_EQ(database.open(folder / "t", OpenMode::read_write), 0);
    ASSERT_EQ(
        database.execute(
            "DROP TABLE lane; DROP TABLE lane_block; DROP TABLE lane_extent; DROP TABLE row_kind; DROP TABLE long_row"),
        0);
  }
  const auto reader = Reader::open(folder / "t");
  const auto overview = reader->overview();
  ASSERT_TRUE(overview) << overview.error().message;
  EXPECT_FALSE(overview->kept());
  expect_equal_to_rows(*reader, *overview);
}

TEST(LevelOfDetail, CanBeCancelled) {
  const TempFolder folder;
  record_random(folder / "t", {9, 40'000, 3'000'000, false});
  const auto overview = Reader::open(folder / "t")->overview([](double) { return false; });
  ASSERT_FALSE(overview);
  EXPECT_NE(overview.error().message.find("cancelled"), std::string::npos);
}

TEST(LevelOfDetail, DamagedSummariesAreNamed) {
  const TempFolder folder;
  for (const char* harm :
       {"DELETE FROM lane_block WHERE id % 3 = 0", "DELETE FROM lane WHERE id = 1",
        "UPDATE lane_extent SET top_level = 99", "UPDATE lane_block SET columns = substr(columns, 1, 2)",
        "UPDATE lane_block SET columns = x'ffffffffffffffffffff'"}) {
    const std::string path = folder / "t";
    std::remove(path.c_str());
    record_random(path, {10, 300});
    {
      Database database;
      ASSERT_EQ(database.open(path, OpenMode::read_write), 0);
      ASSERT_EQ(database.execute(harm), 0);
    }
    const auto reader = Reader::open(path);
    ASSERT_TRUE(reader);
    auto overview = reader->overview();
    Error error;
    if (overview) {
      const auto blocks = overview->cover(overview->lanes()[0].id, 0, 1'000'000'000'000, overview->top_level());
      ASSERT_FALSE(blocks) << harm;
      error = blocks.error();
    } else {
      error = overview.error();
    }
    EXPECT_EQ(error.kind, ErrorKind::bad_input) << harm;
    EXPECT_NE(error.message.find(path + " is damaged (its summaries: "), std::string::npos) << error.message;
  }
}

TEST(LevelOfDetail, BlocksOfAnyNumbersSurvivePacking) {
  std::mt19937_64 random(11);
  LaneBlock block{7, 3, std::vector<std::uint32_t>(kBlockColumns), {}};
  for (auto& begins : block.begins)
    begins = random() % 3 == 0 ? static_cast<std::uint32_t>(random() >> (random() % 32 + 32)) : 0;
  for (const std::size_t s : {std::size_t{1}, kStates - 1}) {
    block.time[s].resize(kBlockColumns);
    for (auto& time : block.time[s]) time = static_cast<std::int64_t>(random() >> (1 + random() % 63));
  }
  const auto back = unpack_block(pack_block(block), 7, 3);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->begins, block.begins);
  EXPECT_EQ(back->time, block.time);
}

TEST(HostWaits, InTheProgramsOwnWayAreNeverDrawnAsParked) {
  HostWaitRow row{};
  row.call = "cudaStreamSynchronize";
  row.begin = 1000;
  row.end = 2000;
  for (TimeNs cpu = 0; cpu <= 1000; cpu += 10) {
    row.cpu = cpu;
    row.strategy = StrategyId::poll;
    EXPECT_EQ(state_of_host_wait(row), cpu < 800 ? State::host_waiting : State::polling) << cpu;
    row.strategy = StrategyId::hybrid;  // wic-prof's
    EXPECT_EQ(state_of_host_wait(row), cpu <= 200  ? State::parked
                                       : cpu < 800 ? State::host_waiting
                                                   : State::polling)
        << cpu;
  }
}

TEST(HostWaits, PollHoweverLittleOfACpuTheyGet) {
  HostWaitRow row{};
  row.site = 1;
  row.begin = 0;
  row.end = 1'000'000;
  for (const TimeNs cpu : {0, 100'000, 500'000, 1'000'000}) {
    row.cpu = cpu;
    row.polls = 1'000;  // per 1 us: at a wait site, beside others on the CPU
    EXPECT_EQ(state_of_host_wait(row), State::polling) << cpu;
  }
  row.cpu = 100'000;
  row.polls = 20;  // per 50 us
  EXPECT_EQ(state_of_host_wait(row), State::parked);
}

TEST(RowsWithin, AreThoseThatOverlapTheInterval) {
  const TempFolder folder;
  record_random(folder / "t", {12, 2'000});
  auto reader = Reader::open(folder / "t");
  const auto overview = reader->overview();
  ASSERT_TRUE(overview);
  const auto waits = *reader->rows<WaitTable>();
  const auto kernels = *reader->rows<KernelTable>();
  std::mt19937_64 random(12);
  for (int i = 0; i < 50; ++i) {
    const TimeNs begin = overview->begin() + static_cast<TimeNs>(random() % 3'000'000),
                 end = begin + 1 + static_cast<TimeNs>(random() % (i % 2 == 0 ? 500 : 500'000));
    auto range = overview->range(begin, end);
    ASSERT_TRUE(range);
    reader->within(*range);
    const auto ids = [](const auto& rows, auto reaches) {
      std::vector<RowId> list;
      for (const auto& row : rows) {
        if (reaches(row)) list.push_back(row.id);
      }
      return list;
    };
    const auto all = [](const auto&) { return true; };
    EXPECT_EQ(ids(*reader->rows<WaitTable>(), all),
              ids(waits, [&](const WaitRow& w) { return w.arrived < end && w.resumed >= begin; }));
    EXPECT_EQ(ids(*reader->rows<KernelTable>(), all),
              ids(kernels, [&](const KernelRow& k) { return k.start < end && k.end >= begin; }));
    reader->within(std::nullopt);
  }
  EXPECT_EQ(reader->rows<WaitTable>()->size(), waits.size());
}

TEST(NamedRows, AreFoundByTheirSiteAndTheirName) {
  const TempFolder folder;
  record_random(folder / "t", {13, 1'000});
  const auto reader = Reader::open(folder / "t");
  const auto found = reader->named(
      [](RowKind kind, std::string_view name) {
        return kind == RowKind::kernel ? name.find("relax") != name.npos : name == "left";
      },
      20);
  ASSERT_TRUE(found) << found.error().message;
  std::uint64_t expected = reader->rows<KernelTable>()->size();
  for (const WaitRow& wait : *reader->rows<WaitTable>()) expected += wait.site == 1;
  for (const SignalRow& signal : *reader->rows<SignalTable>()) expected += signal.site == 1;
  EXPECT_EQ(found->total, expected);
  ASSERT_EQ(found->rows.size(), 20u);
  EXPECT_TRUE(std::is_sorted(found->rows.begin(), found->rows.end(),
                             [](const auto& a, const auto& b) { return a.begin < b.begin; }));
}

}  // namespace
}  // namespace wicprof::store
