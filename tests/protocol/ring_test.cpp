// The ring with one thread: order, wrapping, padding, a full ring, unknown kinds, texts.
#include "protocol/ring.h"

#include <deque>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/events/signal.h"
#include "protocol/events/wait.h"
#include "tests/protocol/ring_memory.h"

namespace wicprof {
namespace {

constexpr std::size_t kCapacity = 2 * kMaxEventSize;

WaitEvent wait_event(std::uint32_t iteration) {
  WaitEvent event = make_event<WaitEvent>();
  event.iteration = iteration;
  event.polls = iteration ^ 0x5a5a5a5a;
  return event;
}

// A record of `size` bytes of an unknown kind.
std::vector<std::uint64_t> odd_record(std::uint16_t size) {
  std::vector<std::uint64_t> words(size / 8, size);
  const EventHeader header{static_cast<EventKind>(4242), size, 0};
  std::memcpy(words.data(), &header, sizeof header);
  return words;
}

TEST(Ring, StartsEmpty) {
  const RingMemory memory(kCapacity);
  RingReader reader(memory.ring());
  EXPECT_TRUE(reader.empty());
  EXPECT_EQ(reader.read([](const EventHeader&) { FAIL(); }), 0u);
  EXPECT_EQ(reader.dropped(), 0u);
  EXPECT_EQ(reader.corrupt(), 0u);
}

TEST(Ring, DeliversInOrderAcrossManyWraps) {
  const RingMemory memory(kCapacity);
  RingWriter writer(memory.ring());
  RingReader reader(memory.ring());
  std::uint32_t sent = 0, received = 0;
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    for (unsigned n = random() % 100; n > 0; --n) ASSERT_TRUE(writer.write(wait_event(sent++)));
    const std::size_t delivered = reader.read([&](const EventHeader& header) {
      const WaitEvent* wait = event_cast<WaitEvent>(header);
      ASSERT_NE(wait, nullptr);
      EXPECT_EQ(wait->iteration, received);
      EXPECT_EQ(wait->polls, received ^ 0x5a5a5a5a);
      ++received;
    });
    ASSERT_LE(delivered, 100u);
    ASSERT_EQ(received, sent);
  }
  EXPECT_GT(memory.ring()->head.load(), 50 * kCapacity);
  EXPECT_EQ(reader.dropped(), 0u);
}

// Records of all sizes, so that every distance to the end of the ring occurs and is padded.
TEST(Ring, RecordsOfEverySizeStayContiguousAtTheEnd) {
  const RingMemory memory(kCapacity);
  RingWriter writer(memory.ring());
  RingReader reader(memory.ring());
  std::mt19937 random(11);
  std::deque<std::string> expected;
  std::size_t wraps = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string text(random() % (kMaxTextLength + 1), static_cast<char>('a' + i % 26));
    const std::uint64_t before = memory.ring()->head.load();
    ASSERT_TRUE(writer.write_text(static_cast<TextId>(i), text));
    wraps += before / kCapacity != (memory.ring()->head.load() - 1) / kCapacity;
    expected.push_back(text);
    reader.read([&](const EventHeader& header) {
      const TextEvent* event = event_cast<TextEvent>(header);
      ASSERT_NE(event, nullptr);
      ASSERT_FALSE(expected.empty());
      ASSERT_EQ(text_of(*event), expected.front());
      expected.pop_front();
    });
  }
  EXPECT_TRUE(expected.empty());
  EXPECT_GT(wraps, 1000u);
  EXPECT_EQ(reader.corrupt(), 0u);
}

TEST(Ring, FullRingDropsCountsAndContinues) {
  const RingMemory memory(kCapacity);
  RingWriter writer(memory.ring());
  RingReader reader(memory.ring());
  constexpr std::uint32_t kFits = kCapacity / sizeof(WaitEvent);
  for (std::uint32_t i = 0; i < kFits; ++i) ASSERT_TRUE(writer.write(wait_event(i)));
  EXPECT_FALSE(writer.write(wait_event(1000)));
  EXPECT_FALSE(writer.write_text(1, "no space"));
  EXPECT_EQ(reader.dropped(), 2u);

  std::uint32_t received = 0;
  reader.read([&](const EventHeader& header) { EXPECT_EQ(event_cast<WaitEvent>(header)->iteration, received++); });
  EXPECT_EQ(received, kFits);  // earlier records are untouched
  EXPECT_TRUE(writer.write(wait_event(2000)));
  reader.read([&](const EventHeader& header) { EXPECT_EQ(event_cast<WaitEvent>(header)->iteration, 2000u); });
  EXPECT_EQ(reader.dropped(), 2u);
}

