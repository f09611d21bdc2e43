// Kernels, streams and the cost of recording, in synthetic programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "analyzer/analysis.h"
#include "devices.h"
#include "program.h"
#include "reports/json/answers.h"
#include "reports/text/answers.h"

namespace wicprof::analyzer {
namespace {

using namespace test_program;

TEST(Kernels, StatsOfOneNameDescribeTheShapeWithTheMostTime) {
  Program program;
  program.model.devices = {test_devices::h100()};
  for (int i = 0; i < 99; ++i) program.kernel("small", 1, {i * kMillisecond, i * kMillisecond + 1'000})->grid[0] = 1;
  {
    auto large = program.kernel("small", 1, {100 * kMillisecond, 110 * kMillisecond});
    large.grid[0] = 132 * 4 * 2 + 132;
    large.block[0] = 256;
    large.registers_per_thread = 64;
  }
  program.kernel("other", 1, {110 * kMillisecond, 111 * kMillisecond});
  const std::vector<KernelStats> stats = kernel_stats(program.settled());
  ASSERT_EQ(stats.size(), 2u);
  EXPECT_EQ(stats[0].name, "small");
  EXPECT_EQ(stats[0].count, 100u);
  EXPECT_EQ(stats[0].total_ns, 10 * kMillisecond + 99 * 1'000);
  EXPECT_EQ(stats[0].p50_ns, 1'000);
  EXPECT_EQ(stats[0].p99_ns, 1'000);
  EXPECT_EQ(stats[0].max_ns, 10 * kMillisecond);
  EXPECT_EQ(stats[0].shapes, 2u);
  ASSERT_TRUE(stats[0].occupancy);
  EXPECT_EQ(stats[0].occupancy->blocks_per_sm, 4u);
  EXPECT_EQ(stats[0].occupancy->limit, OccupancyLimit::registers);
  ASSERT_TRUE(stats[0].waves);
  EXPECT_DOUBLE_EQ(stats[0].waves->waves, 2.25);
  EXPECT_DOUBLE_EQ(stats[0].waves->last_wave_fill, 0.25);
  EXPECT_NEAR(stats[0].share, 10.099 / 111, 1e-9);
}

TEST(Kernels, TheRuntimesOwnAreNotTheProgramsKernels) {
  Program program;
  program.kernel("wic::cuda::(anonymous namespace)::answer_pings(wic::cuda::ClockMailbox*, unsigned int)", 1,
                 {0, kMillisecond});
  program.kernel("void wic::detail::gpu_entry<app::Step>(app::Step)", 1, {kMillisecond, 2 * kMillisecond});
  const TraceModel& model = program.settled();
  const std::vector<KernelStats> stats = kernel_stats(model);
  ASSERT_EQ(stats.size(), 1u);
  EXPECT_NE(stats[0].name.find("app::Step"), std::string::npos);
  EXPECT_EQ(count_program_kernels(model), 1u);
}

TEST(Kernels, OccupancyUsesTheConfiguredSharedMemoryIfABlockFits) {
  Program program;
  program.model.devices = {test_devices::h100()};
  {
    auto kernel = program.kernel("k", 1, {0, kMillisecond});
    kernel.block[0] = 128;
    kernel.dynamic_shared_bytes = 7 * 1024;
    kernel.shared_executed_bytes = 32 * 1024;
  }
  EXPECT_EQ(kernel_stats(program.settled())[0].occupancy->blocks_per_sm, 4u);
  program.model.kernels.edit(0)->shared_executed_bytes = 1024;  // too small for a single block, so the record is wrong
  EXPECT_EQ(kernel_stats(program.settled())[0].occupancy->blocks_per_sm, 16u);
}

TEST(Kernels, HaveNoOccupancyOnAnUnknownDevice) {
  Program program;
  program.model.devices.clear();
  program.kernel("k", 1, {5, 5});
  program.kernel("k", 1, {9, 3});  // ends before its start
  const std::vector<KernelStats> stats = kernel_stats(program.settled());
  ASSERT_EQ(stats.size(), 1u);
  EXPECT_FALSE(stats[0].occupancy);
  EXPECT_FALSE(stats[0].waves);
  EXPECT_EQ(stats[0].total_ns, 0);
  EXPECT_TRUE(kernel_stats(TraceModel{}).empty());
}

TEST(OwnCost, CountsOurThreadsInTheProgramAndInTheTool) {
  Program program;
  program.model.processes = {{100, 1, "app", "app --fast", std::nullopt, std::nullopt, 0},
                             {200, 1, "wic-prof", "wic-prof run -- app", std::nullopt, std::nullopt, 0}};
  program.sample(1, "app", {0, 1000 * kMillisecond}, 990 * kMillisecond).process = 100;
  program.sample(2, "wicprof-flush", {0, 500 * kMillisecond}, 5 * kMillisecond).process = 100;
  program.sample(3, "drain", {0, 1000 * kMillisecond}, 15 * kMillisecond).process = 200;
  store::OverheadRow overhead;
  overhead.what = "CUPTI buffer flush";
  overhead.start = 10;
  overhead.end = 1'010;
  program.model.overheads = {overhead, overhead};
  const Analysis analysis = analyze(program.settled());
  EXPECT_EQ(analysis.own_cost.in_program_ns, 5 * kMillisecond);
  EXPECT_EQ(analysis.own_cost.in_tool_ns, 15 * kMillisecond);
  EXPECT_EQ(analysis.own_cost.threads, 2u);
  EXPECT_DOUBLE_EQ(analysis.own_cost.share, 0.02);
  ASSERT_EQ(analysis.own_cost.overheads.size(), 1u);
  EXPECT_EQ(analysis.own_cost.overheads[0].count, 2u);
  EXPECT_EQ(analysis.own_cost.overheads[0].total_ns, 2'000);
  EXPECT_NE(
      reports::analysis_text(program.model, analysis, {.verbose = true}).find("wic-prof itself: 20.0 ms of CPU time"),
      std::string::npos);
}

TEST(OwnCost, IsUnknownWithoutSamples) {
  Program program;
  const Analysis analysis = analyze(program.settled());
  EXPECT_FALSE(analysis.own_cost.sampled);
  EXPECT_EQ(reports::analysis_text(program.model, analysis, {.verbose = true}).find("wic-prof itself"),
            std::string::npos);
  const auto json = nlohmann::json::parse(reports::analysis_json(program.model, analysis));
  EXPECT_TRUE(json["own_cost"]["cpu_ns"].is_null());
}

// Stream 1 runs a kernel and records an event; stream 2 waits for the event before its own work.
struct TwoStreams : Program {
  TwoStreams() {
    launch("producer", 1, {1 * kMillisecond, 10 * kMillisecond}, 0);
    event(55, 1, 100'000, 10 * kMillisecond);
    launch("before", 2, {1 * kMillisecond, 3 * kMillisecond}, 200'000);
    stream_wait(2, 55, 300'000);
    launch("behind", 2, {10 * kMillisecond + 5'000, 12 * kMillisecond}, 400'000);
  }
};

TEST(StreamWaits, NamesWaiterAndSignallerAndMeasuresIdleTime) {
  TwoStreams program;
  const StreamWaitTable table = stream_waits(program.settled());
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.without_event, 0u);
  const StreamWaits& waits = table.rows[0];
  EXPECT_EQ(waits.waiter.stream, 2u);
  EXPECT_EQ(waits.signaller.stream, 1u);
  EXPECT_EQ(waits.behind, "producer");
  EXPECT_EQ(waits.count, 1u);
  EXPECT_EQ(waits.idle_ns, 7 * kMillisecond);  // from the end of "before" to the event
}

TEST(StreamWaits, AnEventWithoutATimeIsReachedAtItsKernelsEnd) {
  TwoStreams program;
  program.model.cuda_events[0].at.reset();
  EXPECT_EQ(stream_waits(program.settled()).rows.at(0).idle_ns, 7 * kMillisecond);
}

TEST(StreamWaits, ABusyStreamOrOneWithoutWorkIsNotIdle) {
  TwoStreams busy;
  busy.model.kernels.edit(1)->end = 11 * kMillisecond;
  EXPECT_EQ(stream_waits(busy.settled()).rows.at(0).idle_ns, 0);
  TwoStreams late;  // the later work was requested long after the event was reached
  late.model.calls.edit_all([&](auto& call) {
    if (call.start >= 400'000) call.start += 20 * kMillisecond, call.end += 20 * kMillisecond;
  });
  late.model.kernels.edit(2)->start += 20 * kMillisecond;
  late.model.kernels.edit(2)->end += 20 * kMillisecond;
  EXPECT_EQ(stream_waits(late.settled()).rows.at(0).idle_ns, 0);
  TwoStreams nothing;
  nothing.model.kernels.erase_if([&](const auto& row) { return row.id == nothing.model.kernels.back().id; });
  const StreamWaitTable table = stream_waits(nothing.settled());
  EXPECT_EQ(table.rows.at(0).timed, 0u);
  EXPECT_EQ(table.rows.at(0).count, 1u);
}

TEST(StreamWaits, SeveralWaitsBeforeTheSameWorkCountOnce) {
  TwoStreams program;
  program.stream_wait(2, 55, 310'000);
  const StreamWaitTable table = stream_waits(program.settled());
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].count, 2u);
  EXPECT_EQ(table.rows[0].timed, 2u);
  EXPECT_EQ(table.rows[0].idle_ns, 7 * kMillisecond);
}

TEST(StreamWaits, AnEventWithoutADeviceBelongsToItsKernelsDevice) {
  TwoStreams program;
  program.model.cuda_events[0].device = -1;
  EXPECT_EQ(stream_waits(program.settled()).rows.at(0).device, 0);
}

TEST(StreamWaits, AReusedEventIsAnotherRecording) {
  TwoStreams program;
  // The same event is recorded again on stream 3; a wait for recording 55 still waits for stream 1.
  program.launch("later", 3, {20 * kMillisecond, 30 * kMillisecond}, 15 * kMillisecond);
  program.event(56, 3, 16 * kMillisecond, 30 * kMillisecond);
  ASSERT_EQ(program.model.cuda_events[0].event, program.model.cuda_events[1].event);
  const StreamWaitTable table = stream_waits(program.settled());
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].signaller.stream, 1u);
}

TEST(StreamWaits, WaitsWithoutARecordedEventAreCounted) {
  TwoStreams program;
  program.model.cuda_events.clear();
  EXPECT_EQ(stream_waits(program.settled()).without_event, 1u);
  program.model.syncs[0].event_sync.reset();
  EXPECT_EQ(stream_waits(program.settled()).without_event, 1u);
  program.model.syncs[0].stream.reset();
  EXPECT_EQ(stream_waits(program.settled()).without_event, 0u);
  TwoStreams itself;
  itself.model.syncs[0].stream = 1;
  EXPECT_TRUE(stream_waits(itself.settled()).rows.empty());
  TwoStreams other;  // another process's recording with the same number
  other.model.cuda_events[0].process = 999;
  EXPECT_EQ(stream_waits(other.settled()).without_event, 1u);
}

TEST(Activity, IsInJsonAndText) {
  TwoStreams program;
  program.model.devices = {test_devices::h100()};
  program.model.processes = {{0x10, 1, "app", "app 0", 0, 0, 0}, {0x11, 1, "app", "app 1", 1, 1, 0}};
  for (int i = 0; i <= 100; ++i) program.call("cudaEventQuery", 7, {i * 10'000, i * 10'000 + 5'000}, 600);
  program.sample(7, "app", {0, kMillisecond}, kMillisecond);
  const Analysis analysis = analyze(program.settled());
  const auto json = nlohmann::json::parse(reports::analysis_json(program.model, analysis));
  EXPECT_EQ(json["processes"].size(), 2u);
  EXPECT_EQ(json["processes"][1]["rank"], 1);
  EXPECT_EQ(json["kernels"].size(), 3u);
  EXPECT_EQ(json["kernels"][0]["name"], "producer");
  EXPECT_TRUE(json["kernels"][0]["occupancy"]["value"].is_number());
  EXPECT_EQ(json["host_polling"][0]["thread"], 7);
  EXPECT_EQ(json["stream_waits"][0]["behind"], "producer");
  EXPECT_EQ(json["stream_waits"][0]["idle_ns"], 7 * kMillisecond);
  EXPECT_EQ(json["threads"][0]["cpu_ns"], kMillisecond);
  ASSERT_EQ(json["clocks"].size(), 1u);
  EXPECT_EQ(json["clocks"][0]["device"], "cuda:0");
  const std::string text = reports::analysis_text(program.model, analysis, {.verbose = true});
  for (const char* part : {"Kernel ", "producer", "Host polling", "Waiting stream", "Clocks", "cuda:0", "app 1"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Activity, WicProfsProcessIsNotPartOfTheProgram) {
  TwoStreams program;
  program.model.processes = {{0x0f, 1, "wic-prof", "wic-prof run -- app", {}, {}, 0},
                             {0x10, 0x0f, "app", "app", {}, {}, 0}};
  const Analysis analysis = analyze(program.settled());
  EXPECT_EQ(program.model.program_processes(), 1u);
  const std::string one = reports::analysis_text(program.model, analysis, {.verbose = true});
  EXPECT_EQ(one.find("Process "), std::string::npos) << one;
  EXPECT_EQ(one.find("stream 2 of"), std::string::npos) << one;
  const auto json = nlohmann::json::parse(reports::analysis_json(program.model, analysis));
  EXPECT_EQ(json["processes"][0]["own"], true);
  EXPECT_EQ(json["processes"][1]["own"], false);
  program.model.processes.push_back({0x11, 0x10, "app", "app child", {}, {}, 0});
  const std::string two = reports::analysis_text(program.model, analysis, {.verbose = true});
  EXPECT_NE(two.find("app child"), std::string::npos) << two;
  EXPECT_EQ(two.find("wic-prof run -- app"), std::string::npos) << two;
}

TEST(Activity, AWideClockBoundIsNotShown) {
  Program program;
  program.launch("k", 1, {10 * kMillisecond, 20 * kMillisecond}, kMillisecond);  // queued for 9 ms
  program.sync(SyncKind::stream, 1, {2 * kMillisecond, 20 * kMillisecond + 3'000});
  const Analysis analysis = analyze(program.settled());
  ASSERT_EQ(analysis.clocks.size(), 1u);
  EXPECT_EQ(analysis.clocks[0].high, 9 * kMillisecond);
  const std::string text = reports::analysis_text(program.model, analysis, {.verbose = true});
  EXPECT_NE(text.find("is off by at least -3.00 us; an upper bound is unknown"), std::string::npos) << text;
  EXPECT_EQ(nlohmann::json::parse(reports::analysis_json(program.model, analysis))["clocks"][0]["high_ns"],
            9 * kMillisecond);
}

TEST(Activity, FitsTheScreen) {
  Program program;
  program.model.devices = {test_devices::h100()};
  const std::string name(300, 'n');
  for (std::uint32_t stream = 1; stream < 4; ++stream) {
    auto kernel = program.launch(name + std::to_string(stream), stream, {kMillisecond, 1000 * kMillisecond}, 900'000);
    kernel.grid[0] = 1'234'567'890;
    kernel.block[0] = 1024;
    kernel.registers_per_thread = 64;
    kernel.dynamic_shared_bytes = 227 * 1024;
  }
  program.event(5, 1, 950'000, 990 * kMillisecond);
  program.stream_wait(2, 5, 960'000);
  program.launch(name, 2, {1001 * kMillisecond, 1002 * kMillisecond}, 970'000);
  program.host_wait(std::string(60, 'c'), {0, 999 * kMillisecond}, 990 * kMillisecond);
  for (int i = 0; i <= 2000; ++i) program.call("cudaEventQuery", 2'147'483'647, {i * 10'000, i * 10'000 + 5'000}, 600);
  program.sample(7, "fifteen letters", {0, kMillisecond}, kMillisecond).run_delay = 900 * kMillisecond;
  program.model.processes = {{0x10, 1, name, name, 0, 0, 0}, {0x11, 1, name, name, 1, 1, 0}};
  const Analysis analysis = analyze(program.settled());
  for (const std::string& text : {reports::analysis_text(program.model, analysis),
                                  reports::analysis_text(program.model, analysis, {.verbose = true}),
                                  reports::summary_text(program.model, analysis)}) {
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const auto width = std::count_if(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                       text.begin() + static_cast<std::ptrdiff_t>(end),
                                       [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
      EXPECT_LE(width, 80) << text.substr(begin, end - begin);
    }
  }
}

TEST(Activity, IsEmptyForAnEmptyTraceOrASingleEvent) {
  TraceModel empty;
  settle(empty);
  const Analysis analysis = analyze(empty);
  const auto json = nlohmann::json::parse(reports::analysis_json(empty, analysis));
  for (const char* list : {"processes", "kernels", "host_waits", "host_polling", "stream_waits", "clocks", "threads"}) {
    EXPECT_TRUE(json[list].empty()) << list;
  }
  for (int which = 0; which < 6; ++which) {
    Program one;
    one.model.devices.clear();
    if (which == 0) one.kernel("", 0, {std::numeric_limits<TimeNs>::max() - 1, std::numeric_limits<TimeNs>::max()});
    if (which == 1) one.call("cudaEventQuery", 0, {0, 0}, 600);
    if (which == 2) one.model.syncs.emplace_back();
    if (which == 3) one.model.cuda_events.emplace_back();
    if (which == 4) one.sample(0, "", {5, 5}, 0);
    if (which == 5) one.model.overheads.emplace_back();
    const Analysis of_one = analyze(one.settled());
    EXPECT_FALSE(reports::analysis_json(one.model, of_one).empty());
    EXPECT_FALSE(reports::analysis_text(one.model, of_one).empty());
    EXPECT_FALSE(reports::analysis_text(one.model, of_one, {.verbose = true}).empty());
  }
}

TEST(DeviceBusy, CountsTimeWithKernelsOrCopiesOnce) {
  Program program;
  program.kernel("a", 1, {0, 40 * kMillisecond});
  program.kernel("b", 2, {30 * kMillisecond, 50 * kMillisecond});
  store::CopyRow copy{};
  copy.start = 60 * kMillisecond;
  copy.end = 70 * kMillisecond;
  program.model.copies.push_back(copy);
  program.kernel("c", 1, {90 * kMillisecond, 100 * kMillisecond});
  const TraceModel& model = program.settled();
  const std::vector<DeviceBusy> devices = device_busy(model, {model.begin, model.end});
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].busy_ns, 70 * kMillisecond);
  EXPECT_DOUBLE_EQ(devices[0].idle(), 0.3);
  EXPECT_EQ(device_busy(model, {35 * kMillisecond, 65 * kMillisecond}).at(0).busy_ns, 20 * kMillisecond);
  EXPECT_TRUE(device_busy(Program().settled(), {0, kMillisecond}).empty());
}

/// A program that computes on the CPU and uses neither CUDA nor wic.
Program plain_program() {
  Program program;
  program.model.meta["started_ns"] = std::to_string(1'000 * kMillisecond);
  program.model.meta["ended_ns"] = std::to_string(3'000 * kMillisecond);
  program.sample(7, "work", {1'500 * kMillisecond, 1'600 * kMillisecond}, 90 * kMillisecond);
  return program;
}

TEST(TracedTime, IsTheWholeRunOfAProgramWithoutEvents) {
  Program program = plain_program();
  const TraceModel& model = program.settled();
  EXPECT_EQ(model.begin, 1'000 * kMillisecond);
  EXPECT_EQ(model.end, 3'000 * kMillisecond);
  Program with_kernel = plain_program();
  with_kernel.kernel("k", 1, {1'700 * kMillisecond, 1'800 * kMillisecond});
  EXPECT_EQ(with_kernel.settled().begin, 1'700 * kMillisecond) << "device activity leaves the start-up out";
}

TEST(TracedTime, IsTheRecordedPartOfTheRun) {
  Program program = plain_program();
  program.model.meta["capture_from_ns"] = std::to_string(1'400 * kMillisecond);
  program.model.meta["capture_until_ns"] = std::to_string(2'400 * kMillisecond);
  EXPECT_EQ(program.settled().begin, 1'400 * kMillisecond);
  EXPECT_EQ(program.model.end, 2'400 * kMillisecond);
  program.model.meta["capture_keep_last_ns"] = std::to_string(900 * kMillisecond);
  EXPECT_EQ(program.settled().begin, 1'500 * kMillisecond);
}

TEST(TracedTime, OfARunInProgressReachesTheLastSample) {
  Program program = plain_program();
  program.model.meta.erase("ended_ns");
  EXPECT_EQ(program.settled().begin, 1'000 * kMillisecond);
  EXPECT_EQ(program.model.end, 1'600 * kMillisecond);
  EXPECT_FALSE(recorded_run(program.model));
}

TEST(TracedTime, IgnoresTimesThatCannotBe) {
  for (const char* ended : {"", "x", "-5", "5", "99999999999999999999999"}) {
    Program program = plain_program();
    program.model.meta["ended_ns"] = ended;
    EXPECT_EQ(program.settled().end, 1'600 * kMillisecond) << ended;
  }
}

}  // namespace
}  // namespace wicprof::analyzer
