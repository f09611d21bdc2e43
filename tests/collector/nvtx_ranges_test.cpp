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

TEST(NvtxRanges, JoinsStartAndEndById) {
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
  ASSERT_EQ(ranges.add(marker(kMark, 1, 77, "here"), &out), Outcome::mark);
  const auto marks = ranges.take_marks();
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(marks[0].kind, NvtxKind::mark);
  EXPECT_EQ(marks[0].name, "here");
  EXPECT_EQ(marks[0].start, 77);
  EXPECT_EQ(marks[0].end, 77);
  EXPECT_FALSE(marks[0].has_colour);
  EXPECT_TRUE(ranges.take_marks().empty());
}

MarkerDataRecord attributes(std::uint32_t id, std::uint32_t colour, std::uint32_t category, bool coloured = true) {
  MarkerDataRecord record{};
  record.kind = CUPTI_ACTIVITY_KIND_MARKER_DATA;
  record.flags = coloured ? CUPTI_ACTIVITY_FLAG_MARKER_COLOR_ARGB : CUPTI_ACTIVITY_FLAG_MARKER_COLOR_NONE;
  record.id = id;
  record.color = colour;
  record.category = category;
  return record;
}

TEST(NvtxRanges, ColourAndCategoryMayPrecedeOrFollowTheMarker) {
  NvtxRanges ranges;
  NamedRange out;
  ranges.add(marker(kStart, 1, 100, "after"), &out);
  ranges.add(attributes(1, 0xff00ff00, 5));
  ranges.add(attributes(2, 0xffff0000, 6));
  ranges.add(marker(kStart, 2, 110, "before"), &out);
  ranges.add(marker(kMark, 3, 120, "mark, after"), &out);
  ranges.add(attributes(3, 0, 7, false));
  ranges.add(attributes(4, 0xff0000ff, 0));
  ranges.add(marker(kMark, 4, 130, "mark, before"), &out);
  ASSERT_EQ(ranges.add(marker(kEnd, 1, 200), &out), Outcome::complete);
  const NvtxEvent event = out.event(1, 0);
  EXPECT_EQ(event.has_colour, 1);
  EXPECT_EQ(event.colour, 0xff00ff00);
  EXPECT_EQ(event.category, 5u);
  ASSERT_EQ(ranges.add(marker(kEnd, 2, 210), &out), Outcome::complete);
  EXPECT_EQ(out.colour, 0xffff0000);
  EXPECT_EQ(out.category, 6u);
  const auto marks = ranges.take_marks();
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_FALSE(marks[0].has_colour);
  EXPECT_EQ(marks[0].category, 7u);
  EXPECT_TRUE(marks[1].has_colour);
  EXPECT_EQ(marks[1].colour, 0xff0000ff);
}

TEST(NvtxRanges, StoresFewColoursWithoutMarkers) {
  NvtxRanges ranges;
  NamedRange out;
  for (std::uint32_t id = 1; id < 100'000; ++id) ranges.add(attributes(id, id, id));
  ranges.add(attributes(100'000, 9, 9));
  ranges.add(marker(kStart, 100'000, 1, "r"), &out);
  ASSERT_EQ(ranges.add(marker(kEnd, 100'000, 2), &out), Outcome::complete);
  EXPECT_EQ(out.colour, 9u);
}

TEST(NvtxRanges, AMissingNameIsEmpty) {
  NvtxRanges ranges;
  NamedRange out;
  ranges.add(marker(kStart, 1, 5), &out);
  ASSERT_EQ(ranges.add(marker(kEnd, 1, 6), &out), Outcome::complete);
  EXPECT_EQ(out.name, "");
}

TEST(NvtxRanges, UnpairedMarkersAreUnusable) {
  NvtxRanges ranges;
  NamedRange out;
  EXPECT_EQ(ranges.add(marker(kEnd, 9, 10), &out), Outcome::unusable);
  EXPECT_EQ(ranges.add(marker(kStart, 9, 0, "untimed"), &out), Outcome::unusable);
  EXPECT_EQ(ranges.add(marker(0, 9, 10, "no flag"), &out), Outcome::unusable);
}

TEST(NvtxRanges, AnEndBeforeItsStartGivesAnEmptyRange) {
  NvtxRanges ranges;
  NamedRange out;
  ranges.add(marker(kStart, 1, 500, "r"), &out);
  ASSERT_EQ(ranges.add(marker(kEnd, 1, 400), &out), Outcome::complete);
  EXPECT_EQ(out.end, 500);
}

TEST(NvtxRanges, OpenRangesEndWithTheRecording) {
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

TEST(NvtxRanges, KeepsALimitedNumberOfOpenRanges) {
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
