// Which host threads hold each other's work up in one stream.
#include "analyzer/work/shared_streams.h"

#include <gtest/gtest.h>

#include "tests/analyzer/devices.h"
#include "tests/analyzer/findings.h"
#include "tests/analyzer/program.h"

namespace wicprof::analyzer {
namespace {

/// Threads 1 and 2 launch a kernel of 1 ms each in every round, both at once, and wait for it.
struct Turns {
  std::uint32_t blocks = 64;  ///< of both kernels; the device holds 264
  std::uint32_t streams[2] = {7, 7};
  bool second_waits = true;
  std::uint32_t beside = 0;  ///< blocks of a kernel of thread 1 in another stream, all the time

  TraceModel program() const {
    test_program::Program made;
    made.model.devices[0] = test_devices::h100();
    constexpr TimeNs kRound = 2'100'000;
    constexpr int kRounds = 20;
    const auto launch = [&](std::uint32_t thread, std::uint32_t grid, std::uint32_t stream, test_program::Span span,
                            TimeNs called) {
      made.call("cudaLaunchKernel", thread, {called, called + 5'000}, 0, ++made.correlation);
      auto kernel = made.kernel("work", stream, span, made.correlation);
      kernel->grid[0] = grid;
      kernel->block[0] = 1024;
    };
    if (beside > 0) launch(1, beside, 9, {0, kRounds * kRound}, 0);
    for (int i = 0; i < kRounds; ++i) {
      const TimeNs begin = i * kRound, first = begin + 10'000, second = begin + 1'015'000;
      launch(1, blocks, streams[0], {first, first + 1'000'000}, begin);
      launch(2, blocks, streams[1], {second, second + 1'000'000}, begin + 1'000);
      made.host_wait("cudaStreamSynchronize", {begin + 6'000, first + 1'005'000}, 0)->thread = 1;
      if (second_waits) made.host_wait("cudaStreamSynchronize", {begin + 7'000, second + 1'005'000}, 0)->thread = 2;
    }
    return made.settled();
  }
};

std::vector<SharedStream> found(const Turns& turns) {
  const TraceModel model = turns.program();
  return shared_streams(model, DeviceWork(model), {model.begin, model.end});
}

TEST(SharedStreams, CountTheTimeInWhichThreadsHoldEachOtherUp) {
  const std::vector<SharedStream> one = found({});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].stream.stream, 7u);
  EXPECT_EQ(one[0].threads, (std::set<std::uint32_t>{1, 2}));
  EXPECT_EQ(one[0].launches, 40u);
  EXPECT_EQ(one[0].held, 20u);
  EXPECT_EQ(one[0].held_ns, 20 * 1'000'000);
}

TEST(SharedStreams, AreNoneWhereAThreadCouldNotGoOnSooner) {
  EXPECT_TRUE(found({.streams = {7, 8}}).empty());
  EXPECT_TRUE(found({.second_waits = false}).empty());  // the first thread's work may be what it needs
  EXPECT_TRUE(found({.blocks = 200}).empty());
  EXPECT_FALSE(found({.beside = 100}).empty());
  EXPECT_TRUE(found({.beside = 200}).empty());
}

TEST(SharedStreams, CountAKernelWithoutLengthBehindACopy) {
  test_program::Program made;
  for (const std::uint32_t thread : {1, 2}) {
    made.call("cudaCall", thread, {0, 5'000}, 0, thread);
    made.host_wait("cudaStreamSynchronize", {6'000, 2'000'000}, 0)->thread = thread;
  }
  store::CopyRow copy{};
  copy.start = 10'000;
  copy.end = 1'000'000;
  copy.context = made.kContext;
  copy.stream = 7;
  copy.correlation = 1;
  copy.process = made.kProcess;
  made.model.copies.emplace_back(copy);
  made.kernel("work", 7, {1'010'000, 1'010'000}, 2);
  const TraceModel& model = made.settled();
  const std::vector<SharedStream> found = shared_streams(model, DeviceWork(model), {0, 2'000'000});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].held_ns, 990'000);
}

TEST(SharedStreams, AreAFinding) {
  const Analysis analysis = analyze(Turns{}.program());
  const Finding* const finding = find(analysis, "shared_stream");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->text,
            "thread 1 and thread 2 wait for each other's work in one stream, though the device has room for both: "
            "20.0 ms");
  EXPECT_NE(finding->evidence.find("20 of 40 launches by 2 threads"), std::string::npos) << finding->evidence;
  ASSERT_TRUE(finding->cost.has_value());
  EXPECT_NEAR(finding->cost->amount, 0.48, 0.01);
  EXPECT_EQ(find(analyze(Turns{.streams = {7, 8}}.program()), "shared_stream"), nullptr);
}

}  // namespace
}  // namespace wicprof::analyzer
