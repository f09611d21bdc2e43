// The tracks of a timeline, their arrangement, the first view, and steps along wake edges.
#include <gtest/gtest.h>

#include <map>

#include "gui/view/edge_walk.h"
#include "gui/view/first_view.h"
#include "gui/view/layout.h"
#include "gui/view/nothing.h"
#include "gui/view/sampled_polling.h"
#include "gui/view/timeline.h"
#include "tests/analyzer/sampled_program.h"
#include "tests/gui/handoffs.h"

namespace wicprof::gui {
namespace {

using analyzer::TraceModel;
namespace synthetic = analyzer::synthetic;

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

TEST(Timelines, ReadingsOfPowerClockAndTemperatureAreTracks) {
  TraceModel model = handoffs();
  const TimeNs at = model.begin;
  model.energy = {{1, "GPU 0", at, 0}, {2, "GPU 0", at + 100, 2}, {3, "GPU 0", at + 200, 3}};  // 20 and 10 W
  for (std::uint64_t i = 0; i < 3; ++i) {
    store::DeviceStateRow state{};
    state.uuid = std::string("GPU-1");
    state.at = at + static_cast<TimeNs>(i) * 100;
    state.sm_clock_mhz = i == 0 ? 1'980 : 1'200;
    model.device_states.push_back(state);  // without a temperature
  }
  const Timeline timeline = build_timeline(model, kTrackKinds);
  std::vector<const Track*> tracks;
  for (const Track& track : timeline.tracks) {
    if (track.has_readings()) tracks.push_back(&track);
  }
  ASSERT_EQ(tracks.size(), 2u);
  EXPECT_EQ(tracks[0]->key, "power/GPU 0");
  EXPECT_EQ(tracks[0]->readings.most(), 20u);
  EXPECT_NEAR(tracks[0]->readings.time_in(State::computing, at, at + 200) / 200, 15, 1e-6);
  EXPECT_EQ(tracks[1]->key, "clock/GPU-1");
  EXPECT_EQ(tracks[1]->unit, "MHz");
  EXPECT_NEAR(tracks[1]->readings.time_in(State::computing, at, at + 200) / 200, 1'590, 1e-6);
  const Layout layout = lay_out(timeline, {}, {}, {}, {});
  for (const PlacedTrack& place : layout.list) {
    if (place.heading.empty() && timeline.tracks[place.track].has_readings()) {
      EXPECT_EQ(place.height, TrackSizes().readings);
    }
  }
  // They are no waiting warps.
  model.energy.clear();
  model.device_states.clear();
  EXPECT_EQ(build_timeline(model, kTrackKinds).overview.front().total(), timeline.overview.front().total());
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
    model.kernels.edit_back()->correlation = correlation;
    model.calls.push_back(launch(thread, correlation, at + correlation * 10'000 - 2'000));
  };
  const char* clock = "wic::cuda::(anonymous namespace)::answer_pings(wic::cuda::ClockMailbox*, unsigned int)";
  for (std::uint32_t i = 1; i <= 3; ++i) run("void wic::detail::gpu_entry<app::Step>(app::Step)", 15, 100, i);
  for (std::uint32_t i = 4; i <= 6; ++i) run(clock, 14, 107, i);
  run("once(int)", 16, 101, 7);
  model.calls.push_back(launch(109, 99, at));
  for (const std::uint32_t thread : {110u, 111u, 100u}) {
    model.calls.push_back(launch(thread, 100, at));
    model.calls.edit_back()->name = std::string("cuDeviceGetAttribute");
  }
  model.calls.push_back(launch(111, 101, at + 2'000));
  model.calls.edit_back()->name = std::string("cudaMalloc");
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

TEST(SampledPolling, ABarIsPollingAsFarAsItsSamplesAre) {
  TraceModel model = synthetic::polling_program();
  model.waits.clear();
  const std::vector<analyzer::PollingLoop> loops = analyzer::analyze(model).polling_loops;
  ASSERT_EQ(loops.size(), 1u);
  // 990 samples in the loop and 2,000 at the barrier behind it, of 3,005.
  const auto polling = analyzer::polling_of_kernel(loops, 0, "poll");
  ASSERT_TRUE(polling);
  EXPECT_NEAR(polling->share, 2'990.0 / 3'005, 0.01);
  EXPECT_NEAR(polling->behind, 2'000.0 / 3'005, 0.01);
  EXPECT_NE(analyzer::polling_text(*polling).find("poll.cu:7"), std::string::npos);
  EXPECT_FALSE(analyzer::polling_of_kernel(loops, 0, "stream"));
  EXPECT_FALSE(analyzer::polling_of_kernel(loops, 1, "poll")) << "samples of another device";

  Timeline timeline = build_timeline(model, kTrackKinds);
  add_polling(timeline, model, loops);
  for (const std::uint32_t columns : {1u, 1'000u}) {  // one column for all, and single kernels
    for (const Track& track : timeline.tracks) {
      for (const SpanRow& row : track.rows) {
        for (const DrawnSpan& span : row.draw(0, 4'000'000'000, columns)) {
          if (span.ref.kind != EventKind::kernel) continue;
          EXPECT_NEAR(span.polling, span.ref.index == 0 ? polling->share : 0, 1e-6) << columns;
        }
        for (const Span& span : row.spans())
          EXPECT_NEAR(row.polling_in(span.begin + 1'000, span.end),
                      span.ref.index == 0 ? polling->share * static_cast<double>(span.end - span.begin - 1'000) : 0, 1);
      }
    }
  }
}

TEST(SampledPolling, TheOverviewShowsTheSameShare) {
  TraceModel model = synthetic::polling_program();
  model.waits.clear();
  const std::vector<analyzer::PollingLoop> loops = analyzer::analyze(model).polling_loops;
  Timeline timeline = build_timeline(model, kTrackKinds);
  const auto sum_of = [&](const auto& part) {
    double sum = 0;
    for (std::size_t i = 0; i < Timeline::kOverviewColumns; ++i) sum += part(i);
    return sum;
  };
  const auto polling = [&](std::size_t i) { return timeline.overview_polling[i]; };
  EXPECT_EQ(sum_of(polling), 0) << "before the samples are analysed";
  add_polling(timeline, model, loops);
  double polled = 0, computed = 0;
  for (const store::KernelRow& kernel : model.kernels) {
    const auto time = static_cast<double>(kernel.end - kernel.start);
    const auto share = analyzer::polling_of_kernel(loops, kernel.device, kernel.name);
    computed += time;
    polled += share ? time * share->share : 0;
  }
  ASSERT_GT(polled, 0);
  const double shown = sum_of([&](std::size_t i) { return timeline.overview[i].count[index_of(State::computing)]; });
  EXPECT_NEAR(sum_of(polling) / shown, polled / computed, 0.01);
}

TEST(SampledPolling, APictureWithSamplesDoesNotAskForThem) {
  const TraceModel model = synthetic::polling_program();
  const auto told = no_strips(model, analyzer::analyze(model), false);
  ASSERT_TRUE(told);
  EXPECT_NE(told->reason.find("poll polls in 99.8 % of its samples, at poll.cu:7"), std::string::npos) << told->reason;
  EXPECT_EQ(told->command.find("pcsampling"), std::string::npos);
  analyzer::Analysis computing;
  computing.stalls.functions.emplace_back();
  EXPECT_FALSE(no_strips(model, computing, false)) << "the samples say that no kernel polls";
}

}  // namespace
}  // namespace wicprof::gui
