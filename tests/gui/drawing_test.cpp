// What a row, a strip and a label draw, and the window of time.
#include <gtest/gtest.h>

#include "gui/view/density.h"
#include "gui/view/mark_labels.h"
#include "gui/view/span_row.h"
#include "gui/view/viewport.h"

namespace wicprof::gui {
namespace {

Span span(TimeNs begin, TimeNs end, State state = State::computing, std::uint32_t index = 0) {
  return {begin, end, {EventKind::kernel, index}, state};
}

SpanRow row_of_spans(const std::vector<Span>& spans) {
  SpanRow row;
  for (const Span& one : spans) row.add(one);
  row.finish();
  return row;
}

TEST(SpanRows, DrawsWideSpansSingly) {
  const SpanRow row =
      row_of_spans({span(0, 100), span(150, 300, State::transferring, 1), span(400, 500, State::computing, 2)});
  const auto drawn = row.draw(0, 500, 50);
  ASSERT_EQ(drawn.size(), 3u);
  EXPECT_EQ(drawn[1].begin, 150);
  EXPECT_EQ(drawn[1].end, 300);
  EXPECT_EQ(drawn[1].state, State::transferring);
  EXPECT_EQ(drawn[1].ref.index, 1u);
}

TEST(SpanRows, DrawsAtMostOneSpanPerColumn) {
  std::vector<Span> spans;
  for (TimeNs i = 0; i < 100'000; ++i) spans.push_back(span(i * 10, i * 10 + 5));
  const SpanRow row = row_of_spans(spans);
  for (const TimeNs width : {1'000'000, 100'000, 7'777, 1'000}) {
    const auto drawn = row.draw(0, width, 200);
    EXPECT_LE(drawn.size(), 400u) << width;
    std::size_t count = 0;
    for (const DrawnSpan& one : drawn) count += one.count;
    EXPECT_EQ(count, row.count_in(0, width)) << "every span is drawn once, at width " << width;
  }
}

TEST(SpanRows, GivesTheFilledPartOfAColumn) {
  std::vector<Span> spans;
  for (TimeNs i = 0; i < 1'000; ++i)
    spans.push_back(span(i * 10, i * 10 + (i % 2 == 0 ? 6 : 2), i % 2 == 0 ? State::polling : State::parked));
  for (const DrawnSpan& one : row_of_spans(spans).draw(0, 10'000, 10)) {
    EXPECT_NEAR(one.fill, 0.4f, 0.01f);
    EXPECT_EQ(one.state, State::polling) << "the state with the most time";
  }
}

TEST(SpanRows, ALongSpanAfterShortOnesIsDrawn) {
  const SpanRow row = row_of_spans({span(0, 1), span(2, 3), span(5, 900, State::polling, 2)});
  const auto drawn = row.draw(0, 1'000, 10);
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_EQ(drawn[0].count, 2u);
  EXPECT_EQ(drawn[1].ref.index, 2u);
  EXPECT_EQ(drawn[1].end, 900);
}

TEST(SpanRows, FindsSpansAndTimeInAState) {
  const SpanRow row =
      row_of_spans({span(0, 100), span(200, 300, State::polling, 1), span(500, 500, State::computing, 2)});
  ASSERT_NE(row.at(250), nullptr);
  EXPECT_EQ(row.at(250)->ref.index, 1u);
  EXPECT_EQ(row.at(150), nullptr);
  ASSERT_NE(row.at(495, 10), nullptr) << "a span without length, nearby";
  EXPECT_EQ(row.at(495, 10)->ref.index, 2u);
  EXPECT_EQ(row.time_in(State::polling, 0, 1'000), 100);
  EXPECT_EQ(row.time_in(State::polling, 250, 1'000), 50) << "clipped at its begin";
  EXPECT_EQ(row.time_in(State::polling, 0, 220), 20) << "clipped at its end";
  EXPECT_EQ(row.time_in(State::polling, 220, 230), 10) << "clipped at both";
  EXPECT_EQ(row.time_in(State::parked, 0, 1'000), 0);
}

TEST(SpanRows, PackingNestsAndKeepsEverySpan) {
  const auto rows =
      pack({span(0, 100, State::computing, 0), span(10, 50, State::computing, 1), span(20, 30, State::computing, 2),
            span(60, 90, State::computing, 3), span(100, 120, State::computing, 4)});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].spans().size(), 2u);
  EXPECT_EQ(rows[1].spans().size(), 2u);
  EXPECT_EQ(rows[2].spans().size(), 1u);
}

TEST(Densities, IsExactAtEveryZoom) {
  Density density;
  density.add(State::polling, 0, 1'000);
  density.add(State::polling, 500, 1'500);
  density.add(State::parked, 1'500, 2'000);
  density.finish();
  EXPECT_EQ(density.most(), 2u);
  const auto coarse = density.draw(0, 2'000, 2);
  EXPECT_NEAR(coarse[0].count[index_of(State::polling)], 1.5f, 1e-6);
  EXPECT_NEAR(coarse[1].count[index_of(State::polling)], 0.5f, 1e-6);
  EXPECT_NEAR(coarse[1].count[index_of(State::parked)], 0.5f, 1e-6);
  const auto fine = density.draw(990, 1'010, 20);
  EXPECT_NEAR(fine[5].count[index_of(State::polling)], 2.0f, 1e-6);
  EXPECT_NEAR(fine[15].count[index_of(State::polling)], 1.0f, 1e-6);
  for (const std::uint32_t columns : {1u, 3u, 64u, 4'000u}) {  // the sum over columns is the same, however many
    double sum = 0;
    for (const DensityColumn& column : density.draw(0, 2'000, columns))
      sum += column.count[index_of(State::polling)] * 2'000 / columns;
    EXPECT_NEAR(sum, 2'000, 1) << columns;
  }
  EXPECT_NEAR(density.time_in(State::polling, 250, 750), 750, 1e-6);
  EXPECT_NEAR(density.time_in(State::polling, -100, 5'000), 2'000, 1e-6);
}

TEST(Densities, AWarpThatLeavesAsAnotherArrivesCountsOnce) {
  Density density;
  for (TimeNs i = 0; i < 10; ++i) density.add(State::polling, i * 10, i * 10 + 10);
  density.finish();
  EXPECT_EQ(density.most(), 1u);
}

TEST(Viewports, ZoomsAroundAPointAndStaysInside) {
  Viewport window;
  window.set_extent(1'000, 101'000);
  window.show_all();
  window.zoom(2, 0.25);
  EXPECT_EQ(window.width(), 50'000);
  EXPECT_EQ(window.time_at(0.25), 26'000) << "the time under the point does not move";
  window.pan(-10);
  EXPECT_EQ(window.begin(), 1'000);
  window.zoom(1e-9);
  EXPECT_TRUE(window.shows_all());
  window.zoom(1e12);
  EXPECT_EQ(window.width(), Viewport::kNarrowest);
  window.focus(50'000, 51'000);
  EXPECT_EQ(window.begin(), 49'000);
  EXPECT_EQ(window.end(), 52'000);
  window.show_all();
  window.focus(50'000, 50'200);
  EXPECT_EQ(window.width(), 600) << "from any distance";
  window.show(10'000, 60'000);
  window.focus(50'000, 50'000);
  EXPECT_EQ(window.width(), 1'500) << "a point has no width";
}

TEST(Viewports, FollowsAGrowingEnd) {
  Viewport window;
  window.set_extent(0, 10'000);
  window.show_all();
  window.follow(true);
  window.show(8'000, 10'000);
  window.set_extent(0, 50'000);
  EXPECT_EQ(window.begin(), 48'000);
  EXPECT_EQ(window.end(), 50'000);
  window.follow(false);
  window.set_extent(0, 60'000);
  EXPECT_EQ(window.end(), 50'000);
}

TEST(Densities, AllWaitingWarpsHaveTheColourOfTheMode) {
  DensityColumn column;
  column.count[index_of(State::polling)] = 1;
  column.count[index_of(State::at_barrier)] = 31;
  column.count[index_of(State::computing)] = 4;
  const DensityColumn polled = by_mode(column);
  EXPECT_EQ(polled.count[index_of(State::polling)], 32);
  EXPECT_EQ(polled.count[index_of(State::at_barrier)], 0);
  EXPECT_EQ(polled.count[index_of(State::computing)], 4);
  EXPECT_EQ(polled.total(), column.total());
  column.count[index_of(State::parked)] = 3;  // a change of mode within the column
  const DensityColumn both = by_mode(column);
  EXPECT_FLOAT_EQ(both.count[index_of(State::polling)], 1 + 31.f / 4);
  EXPECT_FLOAT_EQ(both.count[index_of(State::parked)], 3 + 31.f * 3 / 4);
  EXPECT_FLOAT_EQ(both.total(), column.total());
  DensityColumn unknown;
  unknown.count[index_of(State::at_barrier)] = 2;
  EXPECT_EQ(by_mode(unknown).count[index_of(State::at_barrier)], 2);
}

TEST(SpanRows, MarksThatWouldCoverEachOtherAreADensity) {
  std::vector<Span> apart, dense;
  for (int i = 0; i < 10; ++i) apart.push_back({i * 100, i * 100, {EventKind::signal, 0}, State::signalling});
  for (int i = 0; i < 1'000; ++i) dense.push_back({i, i, {EventKind::signal, 0}, State::signalling});
  EXPECT_FALSE(is_density(row_of_spans(apart).draw(0, 1'000, 1'000), 100));
  const auto drawn = row_of_spans(dense).draw(0, 1'000, 100);
  EXPECT_TRUE(is_density(drawn, 100));
  double events = 0;
  for (const DrawnSpan& one : drawn) events += one.events;
  EXPECT_EQ(events, 1'000) << "the heights sum up all signals";
}

TEST(MarkLabels, OverlapNeitherEachOtherNorALine) {
  // Two near each other, one distant, one at the end: the first and the last move to the left of their lines.
  const std::vector<MarkLabel> labels{{100, 60}, {110, 30}, {300, 60}, {390, 30}};
  const auto places = place_labels(labels, 0, 400);
  EXPECT_EQ(places, (std::vector<std::optional<float>>{40, 110, 300, 360}));
}

TEST(MarkLabels, AreLeftOutWithoutSpace) {
  const auto places = place_labels({{5, 60}, {10, 60}, {15, 60}}, 0, 400);
  EXPECT_EQ(places, (std::vector<std::optional<float>>{std::nullopt, std::nullopt, 15}));
  EXPECT_EQ(place_labels({{20, 60}}, 0, 50), (std::vector<std::optional<float>>{std::nullopt}));
  EXPECT_TRUE(place_labels({}, 0, 50).empty());
}

}  // namespace
}  // namespace wicprof::gui
