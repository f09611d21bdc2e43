// The view model without a window.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <thread>

#include "gui/app/reclaimer.h"
#include "gui/tracks/list.h"
#include "gui/view/annotations.h"
#include "gui/view/area.h"
#include "gui/view/density.h"
#include "gui/view/edge_walk.h"
#include "gui/view/first_view.h"
#include "gui/view/layout.h"
#include "gui/view/mark_labels.h"
#include "gui/view/search.h"
#include "gui/view/segments.h"
#include "gui/view/site_table.h"
#include "gui/view/span_row.h"
#include "gui/view/timeline.h"
#include "gui/view/viewport.h"
#include "tests/analyzer/synthetic.h"
#include "tests/store/support.h"

namespace wicprof::gui {
namespace {

using analyzer::TraceModel;
namespace synthetic = analyzer::synthetic;

Span span(TimeNs begin, TimeNs end, State state = State::computing, std::uint32_t index = 0) {
  return {begin, end, {EventKind::kernel, index}, state};
}

SpanRow row_of_spans(const std::vector<Span>& spans) {
  SpanRow row;
  for (const Span& one : spans) row.add(one);
  row.finish();
  return row;
}

TraceModel handoffs() {
  TraceModel model = synthetic::empty_program();
  synthetic::add_handoff(model, {});
  analyzer::settle(model);
  return model;
}

Timeline with_edges(const TraceModel& model) {
  Timeline timeline = build_timeline(model, kTrackKinds);
  add_edges(timeline, model, analyzer::match(model));
  return timeline;
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

TEST(Timelines, HasATrackForEachSmAndFindsEveryWait) {
  const TraceModel model = handoffs();
  const Timeline timeline = with_edges(model);
  std::size_t sms = 0;
  for (const Track& track : timeline.tracks) sms += track.group == "SMs";
  EXPECT_EQ(sms, 4u);
  for (std::uint32_t i = 0; i < model.waits.size(); ++i) {
    const auto place = timeline.place_of({EventKind::wait, i});
    ASSERT_TRUE(place);
    EXPECT_EQ(timeline.tracks[place->track].key,
              "sm/" + std::to_string(model.waits[i].device) + "/" + std::to_string(model.waits[i].sm));
  }
  EXPECT_FALSE(timeline.place_of({EventKind::kernel, 0}));
}

TEST(Timelines, TheTimeOfAStripIsThatOfItsWaits) {
  const TraceModel model = handoffs();
  const Timeline timeline = build_timeline(model, kTrackKinds);
  double polled = 0, waited = 0;
  for (const Track& track : timeline.tracks) polled += track.density.time_in(State::polling, model.begin, model.end);
  for (const store::WaitRow& wait : model.waits) waited += static_cast<double>(wait.resumed - wait.arrived);
  EXPECT_NEAR(polled, waited, 1);
}

TEST(Timelines, ArrowsAreBoundedButThoseOfASelectionAreComplete) {
  const TraceModel model = handoffs();
  const Timeline timeline = with_edges(model);
  EXPECT_EQ(timeline.edges.size(), model.waits.size());
  EXPECT_LE(timeline.arrows(model, model.begin, model.end, 1'000, 20).size(), 20u);
  EXPECT_FALSE(timeline.arrows(model, model.begin, model.end, 1'000, 20).empty());
  EXPECT_EQ(timeline.edges_of(model, {EventKind::signal, 3}, 100).size(), 8u) << "a signal wakes its 8 waiters";
  EXPECT_EQ(timeline.edges_of(model, {EventKind::wait, 3}, 100).size(), 1u);
}

store::ThreadSampleRow thread_sample(std::uint32_t thread, const char* name, TimeNs begin, TimeNs cpu) {
  store::ThreadSampleRow row{};
  row.thread = thread;
  row.process = name == std::string("wic-prof") ? 99 : 100;
  row.name = std::string(name);
  row.begin = begin;
  row.end = begin + 100'000'000;
  row.cpu = cpu;
  return row;
}

TEST(Timelines, APlainProgramHasItsSampledThreads) {
  TraceModel model;
  model.processes.push_back({100, 1, "app3.11", "./app3.11", {}, {}, 0});
  for (TimeNs at = 0; at < 500'000'000; at += 100'000'000) {
    model.thread_samples.push_back(thread_sample(100, "app", at, 0));
    model.thread_samples.push_back(thread_sample(101, "app", at, 80'000'000));
    model.thread_samples.push_back(thread_sample(99, "wic-prof", at, 10'000'000));
  }
  model.begin = 0;
  model.end = 500'000'000;
  analyzer::settle(model);
  const Timeline timeline = build_timeline(model, kTrackKinds);
  ASSERT_EQ(timeline.tracks.size(), 2u) << "without the recorder's own thread";
  EXPECT_EQ(timeline.tracks[0].name, "main thread");
  EXPECT_EQ(timeline.tracks[1].name, "thread 101");
  ASSERT_EQ(timeline.tracks[1].rows.size(), 1u);
  EXPECT_EQ(timeline.tracks[1].rows[0].time_in(State::computing, 0, 500'000'000), 400'000'000);
  EXPECT_NE(title_of(model, timeline.tracks[1].rows[0].spans().front().ref).find("80.0 ms of 100 ms"),
            std::string::npos);
}

TEST(Timelines, TheOverviewWithoutStripsHasTheBusyStreams) {
  TraceModel model;
  store::KernelRow kernel{};
  kernel.name = std::string("step");
  kernel.stream = 7;
  for (const TimeNs at : {0, 600'000'000, 800'000'000}) {
    kernel.start = at;
    kernel.end = at + 200'000'000;
    model.kernels.push_back(kernel);
  }
  analyzer::settle(model);
  const Timeline timeline = build_timeline(model, kTrackKinds);
  const auto busy = [&](double part) {
    return timeline.overview[static_cast<std::size_t>(part * Timeline::kOverviewColumns)]
        .count[index_of(State::computing)];
  };
  EXPECT_NEAR(busy(0.1), 1, 1e-3);
  EXPECT_EQ(busy(0.4), 0);
  EXPECT_NEAR(busy(0.7), 1, 1e-3);
}

TEST(Timelines, ArrowsThatShareAPixelAreOneBundle) {
  const TraceModel model = handoffs();
  const Timeline timeline = with_edges(model);
  const auto all = timeline.arrows(model, model.begin, model.end + 1, 1, 1'000);
  std::size_t edges = 0;
  for (const EdgeArrow& arrow : all) edges += arrow.count;
  EXPECT_EQ(edges, timeline.edges.size()) << "a bundle stands for all of its edges";
  EXPECT_EQ(all.size(), 4u) << "in one column: one bundle from the signals to each of the four SMs";
  const EventRef signal{EventKind::signal, 3};
  const auto singles = timeline.edges_of(model, signal, 100);
  EXPECT_EQ(timeline.bundled(singles, model.begin, model.end, 1'000, 100).size(), 4u) << "two waiters share an SM";
}

store::KernelRow kernel_row(const std::string& name, std::uint32_t stream, TimeNs start, TimeNs end) {
  store::KernelRow row{};
  row.device = 0;
  row.name = name;
  row.stream = stream;
  row.start = start;
  row.end = end;
  row.process = 100;
  return row;
}

store::CallRow launch(std::uint32_t thread, std::uint32_t correlation, TimeNs start) {
  store::CallRow row{};
  row.name = std::string("cudaLaunchKernel");
  row.thread = thread;
  row.correlation = correlation;
  row.start = start;
  row.end = start + 1'000;
  row.process = 100;
  return row;
}

TEST(Timelines, WhatIsRarelyLookedAtIsFoldedAtTheEnd) {
  TraceModel model = synthetic::empty_program();
  synthetic::add_handoff(model, {});
  const TimeNs at = 1'000'000'000;
  model.processes.push_back({100, 1, "app", "./app", {}, {}, 0});
  const auto run = [&](const char* name, std::uint32_t stream, std::uint32_t thread, std::uint32_t correlation) {
    model.kernels.push_back(kernel_row(name, stream, at + correlation * 10'000, at + correlation * 10'000 + 5'000));
    model.kernels.back().correlation = correlation;
    model.calls.push_back(launch(thread, correlation, at + correlation * 10'000 - 2'000));
  };
  const char* clock = "wic::cuda::(anonymous namespace)::answer_pings(wic::cuda::ClockMailbox*, unsigned int)";
  for (std::uint32_t i = 1; i <= 3; ++i) run("void wic::detail::gpu_entry<app::Step>(app::Step)", 15, 100, i);
  for (std::uint32_t i = 4; i <= 6; ++i) run(clock, 14, 107, i);
  run("once(int)", 16, 101, 7);
  model.calls.push_back(launch(109, 99, at));
  for (const std::uint32_t thread : {110u, 111u, 100u}) {
    model.calls.push_back(launch(thread, 100, at));
    model.calls.back().name = std::string("cuDeviceGetAttribute");
  }
  model.calls.push_back(launch(111, 101, at + 2'000));
  model.calls.back().name = std::string("cudaMalloc");
  store::ThreadSampleRow sample{};
  sample.thread = 109;
  sample.process = 100;
  sample.name = std::string("wicprof-flush");
  model.thread_samples.push_back(sample);
  analyzer::settle(model);
  const Timeline timeline = build_timeline(model, kTrackKinds);
  std::map<std::string, const Track*> tracks;
  bool folded = false;
  for (const Track& track : timeline.tracks) {
    tracks[track.key] = &track;
    EXPECT_LE(folded, track.folded) << track.key << " comes after a folded track";
    folded = track.folded;
    EXPECT_EQ(track.group == kFoldedGroup, track.folded);
  }
  for (const char* key :
       {"stream/100/0/0/14", "stream/100/0/0/16", "thread/100/107", "thread/100/109", "thread/100/110"})
    EXPECT_TRUE(tracks.at(key)->folded) << key;
  for (const char* key : {"stream/100/0/0/15", "thread/100/100", "thread/100/101", "thread/100/111"})
    EXPECT_FALSE(tracks.at(key)->folded) << key;
  EXPECT_EQ(tracks.at("thread/100/100")->name, "main thread");
  EXPECT_EQ(tracks.at("thread/100/109")->name, "wicprof-flush (thread 109)");
  for (std::uint32_t i = 0; i < model.kernels.size(); ++i) {
    if (model.kernels[i].stream != 15) continue;
    EXPECT_EQ(title_of(model, {EventKind::kernel, i}), "app::Step");
  }
}

double share_of_waits(const TraceModel& model, const Stretch& shown) {
  std::size_t inside = 0;
  for (const store::WaitRow& wait : model.waits) inside += wait.arrived >= shown.begin && wait.resumed <= shown.end;
  return static_cast<double>(inside) / static_cast<double>(model.waits.size());
}

TEST(FirstViews, BeginWhereWaitsAndKernelsAre) {
  TraceModel model = synthetic::empty_program();
  const TimeNs second = kSecond;
  const TimeNs end = synthetic::add_handoff(model, {});  // 50 ms, from 1 s on
  for (const TimeNs at : {TimeNs{0}, 10 * second}) {
    store::CopyRow copy{};
    copy.start = at;
    copy.end = at + 1'000;
    model.copies.push_back(copy);
  }
  analyzer::settle(model);
  const Stretch shown = first_view(build_timeline(model, kTrackKinds));
  EXPECT_GE(share_of_waits(model, shown), 0.97);
  EXPECT_LT(shown.end - shown.begin, 2 * (end - second)) << "of a trace of ten seconds";
  // Kernels beside the waits belong to the view, one at start-up does not.
  for (int i = 0; i < 100; ++i)
    model.kernels.push_back(kernel_row("step", 7, second + i * 2'000'000, second + i * 2'000'000 + 1'000'000));
  model.kernels.push_back(kernel_row("set_up", 7, 1'000, 2'000));
  analyzer::settle(model);
  const Stretch with_kernels = first_view(build_timeline(model, kTrackKinds));
  EXPECT_GE(with_kernels.begin, second - 20'000'000);
  EXPECT_GE(with_kernels.end, second + 195'000'000);
  EXPECT_LT(with_kernels.end, second + 250'000'000);
}

TEST(FirstViews, ShowTheWholeTraceWhereThatIsNearlyIt) {
  const TraceModel model = handoffs();
  const Timeline timeline = build_timeline(model, kTrackKinds);
  const Stretch shown = first_view(timeline);
  EXPECT_EQ(shown.begin, timeline.begin);
  EXPECT_EQ(shown.end, timeline.end);
  TraceModel idle = synthetic::empty_program();
  analyzer::settle(idle);
  const Timeline nothing = build_timeline(idle, kTrackKinds);
  EXPECT_EQ(first_view(nothing).begin, nothing.begin);
}

TEST(FirstViews, BeginWithHostWaitsWhereNothingElseWaits) {
  TraceModel model = synthetic::empty_program();
  for (const TimeNs at : {TimeNs{0}, 10 * kSecond}) {
    store::CopyRow copy{};
    copy.start = at;
    copy.end = at + 1'000;
    model.copies.push_back(copy);
  }
  for (int i = 0; i < 20; ++i) {
    store::HostWaitRow wait{};
    wait.call = std::string("cudaStreamSynchronize");
    wait.begin = 5 * kSecond + i * 1'000'000;
    wait.end = wait.begin + 500'000;
    model.host_waits.push_back(wait);
  }
  analyzer::settle(model);
  const Stretch shown = first_view(build_timeline(model, kTrackKinds));
  EXPECT_LE(shown.begin, 5 * kSecond);
  EXPECT_GE(shown.begin, 5 * kSecond - 10'000'000);
  EXPECT_GE(shown.end, 5 * kSecond + 19'500'000);
  EXPECT_LT(shown.end, 5 * kSecond + 40'000'000);
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

TEST(EdgeWalks, GoesFromAWaitToItsSignalAndBack) {
  const TraceModel model = handoffs();
  const Timeline timeline = with_edges(model);
  const EventRef wait{EventKind::wait, 40};
  const auto signal = step_back(model, timeline, wait);
  ASSERT_TRUE(signal);
  EXPECT_EQ(signal->kind, EventKind::signal);
  EXPECT_EQ(model.signals[signal->index].iteration, model.waits[40].iteration);
  const auto woken = step_on(model, timeline, *signal);
  ASSERT_TRUE(woken);
  EXPECT_EQ(model.waits[woken->index].iteration, model.waits[40].iteration);
  EXPECT_FALSE(step_back(model, timeline, {EventKind::kernel, 0}));
}

TEST(EdgeWalks, NeighboursAreInTheSameRow) {
  const TraceModel model = handoffs();
  const Timeline timeline = build_timeline(model, kTrackKinds);
  const EventRef wait{EventKind::wait, 0};
  const auto next = neighbour(timeline, wait, 1);
  ASSERT_TRUE(next);
  EXPECT_EQ(timeline.place_of(*next)->row, timeline.place_of(wait)->row);
  EXPECT_GE(model.waits[next->index].arrived, model.waits[0].resumed);
  EXPECT_EQ(neighbour(timeline, *next, -1), wait);
  EXPECT_FALSE(neighbour(timeline, wait, -1));
}

TEST(Layouts, PinnedTracksComeFirstAndClosedGroupsShowOnlyTheirHeading) {
  const TraceModel model = handoffs();
  const Timeline timeline = build_timeline(model, kTrackKinds);
  const Layout plain = lay_out(timeline, {}, {}, {}, {});
  EXPECT_EQ(plain.pinned_height, 0);
  const std::string key = timeline.tracks.back().key;
  const Layout pinned = lay_out(timeline, {}, {key}, {}, {});
  EXPECT_GT(pinned.pinned_height, 0);
  EXPECT_EQ(timeline.tracks[pinned.list[1].track].key, key);
  std::size_t shown = 0;
  for (const PlacedTrack& place : pinned.list) shown += place.heading.empty();
  EXPECT_EQ(shown, timeline.tracks.size()) << "every track once";
  const Layout opened = lay_out(timeline, {key}, {}, {}, {});
  EXPECT_GT(opened.height, plain.height);
  const Layout closed = lay_out(timeline, {}, {}, {"SMs"}, {});
  EXPECT_LT(closed.list.size(), plain.list.size());
  float below = 0;
  for (const PlacedTrack& place : opened.list) {
    EXPECT_GE(place.top, below);
    below = place.top + place.height;
  }
}

TEST(Searches, IgnoresCase) {
  TraceModel model = handoffs();
  const std::string name = model.sites.front().name;
  EXPECT_EQ(search(model, name).total, model.waits.size() + model.signals.size());
  std::string upper = name;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(search(model, upper).total, search(model, name).total);
  EXPECT_EQ(search(model, "no such name").total, 0u);
  EXPECT_EQ(search(model, "").total, 0u);
  const auto hits = search(model, name).hits;
  for (std::size_t i = 1; i < hits.size(); ++i) EXPECT_LE(hits[i - 1].begin, hits[i].begin);
}

TEST(Areas, SumsTheEventsInside) {
  const TraceModel model = handoffs();
  const Timeline timeline = build_timeline(model, kTrackKinds);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < timeline.tracks.size(); ++i) all.push_back(i);
  const Area area = sum_up(model, timeline, model.begin, model.end + 1, all);
  EXPECT_EQ(area.events, model.waits.size() + model.signals.size());
  ASSERT_FALSE(area.sums.empty());
  EXPECT_EQ(area.sums.front().state, State::polling);
  const TimeNs middle = (model.begin + model.end) / 2;
  double parts = 0;
  for (const auto& [from, to] : {std::pair{model.begin, middle}, std::pair{middle, model.end + 1}}) {
    const Area half = sum_up(model, timeline, from, to, all);
    for (const AreaSum& sum : half.sums) parts += sum.state == State::polling ? sum.time_ns : 0;
  }
  EXPECT_NEAR(parts, area.sums.front().time_ns, 1);
  EXPECT_TRUE(sum_up(model, timeline, model.begin, model.end, {}).sums.empty());
}

TEST(Areas, HaveATablePerSiteAndWay) {
  TraceModel model = synthetic::empty_program();
  synthetic::Handoff polled;
  synthetic::Handoff parked;
  parked.strategy = StrategyId::shared_watch;
  parked.first_iteration = 50;
  parked.start = synthetic::add_handoff(model, polled);
  const TimeNs end = synthetic::add_handoff(model, parked);
  analyzer::settle(model);
  const Timeline timeline = with_edges(model);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < timeline.tracks.size(); ++i) all.push_back(i);
  const Area whole = sum_up(model, timeline, model.begin, end, all);
  ASSERT_EQ(whole.sites.size(), 2u) << "one site, waited at in two ways";
  for (const AreaSite& site : whole.sites) {
    EXPECT_EQ(site.name, "flag");
    EXPECT_EQ(site.waits, 400u);
    ASSERT_TRUE(site.wake_p50_ns);
    EXPECT_EQ(*site.wake_p50_ns, polled.wake_latency);
  }
  TimeNs waited = 0;
  for (const store::WaitRow& wait : model.waits) waited += wait.resumed - wait.arrived;
  EXPECT_EQ(whole.sites[0].waiting_ns + whole.sites[1].waiting_ns, waited);
  const Area first = sum_up(model, timeline, model.begin, parked.start, all);
  ASSERT_EQ(first.sites.size(), 1u);
  EXPECT_EQ(first.sites[0].way, State::polling);
  EXPECT_TRUE(sum_up(model, timeline, model.begin, end, {}).sites.empty()) << "only the chosen tracks count";
}

TEST(Sites, SortsByAnyColumnInBothDirections) {
  TraceModel model = synthetic::empty_program();
  synthetic::declare_site(model, 2, "second", WordMemory::device);
  synthetic::add_handoff(model, {});
  synthetic::Handoff other;
  other.site = 2;
  other.iterations = 10;
  other.polls = 5'000;
  synthetic::add_handoff(model, other);
  analyzer::settle(model);
  const analyzer::Analysis analysis = analyzer::analyze(model);
  const auto first = [&](SiteColumn by, bool down) { return site_table(analysis, by, down).front().site; };
  EXPECT_EQ(first(SiteColumn::count, true), 1u);
  EXPECT_EQ(first(SiteColumn::count, false), 2u);
  EXPECT_EQ(first(SiteColumn::polls, true), 2u);
  EXPECT_EQ(first(SiteColumn::name, true), 1u + (model.site_name(1) < model.site_name(2)));
}

TEST(Sites, EveryWaitIsInTheHistogramOnce) {
  const TraceModel model = handoffs();
  analyzer::WaitFilter filter;
  filter.site = 1;
  const analyzer::WaitHistogram histogram = analyzer::wait_distribution(model, filter).histogram;
  std::uint64_t count = histogram.instant;
  TimeNs end = 0;
  for (const analyzer::WaitHistogram::Bin& bin : histogram.bins) {
    count += bin.count();
    EXPECT_TRUE(end == 0 || bin.begin == end) << "without gaps";
    end = bin.end;
    EXPECT_LE(bin.count(), histogram.most);
  }
  EXPECT_EQ(count, model.waits.size());
  for (const store::WaitRow& wait : model.waits) {
    const TimeNs took = wait.resumed - wait.arrived;
    EXPECT_GE(took, histogram.bins.front().begin);
    EXPECT_LT(took, histogram.bins.back().end);
  }
}

TEST(Segments, GivesTheEffectOfAChange) {
  synthetic::Phases phases;
  phases.period = [](Mode mode, std::size_t i) {
    return (mode == Mode::poll ? 3'000'000 : 500'000) + static_cast<TimeNs>(i % 7) * 1'000;
  };
  const TraceModel model = synthetic::phased_program(phases);
  const BeforeAfter values = before_after(model, analyzer::compare(model));
  ASSERT_TRUE(values.before && values.after);
  EXPECT_EQ(values.before->mode, Mode::poll);
  EXPECT_EQ(values.after->mode, Mode::park);
  EXPECT_EQ(values.verdict, analyzer::Verdict::improvement);
  ASSERT_TRUE(values.speedup);
  EXPECT_NEAR(values.speedup->value, 6, 0.1);
  const auto list = differences(*values.before, *values.after, 0.02);
  ASSERT_FALSE(list.empty());
  EXPECT_TRUE(list.front().better);
  EXPECT_FALSE(list.front().worse);
}

TEST(AnnotationFiles, SurviveSavingAndRefuseInvalidFiles) {
  const store::TempFolder folder;
  const std::string path = annotations_path(folder / "t.wicprof");
  EXPECT_TRUE(load_annotations(path)) << "a missing file means no annotations";
  Annotations annotations;
  annotations.marks = {{5, "a \"mark\""}, {900, "later"}};
  annotations.pinned = {"sm/0/3"};
  annotations.dark = true;
  ASSERT_TRUE(save_annotations(path, annotations));
  const Result<Annotations> back = load_annotations(path);
  ASSERT_TRUE(back);
  ASSERT_EQ(back->marks.size(), 2u);
  EXPECT_EQ(back->marks[0].text, "a \"mark\"");
  EXPECT_EQ(back->pinned, annotations.pinned);
  EXPECT_TRUE(back->dark);
  for (const char* nonsense : {"", "[]", "{\"marks\": [7]}", "{\"marks\": 7}", "not json"}) {
    std::ofstream(path) << nonsense;
    EXPECT_FALSE(load_annotations(path)) << nonsense;
  }
  EXPECT_FALSE(save_annotations(folder / "no/such/folder.json", annotations));
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

/// Reports the thread that frees it.
struct Freed {
  std::promise<std::thread::id>& by;
  ~Freed() { by.set_value(std::this_thread::get_id()); }
};

TEST(ReclaimerThread, FreesOnItsThread) {
  Reclaimer reclaimer;
  std::promise<std::thread::id> freed;
  reclaimer.take(std::make_shared<const Freed>(freed));
  EXPECT_NE(freed.get_future().get(), std::this_thread::get_id());
}

TEST(ReclaimerThread, FreesEverything) {
  const auto held = std::make_shared<const int>(1);
  {
    Reclaimer reclaimer;
    for (int i = 0; i < 100; ++i) reclaimer.take(held);
  }
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace wicprof::gui
