// Dumps of a program that must not stop (run --trigger), on a simulated clock: when a rule holds, and that files and
// memory stay as they are over many turns of the ring.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include "cli/record/segments.h"
#include "cli/record/triggers.h"
#include "protocol/events/nvtx.h"
#include "store/sqlite/sqlite.h"
#include "tests/store/support.h"

namespace wicprof::cli {
namespace {

using store::MetaKey;

class DumpsTest : public testing::Test {
 protected:
  /// Records from now on. `keep_bytes`: 0 = no limit.
  void record(const std::vector<std::string>& rules, TimeNs keep_last, TimeNs pause = 30 * kSecond,
              std::size_t most = 10, std::uint64_t keep_bytes = 0) {
    store::RecorderOptions options = store::options_for(path(1));
    options.retention.keep_last = keep_last;
    options.retention.keep_bytes = keep_bytes;
    options.clock = [this] { return now; };
    recorder.emplace(*store::Recorder::create(options));
    SegmentPlan plan;
    plan.triggers = {*read_triggers(rules), pause};
    plan.most = most;
    triggers = std::make_unique<Triggers>(plan.triggers, *work);
    segments.emplace(
        plan, folder / "t.wicprof", triggers.get(),
        [this](store::Recorder& ending) { return triggers->describe(ending, "", now); },
        [this](store::Recorder& ended, const store::FinishWatch& watch) {
          const Result<> finished = ended.finish(watch);
          ++completed;
          return finished;
        });
    segments->set_window(now, std::numeric_limits<TimeNs>::max());
    add(store::Text(kSiteName, "flag").header());
    SiteEvent site = make_event<SiteEvent>();
    site.site = 1;
    site.name = kSiteName;
    add(site.header);
  }
  void add(const EventHeader& event) {
    recorder->add(0, event);
    triggers->see(*recorder, 0, event);
  }
  void wait(TimeNs length) {
    WaitEvent event = store::wait_event(0);
    event.arrived_ns = static_cast<std::uint64_t>(now - length);
    event.resumed_ns = static_cast<std::uint64_t>(now);
    add(event.header);
  }
  void range(const std::string& name, TimeNs length, TextId number = 100) {
    add(store::Text(number, name).header());
    NvtxEvent event = make_event<NvtxEvent>();
    event.name = number;
    event.start_ns = now - length;
    event.end_ns = now;
    event.thread = 1;
    add(event.header);
  }
  /// A round of the recorder's thread. What has ended is complete afterwards.
  void pass(TimeNs time) {
    now += time;
    recorder->tick();
    triggers->look(now);
    segments->follow(*recorder, now);
    while (completed + 1 < segments->count()) std::this_thread::yield();
  }
  void finish() {
    triggers->describe(*recorder, "the program ended", now);
    ASSERT_TRUE(segments->finish(now, [] { return true; }));
    ASSERT_TRUE(recorder->finish());
  }
  std::string path(unsigned number) const { return segment_name(folder / "t.wicprof", number); }
  std::string meta(unsigned number, MetaKey key) const {
    const auto all = *store::Reader::open(path(number))->meta();
    const auto found = all.find(std::string(name_of(key)));
    return found == all.end() ? "" : found->second;
  }
  std::int64_t number(unsigned trace, const std::string& sql) const {
    store::Database database;
    EXPECT_EQ(database.open(path(trace), store::OpenMode::read_only), 0);
    return database.integer(sql, -1);
  }
  std::uint64_t bytes_on_disk() const {
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      std::error_code gone;  // a log
      const std::uint64_t size = std::filesystem::file_size(entry.path(), gone);
      if (!gone) bytes += size;
    }
    return bytes;
  }
  std::size_t traces() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      count += entry.path().extension() == ".wicprof" ? 1 : 0;
    return count;
  }

  static constexpr TextId kSiteName = 99;
  store::TempFolder folder;
  TimeNs now = now_ns();
  std::unique_ptr<OpenWork> work = std::make_unique<OpenWork>();  // nothing waits
  std::optional<store::Recorder> recorder;
  std::unique_ptr<Triggers> triggers;
  std::atomic<unsigned> completed{0};
  std::optional<Segments> segments;  // calls back
};

