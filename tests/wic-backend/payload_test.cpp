// Payloads of signals: from element numbers to a payload, and from a payload to a record and back.
#include "wic/payload.h"

#include <gtest/gtest.h>

#include <vector>

#include "src/records/record_events.h"
#include "wic/record.h"

namespace wic {
namespace {

Payload of(std::vector<std::uint32_t> numbers) { return payload_of(numbers, 8); }

TEST(PayloadOfNumbers, OneRun) {
  const Payload p = of({5, 6, 7});
  EXPECT_EQ(p.offset, 40u);
  EXPECT_EQ(p.span, 24u);
  EXPECT_EQ(p.bytes, 24u);
  EXPECT_EQ(p.pieces, 1u);
  EXPECT_TRUE(p.regular);
}

TEST(PayloadOfNumbers, RunsOfOneLengthAndDistanceAreRegular) {
  const Payload p = of({0, 1, 10, 11, 20, 21});
  EXPECT_EQ(p.pieces, 3u);
  EXPECT_EQ(p.span, 22u * 8);
  EXPECT_EQ(p.bytes, 6u * 8);
  EXPECT_TRUE(p.regular);
}

TEST(PayloadOfNumbers, OtherRunsAreNot) {
  EXPECT_FALSE(of({0, 10, 21}).regular) << "distances differ";
  EXPECT_FALSE(of({0, 1, 10}).regular) << "the last run is shorter";
  EXPECT_FALSE(of({0, 10, 11}).regular) << "the last run is longer";
}

TEST(PayloadOfNumbers, OfNothingIsUnknown) { EXPECT_EQ(of({}).pieces, 0u); }

TEST(Payload, StridedReachesFromTheFirstToTheLastPiece) {
  const Payload p = Payload::strided(64, 16, 100, 4);
  EXPECT_EQ(p.span, 316u);
  EXPECT_EQ(p.bytes, 64u);
}

// Written like a kernel, read like the drain.
wicprof::SignalEvent through_record(const Payload& payload) {
  const RecordPayload r = signal_record(3, 7, 1000, 42, 9, payload);
  DeviceRecord record{};
  record.quads[0].payload[0] = static_cast<std::uint32_t>(r.kind);
  record.quads[1].payload[0] = r.iteration;
  record.quads[1].payload[1] = r.polls;
  record.quads[1].payload[2] = r.switched_after_ns;
  record.quads[3].payload[0] = low_word(r.end_ns);
  record.quads[3].payload[1] = high_word(r.end_ns);
  return signal_event(record, 0);
}

TEST(PayloadInARecord, SurvivesARoundTrip) {
  const auto e = through_record({std::uint64_t{5} << 30, 1024, 512, 8, false});
  EXPECT_EQ(e.offset, std::uint64_t{5} << 30);
  EXPECT_EQ(e.span, 1024u);
  EXPECT_EQ(e.bytes, 512u);
  EXPECT_EQ(e.pieces, 8u);
  EXPECT_EQ(e.regular, 0);
}

TEST(PayloadInARecord, CoversUnalignedBytes) {
  const auto e = through_record(Payload::contiguous(6, 3));
  EXPECT_EQ(e.offset, 4u);
  EXPECT_EQ(e.span, 8u);
  EXPECT_EQ(e.bytes, 3u);
}

TEST(PayloadInARecord, KeepsTheSizeBeyondTheLargestOffset) {
  const auto e = through_record(Payload::contiguous(std::uint64_t{1} << 40, 100));
  EXPECT_EQ(e.pieces, 0u) << "its place is not known then";
  EXPECT_EQ(e.bytes, 100u);
}

TEST(PayloadInARecord, IsEmptyWithoutOne) {
  const auto e = through_record({});
  EXPECT_EQ(e.bytes, 0u);
  EXPECT_EQ(e.pieces, 0u);
}

}  // namespace
}  // namespace wic
