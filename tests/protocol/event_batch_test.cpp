#include "protocol/event_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "protocol/events/call.h"
#include "tests/protocol/ring_contents.h"

namespace wicprof {
namespace {

CallEvent call(std::uint32_t correlation, TextId name = 0) {
  CallEvent event = make_event<CallEvent>();
  event.correlation = correlation;
  event.name = name;
  return event;
}

TEST(EventBatch, WritesEventsInOrderAtItsEnd) {
  PlainRing memory;
  EventSink sink(memory.ring());
  {
    EventBatch batch(sink);
    for (std::uint32_t i = 0; i < 1'000; ++i) batch.write(call(i));
  }
  const auto calls = memory.read().all<CallEvent>();
  ASSERT_EQ(calls.size(), 1'000u);
  for (std::uint32_t i = 0; i < calls.size(); ++i) EXPECT_EQ(calls[i].correlation, i);
}

TEST(EventBatch, SendsATextBeforeEventsThatReferToIt) {
  PlainRing memory;
  EventSink sink(memory.ring());
  EventBatch batch(sink);
  batch.write(call(1));
  batch.write(call(2, batch.text("launch")));
  batch.loss(LossSource::cupti, 3, "gone");
  batch.write(call(4));
  batch.flush();
  const Delivered delivered = memory.read();
  EXPECT_EQ(delivered.all<CallEvent>().size(), 3u);
  TextId seen = 0;
  for (const auto& record : delivered.records) {
    const auto& header = *reinterpret_cast<const EventHeader*>(record.data());
    if (const auto* text = event_cast<TextEvent>(header)) seen = std::max(seen, text->id);
    if (const auto* event = event_cast<CallEvent>(header)) {
      EXPECT_LE(event->name, seen);
    }
    if (const auto* loss = event_cast<LossEvent>(header)) {
      EXPECT_LE(loss->reason, seen);
    }
  }
}

TEST(EventBatch, KeepsARecordContiguousAtTheRingsEnd) {
  PlainRing memory(2 * kMaxEventSize);
  EventSink sink(memory.ring());
  std::uint32_t next = 0;
  for (int round = 0; round < 50; ++round) {
    {
      EventBatch batch(sink);
      for (int i = 0; i < 70; ++i) batch.write(call(next++));
    }
    const auto calls = memory.read().all<CallEvent>();
    ASSERT_EQ(calls.size(), 70u);
    for (std::size_t i = 0; i < calls.size(); ++i) ASSERT_EQ(calls[i].correlation, next - 70 + i);
  }
  EXPECT_EQ(RingReader(memory.ring()).dropped(), 0u);
}

TEST(EventBatch, WithoutTimeoutDropsAndCountsWhatDoesNotFit) {
  PlainRing memory(2 * kMaxEventSize);
  EventSink sink(memory.ring());
  {
    EventBatch batch(sink);
    for (std::uint32_t i = 0; i < 1'000; ++i) batch.write(call(i));
  }
  const std::size_t arrived = memory.read().all<CallEvent>().size();
  EXPECT_GT(arrived, 0u);
  EXPECT_EQ(RingReader(memory.ring()).dropped(), 1'000 - arrived);
}

// The ring is far too small, but all texts and events arrive, because the batch waits for the consumer.
TEST(EventBatch, WithTimeoutWaitsForAFullRing) {
  PlainRing memory(2 * kMaxEventSize);
  EventSink sink(memory.ring());
  std::atomic<bool> done{false};
  std::vector<std::uint32_t> seen;
  std::size_t texts = 0;
  std::thread reader([&] {
    RingReader ring(memory.ring());
    for (bool last = false;;) {
      ring.read([&](const EventHeader& header) {
        if (const auto* event = event_cast<CallEvent>(header)) seen.push_back(event->correlation);
        if (header.kind == TextEvent::kKind) ++texts;
      });
      if (last) return;
      last = done.load();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  {
    EventBatch batch(sink, 60 * kSecond);
    for (std::uint32_t i = 0; i < 5'000; ++i)
      batch.write(call(i, i % 100 == 0 ? batch.text("name " + std::to_string(i)) : 0));
  }
  done = true;
  reader.join();
  ASSERT_EQ(seen.size(), 5'000u);
  for (std::uint32_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], i);
  EXPECT_EQ(texts, 50u);
  EXPECT_EQ(RingReader(memory.ring()).dropped(), 0u);
}

TEST(EventBatch, CountsATextAsDroppedOnlyIfItGivesUp) {
  PlainRing memory(2 * kMaxEventSize);
  EventSink sink(memory.ring());
  for (std::size_t i = 0; i < 2 * kMaxEventSize / sizeof(CallEvent); ++i) ASSERT_TRUE(sink.write(call(1)));
  const std::string name(1'000, 'x');
  {
    EventBatch hasty(sink, kMillisecond);
    EXPECT_EQ(hasty.text(name), 0u);
  }
  EXPECT_EQ(RingReader(memory.ring()).dropped(), 1u);
  memory.read();
  for (std::size_t i = 0; i < 2 * kMaxEventSize / sizeof(CallEvent); ++i) ASSERT_TRUE(sink.write(call(1)));
  EventBatch batch(sink, 60 * kSecond);
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    memory.read();
  });
  EXPECT_NE(batch.text(name), 0u);
  reader.join();
  EXPECT_EQ(RingReader(memory.ring()).dropped(), 1u);
}

// The consumer may empty the ring after a record did not fit, and before anybody waits: no more progress follows.
TEST(EventBatch, DoesNotWaitForProgressThatWasMadeAlready) {
  PlainRing memory(2 * kMaxEventSize);
  EventSink sink(memory.ring());
  for (int i = 0; sink.text("name " + std::to_string(i), false) != 0; ++i) {
  }
  memory.read();
  // A wait for more than that would exceed the test's time limit.
  EXPECT_GT(sink.wait_for_consumer(24 * 3'600 * kSecond), 0);
  EXPECT_NE(sink.text("name of the end"), 0u);
}

TEST(EventBatch, WaitsForAGoneConsumerOnlyOnce) {
  PlainRing memory(2 * kMaxEventSize);
  EventSink sink(memory.ring());
  EXPECT_EQ(sink.wait_for_consumer(kMillisecond), 0);
  // A second wait would exceed the test's time limit.
  EXPECT_EQ(sink.wait_for_consumer(24 * 3'600 * kSecond), 0);
  EventBatch batch(sink, 24 * 3'600 * kSecond);
  for (std::uint32_t i = 0; i < 1'000; ++i) batch.write(call(i));
  batch.flush();
  EXPECT_GT(RingReader(memory.ring()).dropped(), 0u);
  memory.read();
  const std::uint64_t before = RingReader(memory.ring()).dropped();
  sink.write(call(1));
  EXPECT_EQ(RingReader(memory.ring()).dropped(), before);
}

}  // namespace
}  // namespace wicprof
