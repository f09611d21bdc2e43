#include "protocol/event_sink.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "protocol/events/host_wait.h"
#include "tests/protocol/ring_contents.h"

namespace wicprof {
namespace {

TEST(EventSink, SendsATextOnce) {
  PlainRing memory;
  EventSink texts(memory.ring());
  const TextId a = texts.text("alpha");
  const TextId b = texts.text("beta");
  EXPECT_NE(a, b);
  EXPECT_EQ(texts.text("alpha"), a);
  const Delivered delivered = memory.read();
  EXPECT_EQ(delivered.records.size(), 2u);
  EXPECT_EQ(delivered.text(a), "alpha");
  EXPECT_EQ(delivered.text(b), "beta");
}

TEST(EventSink, EmptyTextIsZero) {
  PlainRing memory;
  EventSink texts(memory.ring());
  EXPECT_EQ(texts.text(""), 0u);
  EXPECT_TRUE(memory.read().records.empty());
}

TEST(EventSink, LossCarriesItsReason) {
  PlainRing memory;
  EventSink sink(memory.ring());
  sink.loss(LossSource::cupti, 7, "no space");
  const Delivered delivered = memory.read();
  const auto losses = delivered.all<LossEvent>();
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].count, 7u);
  EXPECT_EQ(losses[0].source, LossSource::cupti);
  EXPECT_EQ(delivered.text(losses[0].reason), "no space");
}

TEST(EventSink, RetriesATextAfterAFullRing) {
  PlainRing memory(2 * kMaxEventSize);
  EventSink texts(memory.ring());
  const std::string filler(1000, 'x');
  TextId last = 1;
  for (int i = 0; last != 0; ++i) {
    ASSERT_LT(i, 100);
    last = texts.text(filler + std::to_string(i));
  }
  EXPECT_EQ(texts.text(filler + "late"), 0u);  // events must not refer to an unsent text
  memory.read();
  const TextId late = texts.text(filler + "late");
  EXPECT_NE(late, 0u);
  EXPECT_EQ(memory.read().text(late), filler + "late");
}

HostWaitEvent wait_number(std::uint64_t number) {
  auto event = make_event<HostWaitEvent>();
  event.correlation = static_cast<std::uint32_t>(number);
  return event;
}

TEST(EventSink, HoldsWhatDoesNotFitAndSendsItLater) {
  PlainRing memory(2 * kMaxEventSize);
  EventSink sink(memory.ring());
  std::vector<HostWaitEvent> all;
  const auto read = [&] {
    const auto next = memory.read().all<HostWaitEvent>();
    all.insert(all.end(), next.begin(), next.end());
  };
  const std::uint32_t more_than_fit = 2 * kMaxEventSize / sizeof(HostWaitEvent) + 5;
  std::uint32_t sent = 0;
  for (; sent < more_than_fit; ++sent) EXPECT_TRUE(sink.write_or_hold(wait_number(sent)));
  read();
  EXPECT_LT(all.size(), sent);
  EXPECT_TRUE(sink.write_or_hold(wait_number(sent++)));  // held events go first
  read();
  EXPECT_EQ(all.size(), sent);
  for (const std::uint32_t end = sent + more_than_fit; sent < end; ++sent) sink.write_or_hold(wait_number(sent));
  read();
  sink.send_held(0);
  read();
  ASSERT_EQ(all.size(), sent);
  for (std::uint32_t i = 0; i < sent; ++i) EXPECT_EQ(all[i].correlation, i);
  EXPECT_EQ(memory.ring()->dropped.load(), 0u);
}

TEST(EventSink, HoldsUpToItsLimitAndCountsTheRest) {
  PlainRing memory(2 * kMaxEventSize);
  EventSink sink(memory.ring());
  std::uint64_t refused = 0;
  for (int i = 0; i < 10'000; ++i) refused += sink.write_or_hold(wait_number(0)) ? 0 : 1;
  EXPECT_GT(refused, 0u);
  EXPECT_EQ(memory.ring()->dropped.load(), refused);
  std::uint64_t read = 0;
  for (std::size_t now = 1; now != 0; read += now) {
    now = memory.read().all<HostWaitEvent>().size();
    sink.write_all({}, 0);  // also sends held events
  }
  EXPECT_EQ(read + refused, 10'000u);
}

TEST(EventSink, ForgetsTextsBeyondItsLimit) {
  PlainRing memory;
  EventSink texts(memory.ring(), 4);
  std::set<TextId> ids;
  for (int i = 0; i < 9; ++i) ids.insert(texts.text("iteration " + std::to_string(i)));
  EXPECT_EQ(ids.size(), 9u);
  const TextId again = texts.text("iteration 0");
  EXPECT_FALSE(ids.contains(again));  // numbers are never reused
  EXPECT_EQ(memory.read().text(again), "iteration 0");
}

TEST(EventSink, ForgetsLongTextsBeyondTheirBytes) {
  PlainRing memory;
  EventSink texts(memory.ring(), 1000, 4096);
  const auto text = [](int i) { return std::string(1000, static_cast<char>('a' + i)); };
  const TextId first = texts.text(text(0));
  for (int i = 1; i < 4; ++i) texts.text(text(i));
  EXPECT_EQ(texts.text(text(0)), first);
  EXPECT_EQ(texts.text_generation(), 0u);
  texts.text(text(4));
  EXPECT_EQ(texts.text_generation(), 1u);  // whoever keeps a number asks again
  EXPECT_NE(texts.text(text(0)), first);
}

TEST(EventSink, ATextLongerThanAllBytesIsSentEachTimeAnotherComesBetween) {
  PlainRing memory;
  EventSink texts(memory.ring(), 1000, 100);
  const std::string big(500, 'x');
  const TextId first = texts.text(big);
  EXPECT_NE(first, 0u);
  EXPECT_EQ(texts.text(big), first);
  texts.text("small");
  EXPECT_NE(texts.text(big), first);
}

}  // namespace
}  // namespace wicprof
