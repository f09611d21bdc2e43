// An overwritten ring: reading stays inside it, ends, and counts the damage. A page without access follows the memory
// of each ring here.
#include <random>

#include <gtest/gtest.h>

#include "protocol/events/wait.h"
#include "tests/protocol/ring_memory.h"

namespace wicprof {
namespace {

constexpr std::size_t kCapacity = 2 * kMaxEventSize;

void put_header(RingHeader* ring, std::uint64_t position, std::uint16_t kind, std::uint16_t size) {
  const EventHeader header{static_cast<EventKind>(kind), size, 0};
  std::memcpy(ring->data + position % kCapacity, &header, sizeof header);
}

TEST(RingDamage, ImpossibleLengthEmptiesTheRing) {
  for (const int size : {0, 4, 7, 12, 4088, 65528, 65535}) {
    const RingMemory memory(kCapacity);
    RingWriter writer(memory.ring());
    RingReader reader(memory.ring());
    for (int i = 0; i < 3; ++i) writer.write(make_event<WaitEvent>());
    put_header(memory.ring(), 64, 6, static_cast<std::uint16_t>(size));
    EXPECT_EQ(reader.read([](const EventHeader&) {}), 1u) << size;  // the record before it
    EXPECT_EQ(reader.corrupt(), 1u) << size;
    EXPECT_TRUE(reader.empty());
    // Reading continues.
    ASSERT_TRUE(writer.write(make_event<WaitEvent>()));
    EXPECT_EQ(reader.read([](const EventHeader&) {}), 1u) << size;
    EXPECT_EQ(reader.corrupt(), 1u);
  }
}

TEST(RingDamage, RejectsARecordBeyondTheRingsEnd) {
  const RingMemory memory(kCapacity);
  RingReader reader(memory.ring());
  memory.ring()->tail.store(kCapacity - 64);
  memory.ring()->head.store(kCapacity + 512);
  put_header(memory.ring(), kCapacity - 64, 6, 72);
  EXPECT_EQ(reader.read([](const EventHeader&) {}), 0u);
  EXPECT_EQ(reader.corrupt(), 1u);
}

TEST(RingDamage, RejectsPaddingBeyondTheHead) {
  const RingMemory memory(kCapacity);
  RingReader reader(memory.ring());
  put_header(memory.ring(), 0, 0, 8);
  memory.ring()->head.store(64);
  EXPECT_EQ(reader.read([](const EventHeader&) {}), 0u);
  EXPECT_EQ(reader.corrupt(), 1u);
  EXPECT_TRUE(reader.empty());
}

TEST(RingDamage, ImpossiblePositionEmptiesTheRing) {
  for (const std::uint64_t head : {std::uint64_t{3}, kCapacity + 8, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
    const RingMemory memory(kCapacity);
    RingReader reader(memory.ring());
    memory.ring()->head.store(head);
    EXPECT_EQ(reader.read([](const EventHeader&) {}), 0u);
    EXPECT_EQ(reader.corrupt(), 1u) << head;
    EXPECT_TRUE(reader.empty());
    EXPECT_EQ(reader.read([](const EventHeader&) {}), 0u);
    EXPECT_EQ(reader.corrupt(), 1u) << head;  // once
  }
}

TEST(RingDamage, ATextLongerThanItsRecordIsEmpty) {
  TextEvent event = make_event<TextEvent>();
  event.length = 9;
  EXPECT_EQ(text_of(event), "");
}

TEST(RingDamage, ARecordLongerThanAnyEventEmptiesTheRing) {
  const RingMemory memory(4 * kMaxEventSize);
  RingReader reader(memory.ring());
  const EventHeader header{EventKind{6}, kMaxEventSize + 8, 0};
  std::memcpy(memory.ring()->data, &header, sizeof header);
  memory.ring()->head.store(kMaxEventSize + 8);
  EXPECT_EQ(reader.read([](const EventHeader&) {}), 0u);
  EXPECT_EQ(reader.corrupt(), 1u);
}

TEST(RingDamage, EachEndKeepsTheCapacityItself) {
  const RingMemory memory(kCapacity);
  RingWriter writer(memory.ring());
  RingReader reader(memory.ring());
  memory.ring()->capacity = std::uint64_t{1} << 40;
  std::size_t written = 0, read = 0;
  for (int round = 0; round < 100; ++round) {
    while (writer.write(make_event<WaitEvent>())) ++written;
    read += reader.read([](const EventHeader&) {});
  }
  EXPECT_GT(written, 1000u);
  EXPECT_EQ(read, written);
}

// The program may overwrite a record while the tool handles the record.
TEST(RingDamage, ARecordDoesNotChangeWhileItIsHandled) {
  const RingMemory memory(kCapacity);
  RingWriter writer(memory.ring());
  ASSERT_TRUE(writer.write_text(1, "name"));
  RingReader reader(memory.ring());
  reader.read([&](const EventHeader& header) {
    std::memset(memory.ring()->data, 0xff, kCapacity);
    const auto* text = event_cast<TextEvent>(header);
    ASSERT_NE(text, nullptr);
    EXPECT_EQ(text_of(*text), "name");
  });
}

TEST(RingDamage, RandomBytesAreReadWithinBounds) {
  std::mt19937_64 random(99);
  std::uint64_t corrupt = 0;
  for (int round = 0; round < 3000; ++round) {
    const RingMemory memory(kCapacity);
    for (std::size_t i = 0; i < kCapacity; i += 8) {
      const std::uint64_t word = random();
      std::memcpy(memory.ring()->data + i, &word, 8);
    }
    const std::uint64_t tail = random() % (8 * kCapacity) / 8 * 8;
    memory.ring()->tail.store(tail);
    memory.ring()->head.store(tail + random() % (kCapacity + 1) / 8 * 8);
    RingReader reader(memory.ring());
    volatile unsigned char seen = 0;
    reader.read([&](const EventHeader& header) {
      const auto* bytes = reinterpret_cast<const unsigned char*>(&header);
      for (std::size_t i = 0; i < header.size; ++i) seen = bytes[i];  // all of it can be read
    });
    ASSERT_TRUE(reader.empty());
    corrupt += reader.corrupt();
    (void)seen;
  }
  EXPECT_GT(corrupt, 2500u);
}

}  // namespace
}  // namespace wicprof
