// Two threads read the large tables of a finished trace; the result is the same as with one.
#include <sys/resource.h>

#include "protocol/events/call.h"
#include "tests/store/support.h"

namespace wicprof::store {
namespace {

TEST(TwoReaders, AnswerLikeOne) {
  constexpr std::uint32_t kWaits = 130'001;  // an odd number, and enough for two
  const TempFolder folder;
  const std::string path = folder / "trace.wicprof";
  record_waits(path, kWaits);
  const Result<Reader> reader = Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  const auto all = reader->rows<WaitTable>();
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), kWaits);
  const auto tail = reader->rows<WaitTable>(1);  // a live tail's query, which one thread answers
  ASSERT_TRUE(tail) << tail.error().message;
  ASSERT_EQ(tail->size(), kWaits - 1);
  for (std::uint32_t i = 0; i < kWaits; ++i) {
    const WaitRow& row = (*all)[i];
    ASSERT_EQ(row.id, static_cast<RowId>(i) + 1);
    ASSERT_EQ(row.iteration, i);
    ASSERT_EQ(row.polls, i * 3);
    if (i > 0) {
      ASSERT_EQ(row.arrived, (*tail)[i - 1].arrived);
    }
  }
}

TEST(TwoReaders, KeepTheNamesOfBothHalves) {
  constexpr std::uint32_t kCalls = 130'000;
  const TempFolder folder;
  const std::string path = folder / "trace.wicprof";
  Result<Recorder> recorder = Recorder::create(options_for(path));
  ASSERT_TRUE(recorder) << recorder.error().message;
  recorder->add(0, Text(1, "cudaLaunchKernel").header());
  recorder->add(0, Text(2, "cudaMemcpyAsync").header());
  for (std::uint32_t i = 0; i < kCalls; ++i) {
    CallEvent call = make_event<CallEvent>();
    call.name = i % 3;  // the first of three has none
    call.start_ns = call.end_ns = 1'000 + static_cast<TimeNs>(i);
    recorder->add(0, call.header);
  }
  const Result<> done = recorder->finish();
  ASSERT_TRUE(done) << done.error().message;
  const Result<Reader> reader = Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  const auto calls = reader->rows<CallTable>();
  ASSERT_TRUE(calls) << calls.error().message;
  ASSERT_EQ(calls->size(), kCalls);
  const Name names[] = {{}, "cudaLaunchKernel", "cudaMemcpyAsync"};
  for (std::uint32_t i = 0; i < kCalls; ++i) ASSERT_EQ((*calls)[i].name, names[i % 3].text()) << i;
}

// The second reader's first list asks for the schema's version before it reads the rows.
TEST(TwoReaders, NameTooFewDescriptors) {
  const TempFolder folder;
  const std::string path = folder / "trace.wicprof";
  record_waits(path, 10);
  const Result<Reader> reader = Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  const std::optional<Reader> other = reader->another();
  ASSERT_TRUE(other);
  rlimit usual{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit none{3, usual.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto waits = other->rows<WaitTable>();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  ASSERT_FALSE(waits);
  EXPECT_NE(waits.error().message.find("ulimit -n"), std::string::npos) << waits.error().message;
}

TEST(TwoReaders, NameWhatIsDamaged) {
  const TempFolder folder;
  const std::string path = folder / "trace.wicprof";
  record_waits(path, 130'000);
  std::string bytes = contents(path);
  // The middle of the file holds waits, mostly of the upper half: overwrites it with bytes that are no valid page.
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 3),
            bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2), '\xff');
  write_contents(path, bytes);
  const Result<Reader> reader = Reader::open(path);
  if (!reader) return;  // refusing at once is correct, too
  const auto all = reader->rows<WaitTable>();
  ASSERT_FALSE(all);
  EXPECT_NE(all.error().message.find(path), std::string::npos);
  EXPECT_NE(all.error().message.find("damaged"), std::string::npos) << all.error().message;
}

}  // namespace
}  // namespace wicprof::store