TEST_F(DumpsTest, AWaitOverItsLimitIsWrittenWithWhatRanBefore) {
  record({"wait>20ms"}, 10 * kSecond);
  const TimeNs begin = now;
  for (int i = 0; i < 200; ++i) {
    wait(20 * kMillisecond);
    pass(100 * kMillisecond);
  }
  EXPECT_EQ(segments->count(), 1u);
  wait(21 * kMillisecond);
  const TimeNs noticed = now + 100 * kMillisecond;
  for (int i = 0; i < 20; ++i) pass(100 * kMillisecond);
  ASSERT_EQ(segments->count(), 2u);
  EXPECT_EQ(meta(1, MetaKey::state), "complete");
  EXPECT_EQ(meta(1, MetaKey::dump_rule), "wait>20ms");
  EXPECT_EQ(meta(1, MetaKey::dump_why), "a wait at flag took 21.0 ms");
  EXPECT_EQ(meta(1, MetaKey::dump_at_ns), std::to_string(noticed));
  EXPECT_EQ(meta(1, MetaKey::dump_value_ns), "21000000");
  EXPECT_EQ(meta(1, MetaKey::dump_limit_ns), "20000000");
  EXPECT_EQ(meta(1, MetaKey::dump_suppressed), "0");
  const TimeNs end = std::stoll(meta(1, MetaKey::ended_ns)), from = std::stoll(meta(1, MetaKey::capture_from_ns));
  EXPECT_EQ(from, end - 10 * kSecond);
  EXPECT_GT(from, begin);
  EXPECT_GE(number(1, "SELECT min(resumed_ns) FROM wait"), from);
  EXPECT_EQ(number(1, "SELECT count(*) FROM wait WHERE resumed_ns - arrived_ns > 20000000"), 1);
  EXPECT_GE(number(1, "SELECT count(*) FROM wait"), 85);
  finish();
  EXPECT_EQ(meta(2, MetaKey::dump_rule), "end");
  EXPECT_EQ(meta(2, MetaKey::dump_why), "the program ended");
  EXPECT_EQ(meta(2, MetaKey::dump_value_ns), "");  // that was the other trace's
  EXPECT_EQ(number(2, "SELECT count(*) FROM wait WHERE resumed_ns - arrived_ns > 20000000"), 0);
}

TEST_F(DumpsTest, ARuleOfASiteIsAboutThatSite) {
  record({"wait:other>20ms", "wait:flag>2s"}, 10 * kSecond);
  for (const TimeNs length : {kSecond, 3 * kSecond}) {
    wait(length);
    pass(2 * kSecond);
    pass(2 * kSecond);
    EXPECT_EQ(segments->count(), length == kSecond ? 1u : 2u);
  }
  EXPECT_EQ(meta(1, MetaKey::dump_rule), "wait:flag>2s");
  finish();
}

TEST_F(DumpsTest, AStepOverItsUsualLengthIsWritten) {
  record({"step>3*p99"}, 10 * kSecond);
  const auto step = [&](TimeNs length) {
    range("request", length);
    pass(100 * kMillisecond);
  };
  for (int i = 0; i < 90; ++i) step(10 * kMillisecond);
  step(50 * kMillisecond);  // too early to know what is usual
  for (int i = 0; i < 400; ++i) step(i % 50 == 0 ? 20 * kMillisecond : 10 * kMillisecond);
  EXPECT_EQ(segments->count(), 1u);
  step(59 * kMillisecond);
  EXPECT_FALSE(triggers->due(now + 10 * kSecond));
  step(61 * kMillisecond);
  for (int i = 0; i < 20; ++i) step(10 * kMillisecond);
  ASSERT_EQ(segments->count(), 2u);
  EXPECT_EQ(meta(1, MetaKey::dump_why),
            "a step (range request) took 61.0 ms, and the 99th percentile of the last 492 steps was 20.0 ms");
  EXPECT_EQ(meta(1, MetaKey::dump_limit_ns), "60000000");
  finish();
}

TEST_F(DumpsTest, ThePauseCountsWhatHolds) {
  record({"wait>20ms", "signal:USR1"}, 10 * kSecond, 5 * kSecond);
  const auto seconds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      wait(kSecond);
      pass(kSecond);
    }
  };
  seconds(3);  // noticed after the first, written a second later
  EXPECT_EQ(segments->count(), 2u);
  EXPECT_EQ(meta(1, MetaKey::dump_suppressed), "1");
  seconds(3);
  EXPECT_EQ(segments->count(), 2u);
  std::vector<std::string> news = triggers->take_news();
  ASSERT_EQ(news.size(), 2u);
  EXPECT_EQ(news[0], path(1) + " has been written: a wait at flag took 1.00 s (wait>20ms)");
  EXPECT_NE(news[1].find("--dump-pause"), std::string::npos);
  ASSERT_TRUE(triggers->request("signal:USR1", "signal", now));  // the pause is not for people
  seconds(2);
  EXPECT_EQ(segments->count(), 3u);
  EXPECT_EQ(meta(2, MetaKey::dump_rule), "signal:USR1");
  EXPECT_GE(std::stoi(meta(2, MetaKey::dump_suppressed)), 3);
  finish();
}

