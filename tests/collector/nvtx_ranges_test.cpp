#include "collector/translate/nvtx_ranges.h"

#include <gtest/gtest.h>

namespace wicprof::collector {
namespace {

using Outcome = NvtxRanges::Outcome;

MarkerRecord marker(unsigned flags, std::uint32_t id, std::uint64_t at, const char* name = nullptr,
                    const char* domain = nullptr) {
  MarkerRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_MARKER;
  record.flags = static_cast<CUpti_ActivityFlag>(flags);
  record.timestamp = at;
  record.id = id;
  record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  record.objectId.pt.threadId = 11;
  record.name = name;
  record.domain = domain;
  return record;
}
constexpr unsigned kMark = CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS;
constexpr unsigned kStart = CUPTI_ACTIVITY_FLAG_MARKER_START;
constexpr unsigned kEnd = CUPTI_ACTIVITY_FLAG_MARKER_END;

TEST(NvtxRanges, JoinsStartAndEndByTheirId) {
  NvtxRanges ranges;
  NamedRange out;
  EXPECT_EQ(ranges.add(marker(kStart, 1, 100, "outer", "solver"), &out), Outcome::opened);
  EXPECT_EQ(ranges.add(marker(kStart, 2, 150, "inner"), &out), Outcome::opened);
  ASSERT_EQ(ranges.add(marker(kEnd, 1, 400), &out), Outcome::complete);
  EXPECT_EQ(out.name, "outer");
  EXPECT_EQ(out.domain, "solver");
  EXPECT_EQ(out.start, 100);
  EXPECT_EQ(out.end, 400);
  EXPECT_EQ(out.thread, 11u);
  ASSERT_EQ(ranges.add(marker(kEnd, 2, 300), &out), Outcome::complete);
  EXPECT_EQ(out.name, "inner");
  EXPECT_EQ(out.domain, "");
  const NvtxEvent event = out.event(5, 0);
  EXPECT_EQ(event.name, 5u);
  EXPECT_EQ(event.domain, 0u);
  EXPECT_EQ(event.start_ns, 150);
  EXPECT_EQ(event.end_ns, 300);
  EXPECT_EQ(event.kind, NvtxKind::range);
}

TEST(NvtxRanges, AMarkIsAnInstant) {
  NvtxRanges ranges;
  NamedRange out;
  ASSERT_EQ(ranges.add(marker(kMark, 1, 77, "here"), &out), Outcome::complete);
  EXPECT_EQ(out.kind, NvtxKind::mark);
  EXPECT_EQ(out.start, 77);
  EXPECT_EQ(out.end, 77);
}

TEST(NvtxRanges, NoNameIsAnEmptyOne) {
  NvtxRanges ranges;
  NamedRange out;
  ranges.add(marker(kStart, 1, 5), &out);
  ASSERT_EQ(ranges.add(marker(kEnd, 1, 6), &out), Outcome::complete);
  EXPECT_EQ(out.name, "");
}

TEST(NvtxRanges, WhatCannotBePairedIsUnusable) {
  NvtxRanges ranges;
  NamedRange out;
  EXPECT_EQ(ranges.add(marker(kEnd, 9, 10), &out), Outcome::unusable);
  EXPECT_EQ(ranges.add(marker(kStart, 9, 0, "untimed"), &out), Outcome::unusable);
  EXPECT_EQ(ranges.add(marker(0, 9, 10, "no flag"), &out), Outcome::unusable);
}

TEST(NvtxRanges, AnEndBeforeItsStartDoesNotRunBackwards) {
  NvtxRanges ranges;
  NamedRange out;
  ranges.add(marker(kStart, 1, 500, "r"), &out);
  ASSERT_EQ(ranges.add(marker(kEnd, 1, 400), &out), Outcome::complete);
  EXPECT_EQ(out.end, 500);
}

TEST(NvtxRanges, RangesOpenAtTheEndEndThen) {
  NvtxRanges ranges;
  NamedRange out;
  ranges.add(marker(kStart, 8, 200, "second"), &out);
  ranges.add(marker(kStart, 3, 100, "first"), &out);
  const auto open = ranges.close_all(900);
  ASSERT_EQ(open.size(), 2u);
  EXPECT_EQ(open[0].name, "first");
  EXPECT_EQ(open[0].end, 900);
  EXPECT_EQ(open[1].name, "second");
  EXPECT_TRUE(ranges.close_all(900).empty());
}

TEST(NvtxRanges, OpenRangesAreBounded) {
  NvtxRanges ranges(2);
  NamedRange out;
  EXPECT_EQ(ranges.add(marker(kStart, 1, 1, "a"), &out), Outcome::opened);
  EXPECT_EQ(ranges.add(marker(kStart, 2, 2, "b"), &out), Outcome::opened);
  EXPECT_EQ(ranges.add(marker(kStart, 3, 3, "c"), &out), Outcome::unusable);
  EXPECT_EQ(ranges.add(marker(kEnd, 1, 4), &out), Outcome::complete);
  EXPECT_EQ(ranges.add(marker(kStart, 3, 5, "c"), &out), Outcome::opened);
}

}  // namespace
}  // namespace wicprof::collector
