// The rules about kernels, copies and migrations.
#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/analysis.h"
#include "analyzer/waits/iterations.h"
#include "findings.h"
#include "program.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

/// Ten rounds of a copy of 400 us and a kernel of 600 us, which starts `after` the start of the copy.
TraceModel copying_program(TimeNs after) {
  test_program::Program program;
  for (int i = 0; i < 10; ++i) {
    const TimeNs begin = 1'000'000 + i * 1'000'000;
    store::CopyRow copy{};
    copy.kind = CopyKind::host_to_device;
    copy.start = begin;
    copy.end = begin + 400'000;
    copy.bytes = 1 << 20;
    copy.source = CopyMemory::pageable;
    copy.stream = 8;
    program.model.copies.push_back(copy);
    program.kernel("work", 7, {begin + after, begin + after + 600'000});
  }
  return program.settled();
}

TEST(ExposedTransfer, CountsCopiesWithoutConcurrentKernels) {
  const Analysis analysis = analyze(copying_program(400'000));
  const Finding* finding = find(analysis, "exposed_transfer");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::critical);
  EXPECT_NE(finding->text.find("for 4.00 ms, 40.0 %"), std::string::npos) << finding->text;
  EXPECT_NE(finding->remedy.find("cudaMallocHost"), std::string::npos);
  EXPECT_EQ(find(analyze(copying_program(0)), "exposed_transfer"), nullptr);
}

TEST(ExposedTransfer, RefusesWithoutCopiesOrKernels) {
  TraceModel model = copying_program(0);
  TraceModel other = model;
  model.copies.clear();
  other.kernels.clear();
  EXPECT_TRUE(refused(analyze(model), "exposed_transfer"));
  EXPECT_TRUE(refused(analyze(other), "exposed_transfer"));
}

/// Twenty rounds of 2 ms: thread 7 launches a kernel that runs for `busy`, and is on a CPU for `computes` of each.
TraceModel launching_program(TimeNs busy, TimeNs computes) {
  test_program::Program program;
  for (int i = 0; i < 20; ++i) {
    const TimeNs begin = i * 2'000'000;
    program.launch("work", 7, {begin + 10'000, begin + 10'000 + busy}, begin);
    program.sample(7, "app", {begin, begin + 2'000'000}, computes);
  }
  program.sample(8, "other", {0, 40'000'000}, 40'000'000);
  return program.settled();
}

TEST(IdleDevice, WaitsForTheHost) {
  const Analysis analysis = analyze(launching_program(100'000, 1'900'000));
  const Finding* finding = find(analysis, "idle_device");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::warning);
  EXPECT_NE(finding->text.find("GPU 0 has nothing to do for 36.1 ms"), std::string::npos) << finding->text;
  EXPECT_NE(finding->evidence.find("that of app (thread 7), which was on a CPU 95.0 % of the time"), std::string::npos)
      << finding->evidence;
  EXPECT_NE(finding->remedy.find("launch ahead"), std::string::npos);
  EXPECT_EQ(finding->remedy.find("data loader"), std::string::npos);
  ASSERT_TRUE(finding->cost.has_value());
  EXPECT_NEAR(finding->cost->amount, 36.1 / 38.1, 0.01);
}

TEST(IdleDevice, SaysWhetherTheThreadSleeps) {
  const Analysis sleeping = analyze(launching_program(100'000, 100'000));
  ASSERT_NE(find(sleeping, "idle_device"), nullptr);
  EXPECT_EQ(find(sleeping, "idle_device")->remedy.find("launch ahead"), std::string::npos);
  EXPECT_NE(find(sleeping, "idle_device")->remedy.find("data loader"), std::string::npos);
  TraceModel unknown = launching_program(100'000, 0);
  unknown.thread_samples.clear();
  const Analysis not_sampled = analyze(unknown);
  ASSERT_NE(find(not_sampled, "idle_device"), nullptr);
  EXPECT_EQ(find(not_sampled, "idle_device")->evidence.find("CPU"), std::string::npos);
}

TEST(IdleDevice, NotWhereTheDeviceIsBusyOrTheRunIsShort) {
  EXPECT_EQ(find(analyze(launching_program(1'980'000, 1'900'000)), "idle_device"), nullptr);
  EXPECT_EQ(find(analyze(launching_program(1'200'000, 1'900'000)), "idle_device"), nullptr);
  test_program::Program two;
  two.launch("work", 7, {10'000, 20'000}, 0);
  two.launch("work", 7, {910'000, 920'000}, 900'000);
  EXPECT_EQ(find(analyze(two.settled()), "idle_device"), nullptr);
}

/// Forty rounds: a small copy or memset whose call returns at once begins `late` later, since others have the device; a
/// kernel behind it; and a wait for the end, or a copy that waits for both.
TraceModel program_of_turns(TimeNs late, CopyKind first, bool copies_back) {
  test_program::Program program;
  TimeNs at = 0;
  const auto copy = [&](CopyKind kind, test_program::Span span, std::uint32_t of) {
    store::CopyRow row{};
    row.kind = kind;
    row.start = span.begin;
    row.end = span.end;
    row.context = test_program::Program::kContext;
    row.stream = 1;
    row.correlation = of;
    row.process = test_program::Program::kProcess;
    program.model.copies.push_back(row);
  };
  for (std::uint32_t i = 0; i < 40; ++i) {
    const std::uint32_t number = 1'000 + 2 * i;
    const TimeNs begin = at + 10'000 + late;
    program.call("first", 7, {at, at + 5'000}, 0, number);
    copy(first, {begin, begin + 2'000}, number);
    program.launch("work", 1, {begin + 3'000, begin + 103'000}, at + 6'000);
    const TimeNs end = begin + 108'000;
    if (copies_back) {
      program.call("cudaMemcpy", 7, {at + 12'000, end}, 0, number + 1);
      copy(CopyKind::device_to_host, {begin + 104'000, begin + 106'000}, number + 1);
    }
    program.host_wait(copies_back ? "cudaMemcpy" : "cudaDeviceSynchronize", {at + 12'000, end}, end - at - 12'000)
        ->correlation = copies_back ? number + 1 : 0;
    at = end + 10'000;
  }
  return program.settled();
}

TEST(IdleDevice, NotWhereTheDeviceIsOfOthers) {
  for (const CopyKind first : {CopyKind::host_to_device, CopyKind::memset}) {
    for (const bool copies_back : {false, true}) {
      const Analysis analysis = analyze(program_of_turns(1'500'000, first, copies_back));
      EXPECT_EQ(find(analysis, "idle_device"), nullptr);
      ASSERT_EQ(analysis.interrupted_kernels.size(), 1u);
      EXPECT_EQ(analysis.interrupted_kernels[0].late_starts, 40u);
      EXPECT_NEAR(static_cast<double>(analysis.interrupted_kernels[0].lost_ns), 40 * 1.5e6, 0.05 * 40 * 1.5e6);
      ASSERT_NE(find(analysis, "shared_device"), nullptr);
    }
  }
  EXPECT_TRUE(analyze(program_of_turns(50'000, CopyKind::memset, true)).interrupted_kernels.empty());
}

TEST(IdleDevice, NamesFunctionsOfTheHostInStreams) {
  TraceModel model = program_of_turns(1'500'000, CopyKind::memset, false);
  store::CallRow call = model.calls[0];
  call.name = "cudaLaunchHostFunc_v10000";
  call.correlation = 1'000;
  model.calls.emplace_back(call);
  settle(model);
  EXPECT_EQ(find(analyze(model), "idle_device"), nullptr);  // one cannot be what forty launches waited for
  for (int i = 1; i < 40; ++i) {
    ++call.correlation;
    model.calls.emplace_back(call);
  }
  settle(model);
  const Analysis analysis = analyze(model);
  ASSERT_NE(find(analysis, "idle_device"), nullptr);
  EXPECT_NE(find(analysis, "idle_device")->evidence.find("40 functions of the host"), std::string::npos);
  EXPECT_NE(find(analysis, "idle_device")->remedy.find("cudaLaunchHostFunc"), std::string::npos);
  EXPECT_EQ(find(analysis, "shared_device"), nullptr);
}

TEST(HostSpin, CountsOfLongWaitsWhatIsWithinTheTracedTime) {
  test_program::Program program;
  program.kernel("work", 1, {1'000'000, 2'000'000});
  program.host_wait("cudaMemcpy", {0, 100'000'000}, 100'000'000);
  const Analysis analysis = analyze(program.settled());
  ASSERT_NE(find(analysis, "host_spin"), nullptr);
  EXPECT_NEAR(find(analysis, "host_spin")->cost->amount, 1, 0.01);
}

TEST(FailedCalls, NameTheFirstBehindAFailedKernel) {
  test_program::Program program;
  program.launch("work", 1, {10'000, 20'000}, 0);
  program.call("cudaEventQuery", 7, {20'000, 21'000}, 600);       // not ready
  program.call("cudaFuncGetAttributes", 7, {22'000, 23'000}, 1);  // no launch
  EXPECT_EQ(find(analyze(program.settled()), "failed_calls"), nullptr);
  program.call("cudaDeviceSynchronize", 7, {30'000, 40'000}, 715);
  program.call("cuCtxSynchronize", 7, {31'000, 39'000}, 715);  // within
  program.call("cudaLaunchKernel", 7, {41'000, 42'000}, 715);
  const Analysis analysis = analyze(program.settled());
  const Finding* finding = find(analysis, "failed_calls");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::critical);
  EXPECT_EQ(finding->text,
            "a kernel failed, and 2 calls of CUDA failed from then on; the first was cudaDeviceSynchronize of thread 7 "
            "after 20.0 us: illegal instruction or trap, error 715");
  EXPECT_NE(finding->remedy.find("compute-sanitizer"), std::string::npos);
}

TEST(FailedCalls, CountLaunchesThatWereRefused) {
  test_program::Program program;
  for (int i = 0; i < 100; ++i) program.launch("work", 1, {i * 100'000 + 10'000, i * 100'000 + 20'000}, i * 100'000);
  program.call("cudaLaunchKernel", 7, {10'000'000, 10'001'000}, 9);
  const Analysis one = analyze(program.settled());
  ASSERT_NE(find(one, "failed_calls"), nullptr);
  EXPECT_EQ(find(one, "failed_calls")->severity, Severity::info);
  for (int i = 1; i < 10; ++i) {
    program.call("cudaLaunchKernel", 7, {10'000'000 + i * 5'000, 10'001'000 + i * 5'000}, 9);
  }
  const Analysis ten = analyze(program.settled());
  ASSERT_NE(find(ten, "failed_calls"), nullptr);
  EXPECT_EQ(find(ten, "failed_calls")->severity, Severity::warning);
  EXPECT_EQ(find(ten, "failed_calls")->text,
            "10 of 110 launches failed, so that their kernels did not run; the first was cudaLaunchKernel of thread 7 "
            "after 9.99 ms: invalid configuration of grid or block, error 9");
  test_program::Program without;
  EXPECT_TRUE(refused(analyze(without.settled()), "failed_calls"));
}

/// Twenty rounds of a kernel of 1 ms, and a cudaFree that waits for it and takes `longer` then.
TraceModel freeing_program(TimeNs longer) {
  test_program::Program program;
  for (int i = 0; i < 20; ++i) {
    const TimeNs begin = i * (1'020'000 + longer), end = begin + 1'010'000;
    program.launch("work", 7, {begin + 10'000, end}, begin);
    program.call("cudaFree", 7, {begin + 6'000, end + longer});
    program.call("cuMemFree_v2", 7, {begin + 7'000, end + longer - 1'000});
    program.call("cudaMallocAsync", 7, {end + longer, end + longer + 5'000});
  }
  return program.settled();
}

TEST(ImplicitSync, CountsWhatTheDeviceLoses) {
  const Analysis analysis = analyze(freeing_program(400'000));
  const Finding* finding = find(analysis, "implicit_sync");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(
      finding->evidence.find("18 calls that free took 25.3 ms, 18.0 ms of it waiting for the device, most in cudaFree"),
      std::string::npos)
      << finding->evidence;
  ASSERT_TRUE(finding->cost.has_value());
  EXPECT_NEAR(finding->cost->amount, 0.26, 0.01);  // 7.2 ms of 27.8, of the calls that are whole within
  EXPECT_EQ(find(analyze(freeing_program(10'000)), "implicit_sync"), nullptr);
  // Two threads that free at once lose the device's time once.
  TraceModel two = freeing_program(400'000);
  for (const store::CallRow& call : std::vector<store::CallRow>(two.calls.begin(), two.calls.end())) {
    store::CallRow other = call;
    other.thread = 8;
    if (call.name == "cudaFree") two.calls.emplace_back(other);
  }
  settle(two);
  const Analysis of_two = analyze(two);
  ASSERT_NE(find(of_two, "implicit_sync"), nullptr);
  EXPECT_NEAR(find(of_two, "implicit_sync")->cost->amount, finding->cost->amount, 0.001);
}

// The host waits at start-up, four times, and never again.
TEST(IterationWindow, LeavesOutNoLoopThatNeverWaits) {
  TraceModel model = launching_program(1'900'000, 1'900'000);
  test_program::Program waiting;
  for (int i = 0; i < 4; ++i) {
    auto wait = waiting.host_wait("cudaMemcpyAsync", {i * 50'000, i * 50'000 + 40'000}, 40'000);
    wait->site = 5;
    wait->iteration = static_cast<std::uint32_t>(i);
  }
  model.host_waits = waiting.model.host_waits;
  settle(model);
  const std::vector<Iterations> found = find_iterations(model);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(iteration_window(model, found).has_value());
  const auto longer = [&](TimeNs period) {
    test_program::Program often;
    for (int i = 0; i < 20; ++i) {
      auto wait = often.host_wait("cudaMemcpyAsync", {i * period, i * period + 40'000}, 40'000);
      wait->site = 5;
      wait->iteration = static_cast<std::uint32_t>(i);
    }
    model.host_waits = often.model.host_waits;
    settle(model);
    return iteration_window(model, find_iterations(model));
  };
  EXPECT_TRUE(longer(2'000'000).has_value());
  EXPECT_FALSE(longer(200'000).has_value());
}

/// A block of managed memory that moves `moves` times, once per millisecond for 100 us, to the device and back.
TraceModel migrating_program(int moves) {
  test_program::Program program;
  program.kernel("work", 7, {0, 10'000'000});
  for (int i = 0; i < moves; ++i) {
    store::UvmRow row;
    row.kind = i % 2 == 0 ? UvmKind::host_to_device : UvmKind::device_to_host;
    row.device = i % 2 == 0 ? 0 : kHostDevice;
    row.address = 0x7f0000000000 + 4096u * static_cast<unsigned>(i);
    row.bytes = 65'536;
    row.start = i * 1'000'000;
    row.end = row.start + 100'000;
    program.model.uvm.push_back(row);
  }
  return program.settled();
}

TEST(ManagedPingPong, NeedsSeveralRoundTrips) {
  const Analysis analysis = analyze(migrating_program(9));
  const Finding* finding = find(analysis, "managed_ping_pong");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->text.find("1 block of 2 MiB moved 8 times"), std::string::npos) << finding->text;
  EXPECT_EQ(find(analyze(migrating_program(3)), "managed_ping_pong"), nullptr);
  EXPECT_TRUE(refused(analyze(migrating_program(0)), "managed_ping_pong"));
}

/// A kernel of a millisecond, which may wait, and code that is loaded at `at`.
TraceModel loading_program(TimeNs at, bool waits) {
  TraceModel model = empty_program();
  if (waits) add_handoff(model, {.waiters = 1, .iterations = 1, .start = 100'000});
  test_program::Program program;
  program.kernel("waiting_kernel", 7, {50'000, 1'200'000});
  model.kernels = program.model.kernels;
  store::OverheadRow overhead;
  overhead.what = "lazy function loading";
  overhead.start = at;
  overhead.end = at + 10'000;
  model.overheads.push_back(overhead);
  settle(model);
  return model;
}

TEST(ModuleLoading, WarnsBesideAWaitingKernel) {
  const Analysis analysis = analyze(loading_program(500'000, true));
  const Finding* finding = find(analysis, "module_loading");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::warning);
  EXPECT_NE(finding->text.find("waiting_kernel"), std::string::npos);
  EXPECT_NE(finding->remedy.find("CUDA_MODULE_LOADING=EAGER"), std::string::npos);
  EXPECT_EQ(find(analyze(loading_program(500'000, false)), "module_loading")->severity, Severity::info);
  EXPECT_EQ(find(analyze(loading_program(10'000, true)), "module_loading"), nullptr);
  TraceModel model = loading_program(500'000, true);
  model.overheads.clear();
  EXPECT_TRUE(refused(analyze(model), "module_loading"));
}

/// A device of 10 SMs, each of which holds 4 blocks of 256 threads.
store::DeviceRow small_gpu() {
  store::DeviceRow device{};
  device.kind = DeviceKind::cuda;
  device.name = "GPU 0";
  device.sm_count = 10;
  device.compute_major = 9;
  device.max_threads_per_sm = 1024;
  device.max_blocks_per_sm = 32;
  device.registers_per_sm = 65'536;
  device.shared_bytes_per_sm = 228 * 1024;
  device.clock_error_ns = 100;
  return device;
}

void shape(store::KernelRow&& kernel, std::uint32_t blocks) {
  kernel.grid[0] = blocks;
  kernel.block[0] = 256;
  kernel.registers_per_thread = 32;
}

TraceModel resident_program(std::uint32_t blocks) {
  TraceModel model = empty_program();
  model.devices[1] = small_gpu();
  add_handoff(model, {.waiters = 8, .iterations = 4, .start = 100'000});
  test_program::Program program;
  shape(program.kernel("waiting_kernel", 7, {50'000, 9'000'000}), blocks);
  model.kernels = program.model.kernels;
  settle(model);
  return model;
}

TEST(CoResidency, FindsAWaitingKernelThatDoesNotFit) {
  const Analysis analysis = analyze(resident_program(50));
  const Finding* finding = find(analysis, "co_residency");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->site_name, "flag");
  EXPECT_NE(finding->evidence.find("1.25 waves"), std::string::npos) << finding->evidence;
  EXPECT_NE(finding->remedy.find("at most 40 blocks"), std::string::npos) << finding->remedy;
  EXPECT_EQ(finding->command, "wic-prof run --ab --strategy auto -- synthetic --iterations 50");
  EXPECT_EQ(find(analyze(resident_program(40)), "co_residency"), nullptr);
}

TEST(CoResidency, RefusesWithoutTheDevicesLimits) {
  TraceModel model = resident_program(50);
  model.devices[1].max_threads_per_sm = 0;
  EXPECT_TRUE(refused(analyze(model), "co_residency"));
  model.waits.clear();
  EXPECT_TRUE(refused(analyze(model), "co_residency"));
}

/// Two kernels that alternate on one stream, `gap` apart; the first has `blocks` blocks.
TraceModel two_kernels(std::uint32_t blocks, TimeNs gap, std::uint32_t successors_blocks = 40) {
  test_program::Program program;
  program.model.devices = {small_gpu()};
  for (int i = 0; i < 10; ++i) {
    const TimeNs begin = i * 1'000'000;
    shape(program.kernel("produce", 7, {begin, begin + 600'000}), blocks);
    shape(program.kernel("consume", 7, {begin + 600'000 + gap, begin + 900'000}), successors_blocks);
  }
  return program.settled();
}

TEST(UnderfilledWave, FindsADirectSuccessor) {
  const Analysis analysis = analyze(two_kernels(50, 2'000));
  const Finding* finding = find(analysis, "underfilled_wave");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->text.find("the last wave of produce fills 25.0 %"), std::string::npos) << finding->text;
  EXPECT_NE(finding->text.find("consume cannot start"), std::string::npos) << finding->text;
  EXPECT_NE(finding->remedy.find("a multiple of 40"), std::string::npos) << finding->remedy;
  EXPECT_EQ(find(analyze(two_kernels(80, 2'000)), "underfilled_wave"), nullptr);    // whole waves
  EXPECT_EQ(find(analyze(two_kernels(50, 200'000)), "underfilled_wave"), nullptr);  // no ready successor
}

TEST(UnderfilledWave, NamesTheOtherRuleOnlyWhereItHasAFinding) {
  // What an earlier start gains depends on the successor's waves, which this rule does not look at.
  std::size_t with = 0, without = 0;
  for (const std::uint32_t blocks : {10u, 40u, 80u, 120u}) {
    const Analysis analysis = analyze(two_kernels(50, 2'000, blocks));
    const Finding* finding = find(analysis, "underfilled_wave");
    ASSERT_NE(finding, nullptr);
    const bool named = finding->remedy.find("see dependent_kernels") != std::string::npos;
    EXPECT_EQ(named, find(analysis, "dependent_kernels") != nullptr) << blocks;
    ++(named ? with : without);
  }
  EXPECT_GT(with, 0u);
  EXPECT_GT(without, 0u);
}

TEST(DependentKernels, NamesPairsWithTheirBounds) {
  const Analysis analysis = analyze(two_kernels(50, 2'000, 80));
  const Finding* finding = find(analysis, "dependent_kernels");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->text.find("consume starts only when all of produce is done"), std::string::npos) << finding->text;
  EXPECT_NE(finding->text.find("(0 to "), std::string::npos) << finding->text;
  EXPECT_NE(finding->evidence.find("1.25 waves, the last one 25.0 % full"), std::string::npos) << finding->evidence;
  EXPECT_NE(finding->evidence.find("the trace does not show what consume reads"), std::string::npos);
  EXPECT_NE(finding->remedy.find("if consume reads the results of produce"), std::string::npos) << finding->remedy;
  EXPECT_NE(finding->remedy.find("wic/tiles.h"), std::string::npos) << finding->remedy;
  // The blocks of a single wave that have no place early start at the producer's end, and end last.
  EXPECT_EQ(find(analyze(two_kernels(50, 2'000, 40)), "dependent_kernels"), nullptr);
  EXPECT_EQ(find(analyze(two_kernels(80, 2'000, 80)), "dependent_kernels"), nullptr);     // whole waves, a short gap
  EXPECT_EQ(find(analyze(two_kernels(50, 200'000, 80)), "dependent_kernels"), nullptr);   // no ready successor
  EXPECT_EQ(find(analyze(two_kernels(50, -100'000, 80)), "dependent_kernels"), nullptr);  // it starts early
}

TEST(DependentKernels, OfShortKernelsOnlyTheGapCounts) {
  test_program::Program program;
  program.model.devices = {small_gpu()};
  for (int i = 0; i < 100; ++i) {
    const TimeNs begin = i * 10'000;
    shape(program.kernel("step", 7, {begin + 1, begin + 8'000}), 8);
  }
  const Analysis analysis = analyze(program.settled());
  const Finding* finding = find(analysis, "dependent_kernels");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->severity, Severity::warning);
  EXPECT_NE(finding->remedy.find("programmatic dependent launch"), std::string::npos) << finding->remedy;
}

TEST(DependentKernels, RefusesWithoutKernelsOrLimits) {
  TraceModel model = two_kernels(50, 2'000);
  model.devices[0].sm_count = 0;
  EXPECT_TRUE(refused(analyze(model), "dependent_kernels"));
  model.kernels.clear();
  EXPECT_TRUE(refused(analyze(model), "dependent_kernels"));
}

TEST(UnderfilledWave, RefusesWithoutKernelsOrLimits) {
  TraceModel model = two_kernels(50, 2'000);
  model.devices[0].sm_count = 0;
  EXPECT_TRUE(refused(analyze(model), "underfilled_wave"));
  model.kernels.clear();
  EXPECT_TRUE(refused(analyze(model), "underfilled_wave"));
}

}  // namespace
}  // namespace wicprof::analyzer
