// CUDA graphs that were recorded as a whole: their launches are work of the device, whose kernels and blocks are not
// known but from launches that were recorded kernel by kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "analyzer/analysis.h"
#include "analyzer/path/work_index.h"
#include "analyzer/rules/rule.h"
#include "tests/analyzer/devices.h"
#include "tests/analyzer/program.h"

namespace wicprof::analyzer {
namespace {

using test_program::Program;

constexpr TimeNs kMs = kMillisecond;
constexpr std::uint32_t kGraph = 9;

void whole(Program& program, TimeNs at, TimeNs length, std::uint32_t graph = kGraph) {
  auto row = program.launch("CUDA graph " + std::to_string(graph), 7, {at, at + length}, at - 10'000);
  for (auto& size : row.grid) size = 0;
  for (auto& size : row.block) size = 0;
  row.graph = graph;
}

void node(Program& program, const std::string& name, TimeNs at, TimeNs length, std::uint32_t correlation,
          std::uint64_t number) {
  auto row = program.kernel(name, 7, {at, at + length}, correlation);
  row.graph = kGraph;
  row.graph_node = number;
}

Program steps(int count) {
  Program program;
  program.model.devices = {test_devices::h100()};
  for (int i = 1; i <= count; ++i) {
    whole(program, i * 10 * kMs, 6 * kMs);
    program.sync(SyncKind::stream, 7, {i * 10 * kMs, i * 10 * kMs + 6 * kMs + 5'000});
    program.host_wait("cudaStreamSynchronize", {i * 10 * kMs, i * 10 * kMs + 6 * kMs + 5'000}, kMs).correlation =
        program.correlation;
  }
  return program;
}

TEST(Graphs, KeepTheirDeviceBusyAndAreWaitedFor) {
  Program program = steps(10);
  const Analysis analysis = analyze(program.settled(), Parties::left_out);
  ASSERT_EQ(analysis.devices.size(), 1u);
  EXPECT_EQ(analysis.devices[0].busy_ns, 60 * kMs);
  ASSERT_EQ(analysis.kernels.size(), 1u);
  EXPECT_EQ(analysis.kernels[0].count, 10u);
  EXPECT_FALSE(analysis.kernels[0].occupancy);
  TimeNs on_device = 0;
  for (const PathSegment& segment : analysis.path.segments) {
    if (segment.kind == PathKind::device_work) on_device += segment.end - segment.begin;
  }
  EXPECT_EQ(on_device, 60 * kMs);
  ASSERT_EQ(analysis.host_wait_parts.size(), 1u);
  EXPECT_EQ(analysis.host_wait_parts[0].waits, 10u);
  EXPECT_EQ(analysis.host_wait_parts[0].running_ns, 60 * kMs);
}

TEST(Graphs, HaveAnyBlockAndNoPairs) {
  Program program = steps(3);
  whole(program, 50 * kMs, kMs);
  program.launch("behind", 7, {51 * kMs + 1'000, 52 * kMs}, 50 * kMs);
  const Analysis analysis = analyze(program.settled(), Parties::left_out);
  EXPECT_TRUE(analysis.dependent_kernels.pairs.empty());
  EXPECT_TRUE(analysis.crowded_kernels.empty());
  EXPECT_GT(blocks_of(program.model.kernels[0]), 1'000'000'000u);
}

void shape(store::KernelRow& kernel, std::uint32_t blocks) {
  kernel.grid[0] = blocks;
  kernel.block[0] = 1'024;
  kernel.registers_per_thread = 64;
}

TEST(Graphs, HavePairsWithinWhereTheirKernelsWereRecorded) {
  Program program;
  program.model.devices = {test_devices::h100()};
  for (std::uint32_t launch = 0; launch < 2; ++launch) {
    const TimeNs at = (1 + launch) * 10 * kMs;
    std::uint64_t number = 0;
    for (const auto& [name, begin, length] :
         {std::tuple("up", TimeNs{0}, 600'000), std::tuple("down", TimeNs{601'000}, 300'000)}) {
      auto row = program.kernel(name, 7, {at + begin, at + begin + length}, 1'000 + launch);
      shape(row, 165);
      row.graph = kGraph;
      row.graph_node = ++number;
    }
  }
  const Analysis analysis = analyze(program.settled(), Parties::left_out);
  ASSERT_EQ(analysis.dependent_kernels.pairs.size(), 1u);
  const DependentPair& pair = analysis.dependent_kernels.pairs[0];
  EXPECT_EQ(pair.launches, 2u);
  EXPECT_EQ(pair.in_graphs, 2u);
  EXPECT_EQ(pair.producer_ns, 1'200'000);
  EXPECT_EQ(pair.gap_ns, 2'000);
  const auto up = std::find_if(analysis.kernels.begin(), analysis.kernels.end(),
                               [](const KernelStats& kernel) { return kernel.name == "up"; });
  ASSERT_NE(up, analysis.kernels.end());
  EXPECT_EQ(up->count, 2u);
}

TEST(Graphs, AreKnownFromLaunchesThatWereRecordedKernelByKernel) {
  Program program = steps(5);
  for (std::uint32_t launch = 0; launch < 2; ++launch) {
    const TimeNs at = (100 + launch) * kMs;
    node(program, "gemm", at, 300, 1'000 + launch, 1);
    node(program, "gemm", at + 300, 300, 1'000 + launch, 2);
    node(program, "softmax", at + 600, 200, 1'000 + launch, 3);
  }
  whole(program, 200 * kMs, kMs, 10);
  const Analysis analysis = analyze(program.settled(), Parties::left_out);
  ASSERT_EQ(analysis.graphs.size(), 2u);
  const GraphStats& known = analysis.graphs[0];
  EXPECT_EQ(known.name, "CUDA graph 9");
  EXPECT_EQ(known.launches, 2u);
  EXPECT_EQ(known.kernels_per_launch, 3);
  ASSERT_EQ(known.parts.size(), 2u);
  EXPECT_EQ(known.parts[0].name, "gemm");
  EXPECT_DOUBLE_EQ(known.parts[0].share, 0.75);
  EXPECT_DOUBLE_EQ(known.parts[1].share, 0.25);
  EXPECT_EQ(analysis.graphs[1].name, "CUDA graph 10");
  EXPECT_EQ(analysis.graphs[1].launches, 0u);
  EXPECT_TRUE(analysis.graphs[1].parts.empty());
}

TEST(Graphs, ThatWereRecordedKernelByKernelAreNamedWithTheirKernels) {
  Program program;
  node(program, "gemm", kMs, 300, 1, 1);
  node(program, "norm", 2 * kMs, 100, 1, 2);
  const Analysis analysis = analyze(program.settled(), Parties::left_out);
  ASSERT_EQ(analysis.graphs.size(), 1u);
  EXPECT_EQ(analysis.graphs[0].name, "CUDA graph 9");
  EXPECT_EQ(analysis.graphs[0].launches, 1u);
  ASSERT_EQ(analysis.graphs[0].parts.size(), 2u);
  EXPECT_EQ(analysis.graphs[0].parts[0].name, "gemm");
  EXPECT_DOUBLE_EQ(analysis.graphs[0].parts[0].share, 0.75);
}

}  // namespace
}  // namespace wicprof::analyzer
