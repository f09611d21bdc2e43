// The rows that the window keeps of a growing trace.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gui/source/growing_list.h"
#include "gui/source/live_model.h"
#include "gui/source/low_priority.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/kernel.h"
#include "protocol/events/nvtx.h"
#include "tests/store/support.h"

namespace wicprof::gui {
namespace {

/// `count` consecutive numbers from `first`.
std::vector<int> numbers(int first, int count) {
  std::vector<int> list(static_cast<std::size_t>(count));
  std::iota(list.begin(), list.end(), first);
  return list;
}

TEST(GrowingList, ReturnsTheLastRowsInOrder) {
  GrowingList<int> list;
  int next = 0;
  for (const int count : {1, 3'000, 0, 7, 999, 1, 5'000, 2}) {
    list.add(numbers(next, count));
    next += count;
  }
  ASSERT_EQ(list.size(), static_cast<std::size_t>(next));
  EXPECT_EQ(list.last(~std::size_t{0}), numbers(0, next));
  for (const int rows : {0, 1, 2, 3, 5'001, 5'003, 5'004, 8'000, next}) {
    EXPECT_EQ(list.last(static_cast<std::size_t>(rows)), numbers(next - rows, rows));
  }
}

TEST(GrowingList, KeepsAtLeastTheRequestedRows) {
  GrowingList<int> list;
  for (int i = 0; i < 50; ++i) list.add(numbers(2'000 * i, 2'000));
  std::vector<int> dropped;
  const auto on_drop = [&](int row) { dropped.push_back(row); };
  list.keep_last(9'000, on_drop);
  EXPECT_GE(list.size(), 9'000u);
  EXPECT_LT(list.size(), 9'000u + 2'000u);
  EXPECT_EQ(list.last(9'000), numbers(91'000, 9'000));
  EXPECT_EQ(dropped, numbers(0, static_cast<int>(100'000 - list.size())));
  list.keep_last(0, on_drop);
  EXPECT_EQ(list.size(), 0u);
  EXPECT_EQ(dropped, numbers(0, 100'000));
  EXPECT_TRUE(list.last(10).empty());
}

TEST(GrowingList, ACopyIsUnaffectedByLaterChanges) {
  GrowingList<int> list;
  list.add(numbers(0, 1'500));
  list.add(numbers(1'500, 10));
  const GrowingList<int> copy = list;
  list.add(numbers(1'510, 20));
  list.keep_last(5, [](int) {});
  EXPECT_EQ(copy.last(~std::size_t{0}), numbers(0, 1'510));
}

TEST(LiveModel, FetchesNewRows) {
  const store::TempFolder folder;
  store::RecorderOptions options;
  options.path = folder / "live.wicprof";
  Result<store::Recorder> recorder = store::Recorder::create(options);
  ASSERT_TRUE(recorder);
  const Result<store::Reader> reader = store::Reader::open(options.path);
  ASSERT_TRUE(reader);
  LiveModel model;
  LiveMoment before;
  for (std::uint32_t i = 1; i <= 30; ++i) {
    auto event = make_event<HostWaitEvent>();
    event.site = 1;
    event.iteration = i;
    event.begin_ns = 1'000 * i;
    event.end_ns = 1'000 * i + 500;
    recorder->add(0, event.header);
    if (i % 10 != 0) continue;
    for (bool fresh = false; !fresh;) {  // the recorder commits when a batch is old enough
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      recorder->tick();
      const Result<bool> fetched = model.fetch(*reader);
      ASSERT_TRUE(fetched) << fetched.error().message;
      fresh = *fetched;
    }
    if (i == 10) before = model.now();
  }
  EXPECT_FALSE(model.complete());
  EXPECT_FALSE(model.longer_than(30));
  EXPECT_TRUE(model.longer_than(29));
  const analyzer::TraceModel last = model.now().model(4);
  ASSERT_EQ(last.host_waits.size(), 4u);
  EXPECT_EQ(last.host_waits.front().iteration, 27u);
  EXPECT_EQ(before.model().host_waits.size(), 10u);
  ASSERT_TRUE(recorder->finish());
  const Result<bool> fetched = model.fetch(*reader);
  ASSERT_TRUE(fetched);
  EXPECT_FALSE(*fetched) << "no new row";
  EXPECT_TRUE(model.complete());
}

/// Records 3,000 events in batches of 1,000, so that the first ones can be dropped.
template <class Event, class Fill>
TimeNs known_from_after(const Fill& fill) {
  const store::TempFolder folder;
  store::RecorderOptions options;
  options.path = folder / "live.wicprof";
  Result<store::Recorder> recorder = store::Recorder::create(options);
  LiveModel model;
  for (std::int64_t i = 0; i < 3'000; ++i) {
    auto event = make_event<Event>();
    fill(event, i);
    recorder->add(0, event.header);
    if (i % 1'000 != 999) continue;
    for (bool fresh = false; !fresh;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      recorder->tick();
      const Result<store::Reader> reader = store::Reader::open(options.path);
      fresh = reader && *model.fetch(*reader);
    }
  }
  EXPECT_EQ(model.now().known_from(), 0);
  model.keep_recent(1'000);
  return model.now().known_from();
}

TEST(LiveModel, KnowsFromWhenOnRowsAreLeft) {
  const auto of_kernels = known_from_after<KernelEvent>([](KernelEvent& event, std::int64_t i) {
    event.start_ns = 1'000 * i;
    event.end_ns = 1'000 * i + 500;
  });
  const auto of_ranges = known_from_after<NvtxEvent>([](NvtxEvent& event, std::int64_t i) {
    event.start_ns = 1'000 * i;
    event.end_ns = 1'000 * i + 500;
  });
  for (const TimeNs from : {of_kernels, of_ranges}) EXPECT_EQ(from, 1'999'500);
}

int niceness_of_this_thread() { return getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid))); }

TEST(LowPriority, AppliesToTheWorkAndItsThreadsOnly) {
  const int before = niceness_of_this_thread();
  int during = -100, helper = -100;
  at_low_priority([&] {
    during = niceness_of_this_thread();
    std::thread([&] { helper = niceness_of_this_thread(); }).join();
  });
  EXPECT_THROW(at_low_priority([] { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(during, std::min(before + kNicer, 19));
  EXPECT_EQ(helper, during);
  EXPECT_EQ(niceness_of_this_thread(), before);
}

}  // namespace
}  // namespace wicprof::gui