TEST(Ring, DropsARecordWhosePaddingDoesNotFit) {
  const RingMemory memory(kCapacity);
  RingWriter writer(memory.ring());
  RingReader reader(memory.ring());
  // 40 bytes before the end: a wait needs padding, and the start has no space until something is read.
  while (memory.ring()->head.load() < kCapacity - 104) ASSERT_TRUE(writer.write(wait_event(0)));
  const std::uint64_t before = memory.ring()->head.load();
  while (kCapacity - memory.ring()->head.load() >= 64) ASSERT_TRUE(writer.write_text(1, std::string(24, 'x')));
  ASSERT_GT(memory.ring()->head.load(), before);
  const std::uint64_t full = memory.ring()->head.load();
  ASSERT_GT(kCapacity - full, 0u);
  EXPECT_FALSE(writer.write(wait_event(1)));
  EXPECT_EQ(memory.ring()->head.load(), full);
  reader.read([](const EventHeader&) {});
  EXPECT_TRUE(writer.write(wait_event(2)));
  std::size_t count = 0;
  reader.read([&](const EventHeader& header) {
    EXPECT_EQ(event_cast<WaitEvent>(header)->iteration, 2u);
    ++count;
  });
  EXPECT_EQ(count, 1u);
}

TEST(Ring, SkipsUnknownKindsByTheirLength) {
  const RingMemory memory(kCapacity);
  RingReader reader(memory.ring());
  // As a newer producer would write them.
  std::uint64_t at = 0;
  for (const std::uint16_t size : {8, 24, 512, 4096}) {
    const auto words = odd_record(size);
    std::memcpy(memory.ring()->data + at, words.data(), size);
    at += size;
  }
  const WaitEvent known = wait_event(9);
  std::memcpy(memory.ring()->data + at, &known, sizeof known);
  memory.ring()->head.store(at + sizeof known);
  std::vector<std::uint16_t> sizes;
  std::uint32_t iteration = 0;
  reader.read([&](const EventHeader& header) {
    sizes.push_back(header.size);
    if (const WaitEvent* wait = event_cast<WaitEvent>(header)) iteration = wait->iteration;
  });
  EXPECT_EQ(sizes, (std::vector<std::uint16_t>{8, 24, 512, 4096, 64}));
  EXPECT_EQ(iteration, 9u);
  EXPECT_EQ(reader.corrupt(), 0u);
}

TEST(Ring, ReadsAtMostMaxBytes) {
  const RingMemory memory(kCapacity);
  RingWriter writer(memory.ring());
  RingReader reader(memory.ring());
  for (std::uint32_t i = 0; i < 20; ++i) writer.write(wait_event(i));
  const auto nothing = [](const EventHeader&) {};
  EXPECT_EQ(reader.read(nothing, 128), 2u);
  EXPECT_EQ(reader.read(nothing, 1), 1u);
  EXPECT_EQ(reader.read(nothing), 17u);
}

TEST(Ring, LaterWriterContinuesAtTheHead) {
  const RingMemory memory(kCapacity);
  RingReader reader(memory.ring());
  std::uint32_t sent = 0, received = 0;
  for (int writers = 0; writers < 50; ++writers) {
    RingWriter writer(memory.ring());
    for (int i = 0; i < 37; ++i) ASSERT_TRUE(writer.write(wait_event(sent++)));
    reader.read([&](const EventHeader& header) { EXPECT_EQ(event_cast<WaitEvent>(header)->iteration, received++); });
  }
  EXPECT_EQ(received, sent);
}

TEST(Ring, TextsAreCutAtTheirLimit) {
  const RingMemory memory(kCapacity);
  RingWriter writer(memory.ring());
  RingReader reader(memory.ring());
  ASSERT_TRUE(writer.write_text(3, std::string(5000, 'y')));
  ASSERT_TRUE(writer.write_text(4, ""));
  std::vector<std::string> texts;
  reader.read([&](const EventHeader& header) { texts.emplace_back(text_of(*event_cast<TextEvent>(header))); });
  EXPECT_EQ(texts, (std::vector<std::string>{std::string(kMaxTextLength, 'y'), ""}));
}

TEST(EventCast, NeedsTheKindAndTheLength) {
  WaitEvent wait = wait_event(1);
  EXPECT_EQ(event_cast<WaitEvent>(wait.header), &wait);
  EXPECT_EQ(event_cast<SignalEvent>(wait.header), nullptr);
  wait.header.size = 56;
  EXPECT_EQ(event_cast<WaitEvent>(wait.header), nullptr);
}

}  // namespace
}  // namespace wicprof
