// Records with any contents, as a program that overwrites the shared memory leaves them: the recorder completes a trace
// that its readers can read. The records come from a fixed seed; WICPROF_RANDOM_SEED and WICPROF_RANDOM_RECORDS try
// others.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "store/format/event_tables.h"
#include "tests/store/support.h"

namespace wicprof::store {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Makes events of every kind: plausible ones, and ones with a few words or bytes replaced.
class HostileProducer {
 public:
  explicit HostileProducer(std::uint64_t seed) : random_(seed) {
    for_each_table<EventTables>([&]<class Table>(Type<Table>) { add_kind<typename Table::Event>(); });
    for_each_kind(static_cast<const RowlessEvents*>(nullptr));
  }

  const EventHeader& next() {
    const Kind& kind = kinds_[random_() % kinds_.size()];
    std::memset(record_, 0, sizeof record_);
    EventHeader header;
    header.kind = kind.kind;
    header.size = static_cast<std::uint16_t>(kind.bytes);
    std::memcpy(record_, &header, sizeof header);
    for (std::size_t at = sizeof header; at + 4 <= kind.bytes; at += 4) put(at, value32());
    // Times are 64-bit numbers; most are near now.
    for (std::size_t at = sizeof header; at + 8 <= kind.bytes; at += 8) {
      if (random_() % 3 == 0)
        put(at, static_cast<std::uint64_t>(base_ + static_cast<TimeNs>(random_() % 1'000'000'000)));
      if (random_() % 40 == 0) put(at, value64());
    }
    switch (random_() % 100) {
      case 0:  // another length than the kind's
        header.size = static_cast<std::uint16_t>(8 + random_() % (kMaxEventSize / 8) * 8);
        std::memcpy(record_, &header, sizeof header);
        break;
      case 1:  // an unknown kind
        header.kind = static_cast<EventKind>(random_() % 65'536);
        std::memcpy(record_, &header, sizeof header);
        break;
      default:
        break;
    }
    return *reinterpret_cast<const EventHeader*>(record_);
  }

 private:
  struct Kind {
    EventKind kind;
    std::size_t bytes;
  };
  template <class Event>
  void add_kind() {
    kinds_.push_back({Event::kKind, sizeof(Event)});
  }
  template <class... Events>
  void for_each_kind(const std::tuple<Events...>*) {
    (add_kind<Events>(), ...);
  }
  template <class Number>
  void put(std::size_t at, Number number) {
    std::memcpy(record_ + at, &number, sizeof number);
  }
  std::uint32_t value32() {
    switch (random_() % 8) {
      case 0:
        return static_cast<std::uint32_t>(random_());
      case 1:
        return ~std::uint32_t{0};
      case 2:
        return 0x80000000u;
      default:
        return static_cast<std::uint32_t>(random_() % 20);  // ids that meet again
    }
  }
  std::uint64_t value64() {
    constexpr std::uint64_t kEdges[] = {0, 1, ~std::uint64_t{0}, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) - 1};
    return random_() % 2 == 0 ? kEdges[random_() % std::size(kEdges)] : random_();
  }

  std::mt19937_64 random_;
  std::vector<Kind> kinds_;
  const TimeNs base_ = now_ns();
  alignas(8) std::byte record_[kMaxEventSize];
};

template <class... Tables>
std::size_t rows_of(const Reader& reader, const std::tuple<Tables...>*) {
  std::size_t rows = 0;
  const auto count = [&]<class Table>(Type<Table>) {
    const auto list = reader.rows<Table>();
    ASSERT_TRUE(list) << Table::kName << ": " << list.error().message;
    rows += list->size();
  };
  (count(Type<Tables>()), ...);
  return rows;
}

void expect_survival(std::uint64_t seed, std::uint64_t records, RecorderOptions options) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const std::string path = options.path;
  Result<Recorder> recorder = Recorder::create(options);
  ASSERT_TRUE(recorder) << recorder.error().message;
  HostileProducer producer(seed);
  std::mt19937_64 random(seed + 1);
  for (std::uint64_t i = 0; i < records; ++i) {
    const std::size_t ring = random() % 4;
    recorder->add(ring, producer.next());
    if (i % 1000 == 0) recorder->set_ring_process(ring, static_cast<std::uint32_t>(random()));
    if (i % 7000 == 0) recorder->forget_ring(ring);
    if (i % 500 == 0) recorder->tick();
  }
  const Result<> done = recorder->finish();
  ASSERT_TRUE(done) << done.error().message;
  const Result<Reader> reader = Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_GT(rows_of(*reader, static_cast<const ReadTables*>(nullptr)), 0u);
  EXPECT_TRUE(reader->pc_totals());
  const Result<Overview> overview = reader->overview();
  ASSERT_TRUE(overview) << overview.error().message;
  for (const Lane& lane : overview->lanes()) {
    const auto blocks = overview->cover(lane.id, overview->begin(), overview->end(), 0);
    ASSERT_TRUE(blocks) << blocks.error().message;
  }
}

TEST(HostileRecords, MakeATraceThatCanBeRead) {
  const TempFolder folder;
  const std::uint64_t records = from_environment("WICPROF_RANDOM_RECORDS", 20'000);
  const std::uint64_t first = from_environment("WICPROF_RANDOM_SEED", 1);
  for (std::uint64_t seed = first; seed < first + 3; ++seed) {
    RecorderOptions options = options_for(folder / ("trace" + std::to_string(seed)));
    if (seed % 3 != 0) options.began = now_ns();  // else times of any year reach the trace
    if (seed % 3 == 1) options.retention.keep_last = kSecond;
    expect_survival(seed, records, options);
  }
}

}  // namespace
}  // namespace wicprof::store