TEST_F(DumpsTest, ARuleThatHeldBeforeTheEndIsWhyTheLastTraceIsThere) {
  record({"wait>20ms"}, 10 * kSecond);
  wait(kSecond);
  pass(100 * kMillisecond);
  finish();
  EXPECT_EQ(meta(1, MetaKey::dump_rule), "wait>20ms");
}

TEST_F(DumpsTest, OutsideOfTheRecordingNothingHolds) {
  record({"wait>20ms"}, 10 * kSecond);
  triggers->set_window(now + kSecond, now + 2 * kSecond);
  for (int i = 0; i < 4; ++i) {
    const bool within = i == 1;
    EXPECT_EQ(static_cast<bool>(triggers->request("dump", "", now)), within) << i;
    triggers->written(now);
    now += kSecond;
  }
  finish();
}

/// Whether the largest of the later values is about that of the earlier ones.
void expect_flat(const std::vector<std::uint64_t>& values, const char* what) {
  const auto first = values.begin() + 4, middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 3);
  const std::uint64_t before = *std::max_element(first, middle), after = *std::max_element(middle, values.end());
  constexpr std::uint64_t kSteps = 4 << 20;  // of caches and logs; ten bytes per event of the test
  EXPECT_LE(after, before + std::max(before / 10, kSteps)) << what;
}

std::uint64_t resident_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// More than an hour: 40 turns of a ring of 100 s, with a dump in every second one.
TEST_F(DumpsTest, FilesAndMemoryStayFlatOverManyTurns) {
  constexpr int kTurns = 40, kSeconds = 100, kPerSecond = 50;
  record({"wait>20ms", "step>3*p99", "stuck>1s"}, kSeconds * kSecond, 30 * kSecond, 3);
  std::vector<std::uint64_t> disk, memory;
  std::uint64_t events = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    for (int second = 0; second < kSeconds; ++second) {
      for (int i = 0; i < kPerSecond; ++i, events += 2) {
        wait(kMillisecond);
        range("request " + std::to_string(events % 1000), 2 * kMillisecond, static_cast<TextId>(1000 + events % 1000));
        now += kSecond / kPerSecond;
        if (i % 5 == 0) pass(0);
      }
    }
    if (turn % 2 == 0) wait(30 * kMillisecond);
    disk.push_back(bytes_on_disk());
    memory.push_back(resident_bytes());
  }
  EXPECT_EQ(segments->count(), kTurns / 2 + 1u);
  EXPECT_LE(traces(), 4u);                                          // three dumps and the ring
  EXPECT_EQ(recorder->progress().events, events + kTurns / 2 + 1);  // the long waits, and the site
  EXPECT_EQ(recorder->progress().lost, 0u);
  expect_flat(disk, "bytes on disk");
  expect_flat(memory, "resident bytes");
  finish();
}

TEST_F(DumpsTest, ARingThatTakesTooMuchBecomesShorter) {
  constexpr std::uint64_t kMost = 2 << 20;
  record({"dump"}, 1000 * kSecond, 30 * kSecond, 3, kMost);
  std::uint64_t largest = 0;
  for (int second = 0; second < 300; ++second) {
    for (int i = 0; i < 500; ++i) wait(kMillisecond);
    pass(kSecond);
    largest = std::max(largest, recorder->file_bytes());
  }
  EXPECT_LE(largest, kMost + kMost / 4);
  ASSERT_TRUE(triggers->request("dump", "somebody asked", now));
  pass(kSecond);
  ASSERT_EQ(segments->count(), 2u);
  const TimeNs from = std::stoll(meta(1, MetaKey::capture_from_ns)), end = std::stoll(meta(1, MetaKey::ended_ns));
  EXPECT_LT(end - from, 100 * kSecond);
  EXPECT_GT(end - from, 10 * kSecond);
  EXPECT_GE(number(1, "SELECT min(resumed_ns) FROM wait"), from);
  EXPECT_LE(number(1, "SELECT min(resumed_ns) FROM wait"), from + kSecond);  // and covers all of that time
  finish();
}

}  // namespace
}  // namespace wicprof::cli
