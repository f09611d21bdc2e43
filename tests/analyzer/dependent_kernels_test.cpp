#include "analyzer/work/dependent_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "tests/analyzer/devices.h"
#include "tests/analyzer/program.h"

namespace wicprof::analyzer {
namespace {

using test_program::Program;

/// An H100: 132 SMs. A block of 1,024 threads with 64 registers each fills an SM.
Program h100_program() {
  Program program;
  program.model.devices = {test_devices::h100()};
  return program;
}

void shaped(store::KernelRow&& kernel, std::uint32_t blocks, std::uint32_t threads = 1'024) {
  kernel.grid[0] = blocks;
  kernel.block[0] = threads;
  kernel.registers_per_thread = 64;
}

DependentKernels found(Program& program) { return analyze(program.settled(), Parties::left_out).dependent_kernels; }

/// "up" and "down" alternate on a stream from `begin` on, 1.5 us apart: 1.25 waves of 100 us each and 2 of 50 us.
void add_pairs(Program& program, int count, std::uint32_t stream = 7, TimeNs begin = 1'000'000) {
  for (int i = 0; i < count; ++i) {
    const TimeNs at = begin + i * 1'000'000;
    shaped(program.kernel("up", stream, {at, at + 200'000}), 165);
    shaped(program.kernel("down", stream, {at + 201'500, at + 301'500}), 264);
  }
}

TEST(DependentKernels, SumsUpByPair) {
  Program program = h100_program();
  add_pairs(program, 10);
  const DependentKernels kernels = found(program);
  ASSERT_EQ(kernels.pairs.size(), 1u);  // from "down" to the next "up" much time passes
  EXPECT_EQ(kernels.late, 9u);
  EXPECT_EQ(kernels.launches, 10u);
  const DependentPair& pair = kernels.pairs[0];
  EXPECT_EQ(pair.producer.name, "up");
  EXPECT_EQ(pair.consumer.name, "down");
  EXPECT_EQ(pair.producer.blocks_per_sm, 1u);
  EXPECT_DOUBLE_EQ(pair.producer.waves, 1.25);
  EXPECT_DOUBLE_EQ(pair.producer.last_wave_fill, 0.25);
  EXPECT_FALSE(pair.producer.persistent);
  EXPECT_EQ(pair.launches, 10u);
  EXPECT_EQ(pair.producer_ns, 2'000'000);
  EXPECT_EQ(pair.consumer_ns, 1'000'000);
  EXPECT_EQ(pair.gap_ns, 15'000);
  EXPECT_EQ(pair.why, NoWaves::known);
  // 99 SMs take two blocks of the consumer each while the last wave runs: 198 of 264. The others take one wave.
  ASSERT_TRUE(pair.tiles);
  EXPECT_NEAR(pair.tiles->value, 10 * (301'500 - 250'000), 1);
  EXPECT_EQ(pair.tiles->low, 0);
  EXPECT_GT(pair.tiles->high, pair.tiles->value);
  EXPECT_NEAR(pair.dependent.value, 15'000, 1e-6);
  ASSERT_TRUE(pair.idle_sm_ns);
  EXPECT_NEAR(pair.idle_sm_ns->value, 10 * 99 * 100'000.0, 1);
  EXPECT_EQ(kernels.tiles.value, pair.tiles->value);
}

TEST(DependentKernels, AreNotThoseThatOverlapOrStartEarly) {
  Program program = h100_program();
  for (int i = 0; i < 5; ++i) {
    const TimeNs at = 1'000'000 + i * 1'000'000;
    shaped(program.kernel("up", 7, {at, at + 200'000}), 165);
    shaped(program.kernel("down", 7, {at + 120'000, at + 260'000}), 264);
  }
  const DependentKernels kernels = found(program);
  ASSERT_EQ(kernels.pairs.size(), 1u);
  EXPECT_EQ(kernels.launches, 0u);
  EXPECT_EQ(kernels.early, 5u);
  EXPECT_EQ(kernels.pairs[0].overlap_ns, 5 * 80'000);
  EXPECT_EQ(kernels.pairs[0].why, NoWaves::no_launches);
  EXPECT_FALSE(kernels.pairs[0].tiles);
  EXPECT_EQ(kernels.pairs[0].best_ns(), 0);
}

TEST(DependentKernels, CountOnlyWhereNoOtherKernelHasTheIdleSms) {
  Program program = h100_program();
  add_pairs(program, 4);
  // Another stream's kernel runs during the first two pairs, in the middle of "up".
  shaped(program.kernel("other", 8, {1'050'000, 1'150'000}), 40);
  shaped(program.kernel("other", 8, {2'050'000, 2'150'000}), 40);
  const DependentKernels kernels = found(program);
  const auto pair = std::find_if(kernels.pairs.begin(), kernels.pairs.end(),
                                 [](const DependentPair& one) { return one.producer.name == "up"; });
  ASSERT_NE(pair, kernels.pairs.end());
  EXPECT_EQ(pair->launches, 2u);
  EXPECT_EQ(pair->beside, 2u);
}

TEST(DependentKernels, TheBackendsOwnKernelsDoNotCount) {
  Program program = h100_program();
  add_pairs(program, 2);
  shaped(program.kernel("wic::cuda::(anonymous namespace)::read_clock()", 9, {1'050'000, 1'060'000}), 1);
  const Analysis analysis = analyze(program.settled(), Parties::left_out);
  ASSERT_EQ(analysis.dependent_kernels.pairs.size(), 1u);
  EXPECT_EQ(analysis.dependent_kernels.pairs[0].launches, 2u);
  EXPECT_TRUE(analysis.crowded_kernels.empty());
}

TEST(DependentKernels, FollowWithinTheirStreamAndDevice) {
  Program program = h100_program();
  store::DeviceRow second = test_devices::a100();
  second.id = 1;
  program.model.devices.push_back(second);
  add_pairs(program, 3, 7);
  add_pairs(program, 3, 8);  // the same times on another device
  for (std::size_t i = 6; i < 12; ++i) program.model.kernels.edit(i)->device = 1;
  const DependentKernels kernels = found(program);
  ASSERT_EQ(kernels.pairs.size(), 2u);
  EXPECT_NE(kernels.pairs[0].device, kernels.pairs[1].device);
  for (const DependentPair& pair : kernels.pairs) {
    EXPECT_EQ(pair.launches, 3u);
    EXPECT_EQ(pair.producer.name, "up");
    EXPECT_DOUBLE_EQ(pair.producer.waves, pair.device == 0 ? 165.0 / 132 : 165.0 / 108);
  }
}

TEST(DependentKernels, ACopyBetweenBothSeparatesThem) {
  Program program = h100_program();
  add_pairs(program, 1);
  store::CopyRow copy{};
  copy.start = 1'200'100;
  copy.end = 1'201'400;
  copy.context = Program::kContext;
  copy.stream = 7;
  copy.process = Program::kProcess;
  program.model.copies.push_back(copy);
  const DependentKernels kernels = found(program);
  EXPECT_TRUE(kernels.pairs.empty());
  EXPECT_EQ(kernels.after_copy, 1u);
}

TEST(DependentKernels, TheHostsLateLaunchIsNotTheProducersFault) {
  Program program = h100_program();
  shaped(program.launch("up", 7, {1'000'000, 1'200'000}, 900'000), 165);
  shaped(program.launch("down", 7, {1'206'000, 1'300'000}, 1'198'000), 264);  // the call ended after the kernel
  shaped(program.launch("up", 7, {2'000'000, 2'200'000}, 1'900'000), 165);
  shaped(program.launch("down", 7, {2'206'000, 2'300'000}, 1'910'000), 264);  // queued
  const DependentKernels kernels = found(program);
  ASSERT_EQ(kernels.pairs.size(), 1u);
  EXPECT_EQ(kernels.pairs[0].launches, 1u);
  EXPECT_EQ(kernels.pairs[0].gap_ns, 6'000);
  EXPECT_EQ(kernels.late, 2u);
}

TEST(DependentKernels, AsManyBlocksOnEachSmAreNamedPersistent) {
  for (const std::uint32_t blocks : {132u, 264u, 396u, 133u}) {
    Program program = h100_program();
    shaped(program.kernel("gemm", 7, {1'000'000, 1'200'000}), blocks, 384);  // two fit per SM
    shaped(program.kernel("gemm2", 7, {1'201'000, 1'300'000}), 132);
    const DependentKernels kernels = found(program);
    ASSERT_EQ(kernels.pairs.size(), 1u);
    const DependentPair& pair = kernels.pairs[0];
    EXPECT_EQ(pair.producer.blocks_per_sm, 2u);
    EXPECT_EQ(pair.producer.persistent, blocks <= 264 && blocks % 132 == 0) << blocks;
    if (!pair.producer.persistent) continue;
    EXPECT_DOUBLE_EQ(pair.producer.waves, 1);
    ASSERT_TRUE(pair.tiles);
    EXPECT_NEAR(pair.tiles->value, 1'000, 1e-6);  // the gap: what tiles leave idle is not known
    ASSERT_TRUE(pair.idle_sm_ns);
    EXPECT_EQ(pair.idle_sm_ns->value, 0);
    EXPECT_GT(pair.idle_sm_ns->high, 0);
  }
}

TEST(DependentKernels, OfKernelsWithClustersOnlyPersistentOnesHaveKnownWaves) {
  for (const auto& [blocks, persistent] : {std::pair{128u, true}, {264u, false}}) {
    Program program = h100_program();
    shaped(program.kernel("up", 7, {1'000'000, 1'200'000}), blocks);
    program.model.kernels.edit_all([](auto& up) { up.cluster[0] = 2, up.cluster[1] = up.cluster[2] = 1; });
    shaped(program.kernel("down", 7, {1'201'000, 1'300'000}), 264);
    const DependentKernels kernels = found(program);
    ASSERT_EQ(kernels.pairs.size(), 1u);
    EXPECT_EQ(kernels.pairs[0].producer.persistent, persistent);
    EXPECT_EQ(kernels.pairs[0].why, persistent ? NoWaves::known : NoWaves::clusters);
    EXPECT_EQ(kernels.pairs[0].tiles.has_value(), persistent);
    EXPECT_NEAR(kernels.pairs[0].dependent.value, 1'000, 1e-6);  // the gap is known in any case
  }
}

TEST(DependentKernels, WithoutTheDevicesLimitsOnlyTheGapIsKnown) {
  Program program = h100_program();
  program.model.devices[0].max_threads_per_sm = 0;
  add_pairs(program, 2);
  const DependentKernels kernels = found(program);
  ASSERT_EQ(kernels.pairs.size(), 1u);
  const DependentPair& pair = kernels.pairs[0];
  EXPECT_EQ(pair.why, NoWaves::no_limits);
  EXPECT_FALSE(pair.tiles || pair.carve_out || pair.idle_sm_ns || pair.prologue_at_most_ns);
  EXPECT_NEAR(pair.dependent.value, 3'000, 1e-6);
  EXPECT_NEAR(pair.dependent.high, 3'000 + 200'000, 1e-6);
  EXPECT_TRUE(wave_bars(pair).empty());
}

TEST(DependentKernels, AGraphsEdgesAreNotKnown) {
  Program program = h100_program();
  for (int i = 0; i < 2; ++i) {
    const TimeNs at = 1'000'000 + i * 600'000;
    const std::uint32_t correlation = ++program.correlation;
    program.call("cudaGraphLaunch", 7, {at - 50'000, at - 40'000}, 0, correlation);
    for (int k = 0; k < 3; ++k) {
      shaped(program.kernel("node", 7, {at + k * 101'000, at + k * 101'000 + 100'000}, correlation), 165);
      auto kernel = program.model.kernels.edit_back();
      kernel.graph = 5;
      kernel.graph_node = static_cast<std::uint64_t>(k);
    }
  }
  const DependentKernels kernels = found(program);
  ASSERT_EQ(kernels.pairs.size(), 1u);
  EXPECT_EQ(kernels.pairs[0].launches, 4u);
  EXPECT_EQ(kernels.pairs[0].in_graphs, 4u);
}

store::WaitRow wait(std::uint32_t sm, std::uint32_t block, TimeNs arrived, TimeNs resumed) {
  store::WaitRow row{};
  row.site = 1;
  row.block = block;
  row.sm = sm;
  row.arrived = arrived;
  row.resumed = resumed;
  return row;
}

TEST(DependentKernels, AWaitingKernelHoldsItsSms) {
  Program program = h100_program();
  add_pairs(program, 2);
  // In the first "down", two blocks of SM 3 wait at overlapping times, and one of SM 4.
  program.model.waits = {wait(3, 0, 1'210'000, 1'230'000), wait(3, 1, 1'220'000, 1'250'000),
                         wait(4, 2, 1'215'000, 1'216'000)};
  const DependentKernels kernels = found(program);
  ASSERT_EQ(kernels.pairs.size(), 1u);
  const DependentPair& pair = kernels.pairs[0];
  EXPECT_EQ(pair.consumer_held_sm_ns, 41'000);
  EXPECT_EQ(pair.producer_held_sm_ns, 0);
  EXPECT_EQ(pair.waiting, 1u);
  EXPECT_EQ(pair.launches, 1u);
}

TEST(DependentKernels, ThePictureHasOneBarPerRunOfEqualWaves) {
  Program program = h100_program();
  add_pairs(program, 1);
  const std::vector<WaveBar> bars = wave_bars(found(program).pairs[0]);
  ASSERT_EQ(bars.size(), 4u);
  const double whole = 301'500;
  EXPECT_FALSE(bars[1].consumer);
  EXPECT_DOUBLE_EQ(bars[1].fill, 0.25);
  EXPECT_NEAR(bars[1].begin, 100'000 / whole, 1e-9);
  EXPECT_NEAR(bars[1].end, 200'000 / whole, 1e-9);
  EXPECT_TRUE(bars[2].consumer);
  EXPECT_NEAR(bars[2].begin, 201'500 / whole, 1e-9);
  EXPECT_NEAR(bars[3].end, 1, 1e-9);
}

/// A kernel of one block per SM takes 100 us alone, twice, and 200 us beside a kernel of `holder` blocks, three times.
Program crowded_program(std::uint32_t holder, std::uint32_t threads) {
  Program program = h100_program();
  for (int i = 0; i < 2; ++i) {
    const TimeNs at = 1'000'000 + i * 300'000;
    shaped(program.kernel("gemm", 7, {at, at + 100'000}), 132);
  }
  shaped(program.kernel("reduce_all", 8, {2'000'000, 4'000'000}), holder, threads);
  for (int i = 0; i < 3; ++i) {
    const TimeNs at = 2'100'000 + i * 300'000;
    shaped(program.kernel("gemm", 7, {at, at + 200'000}), 132);
  }
  return program;
}

TEST(CrowdedKernels, TakeLongerBesideAHolderOfSms) {
  Program program = crowded_program(16, 1'024);
  const Analysis analysis = analyze(program.settled(), Parties::left_out);
  ASSERT_EQ(analysis.crowded_kernels.size(), 1u);
  const CrowdedKernel& crowded = analysis.crowded_kernels[0];
  EXPECT_EQ(crowded.kernel.name, "gemm");
  EXPECT_EQ(crowded.holder.name, "reduce_all");
  EXPECT_EQ(crowded.held_sms, 16u);
  EXPECT_EQ(crowded.launches, 3u);
  EXPECT_EQ(crowded.alone, 2u);
  ASSERT_TRUE(crowded.carve_out);
  EXPECT_NEAR(crowded.carve_out->value, 3 * (200'000 - 100'000 * 132.0 / 116), 1);
  EXPECT_NEAR(crowded.carve_out->high, 3 * 100'000, 1);
  EXPECT_EQ(crowded.carve_out->low, 0);
  const auto finding = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                                    [](const Finding& one) { return one.rule == "dependent_kernels"; });
  ASSERT_NE(finding, analysis.findings.end());
  EXPECT_EQ(finding->text, "gemm takes 2.00 times as long beside reduce_all, whose blocks hold 16 of 132 SMs");
}

TEST(CrowdedKernels, AreNotThoseThatFitBesideOrAreNotKnownAlone) {
  Program beside = crowded_program(16, 256);  // 48 of 64 warps, and registers for the other kernel's block, are left
  beside.model.kernels.edit_all([&](auto& kernel) { kernel.registers_per_thread = 32; });
  EXPECT_TRUE(analyze(beside.settled(), Parties::left_out).crowded_kernels.empty());
  Program never_alone = crowded_program(16, 1'024);
  never_alone.model.kernels.erase_if([first = 0](const auto&) mutable { return first++ < 2; });
  const Analysis analysis = analyze(never_alone.settled(), Parties::left_out);
  ASSERT_EQ(analysis.crowded_kernels.size(), 1u);
  EXPECT_FALSE(analysis.crowded_kernels[0].carve_out);
  Program without_limits = crowded_program(16, 1'024);
  without_limits.model.devices[0].max_threads_per_sm = 0;
  EXPECT_TRUE(analyze(without_limits.settled(), Parties::left_out).crowded_kernels.empty());
}

TEST(CrowdedKernels, TheHoldersWaitsAreSummedUpOnce) {
  Program program = crowded_program(16, 1'024);
  program.model.waits = {wait(3, 0, 2'010'000, 2'090'000), wait(4, 1, 2'020'000, 2'030'000)};
  const Analysis analysis = analyze(program.settled(), Parties::left_out);
  ASSERT_EQ(analysis.crowded_kernels.size(), 1u);
  EXPECT_EQ(analysis.crowded_kernels[0].holder_held_sm_ns, 90'000);
}

TEST(DependentKernels, MillionsOfKernelsAndManyShapes) {
  Program program = h100_program();
  constexpr int kKernels = 1'000'000, kShapes = 3'001;
  for (int i = 0; i < kKernels; ++i)
    shaped(program.kernel("k", 7, {1'000 + TimeNs{i} * 10'000, 10'000 + TimeNs{i} * 10'000}),
           static_cast<std::uint32_t>(1 + i % kShapes));
  const DependentKernels kernels = found(program);
  EXPECT_EQ(kernels.launches, kKernels - 1u);
  EXPECT_EQ(kernels.pairs.size(), kMostPairs);
  EXPECT_EQ(kernels.pairs_left_out, kShapes - kMostPairs);
}

TEST(DependentKernels, SurvivesDamagedRows) {
  Program program = h100_program();
  add_pairs(program, 3);
  std::vector<store::KernelRow> rows(program.model.kernels.begin(), program.model.kernels.end());
  rows[0].grid[0] = rows[0].grid[1] = rows[0].grid[2] = ~0u;
  rows[1].block[0] = rows[1].block[1] = ~0u;
  rows[1].registers_per_thread = ~0u;
  rows[2].end = rows[2].start - 5;
  rows[3].device = 99;
  rows[4].static_shared_bytes = rows[4].dynamic_shared_bytes = ~0u;
  rows[5].cluster[0] = ~0u;
  rows[5].grid[0] = 0;
  program.model.kernels = rows;
  program.model.devices[0].sm_count = 0;
  const Analysis analysis = analyze(program.settled(), Parties::left_out);
  for (const DependentPair& pair : analysis.dependent_kernels.pairs) EXPECT_NE(pair.why, NoWaves::known);
}

}  // namespace
}  // namespace wicprof::analyzer
