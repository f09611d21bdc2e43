#include "analyzer/work/occupancy.h"

#include <gtest/gtest.h>

#include "devices.h"

namespace wicprof::analyzer {
namespace {

using namespace test_devices;

std::optional<Occupancy> of(const store::DeviceRow& device, const BlockShape& shape) {
  return occupancy(device, shape, device.shared_bytes_per_sm);
}

struct Case {
  const char* what;
  store::DeviceRow device;
  BlockShape shape;
  std::uint32_t blocks;
  OccupancyLimit limit;
  double occupancy;
};

// Computed by hand from the table of compute capabilities in the CUDA programming guide.
TEST(Occupancy, MatchesValuesComputedByHand) {
  const Case cases[] = {
      // 2,048 threads / 256 = 8.
      {"h100 threads", h100(), {256, 32, 0}, 8, OccupancyLimit::threads, 1.0},
      // 32 blocks at most: 32 warps of 64.
      {"h100 tiny blocks", h100(), {32, 16, 0}, 32, OccupancyLimit::blocks, 0.5},
      // 64 registers x 32 = 2,048 per warp; 16,384 per scheduler / 2,048 = 8; 32 warps / 8 = 4.
      {"h100 registers", h100(), {256, 64, 0}, 4, OccupancyLimit::registers, 0.5},
      // 33 x 32 = 1,056 -> 1,280 per warp; 16,384 / 1,280 = 12; 48 warps / 8 = 6.
      {"h100 registers in units of 256", h100(), {256, 33, 0}, 6, OccupancyLimit::registers, 0.75},
      // 255 x 32 = 8,160 -> 8,192; 2 warps per scheduler, 8 per SM; blocks of 3 warps: 8 / 3 = 2.
      {"h100 odd warps", h100(), {96, 255, 0}, 2, OccupancyLimit::registers, 6.0 / 64},
      // (48 KiB + 1 KiB) x 4 = 196 KiB fit into 228 KiB, a fifth block does not.
      {"h100 shared memory", h100(), {128, 32, 48 * 1024}, 4, OccupancyLimit::shared_memory, 0.25},
      // Exactly 227 KiB + 1 KiB.
      {"h100 all shared memory", h100(), {1024, 32, 227 * 1024}, 1, OccupancyLimit::shared_memory, 0.5},
      // 1 byte -> 1,025 -> 1,152 with units of 128: 233,472 / 1,152 = 202, so blocks limit.
      {"h100 one byte", h100(), {32, 16, 1}, 32, OccupancyLimit::blocks, 0.5},
      // 33 threads are 2 warps: 64 / 2 = 32.
      {"h100 a thread over a warp", h100(), {33, 16, 0}, 32, OccupancyLimit::threads, 1.0},
      // 96 KiB / 40 KiB = 2.
      {"v100 shared memory", v100(), {256, 32, 40 * 1024}, 2, OccupancyLimit::shared_memory, 0.25},
      // 1 byte takes 256: 96 KiB / 256 = 384, but 2,048 / 64 = 32 blocks is the limit.
      {"v100 units of 256", v100(), {64, 32, 1}, 32, OccupancyLimit::threads, 1.0},
      // Turing: 1,024 threads and 16 blocks per SM. 64 registers: 8 warps per scheduler, 32 / 8 = 4, same as by
      // threads.
      {"t4 a tie", t4(), {256, 64, 0}, 4, OccupancyLimit::threads, 1.0},
      {"t4 blocks", t4(), {32, 32, 0}, 16, OccupancyLimit::blocks, 0.5},
      // Ada: 1,536 threads are 48 warps; a block of 1,024 threads has 32.
      {"rtx 4090 large blocks", rtx4090(), {1024, 32, 0}, 1, OccupancyLimit::threads, 32.0 / 48},
      // A100: (32 KiB + 1 KiB) x 4 = 132 of 164 KiB.
      {"a100 shared memory", a100(), {128, 32, 32 * 1024}, 4, OccupancyLimit::shared_memory, 0.25},
  };
  for (const Case& c : cases) {
    const auto found = of(c.device, c.shape);
    ASSERT_TRUE(found) << c.what;
    EXPECT_EQ(found->blocks_per_sm, c.blocks) << c.what;
    EXPECT_EQ(found->limit, c.limit) << c.what << ": " << occupancy_limit_name(found->limit);
    EXPECT_DOUBLE_EQ(found->occupancy, c.occupancy) << c.what;
  }
}

TEST(Occupancy, ReportsEachLimitAlone) {
  const auto found = of(h100(), {256, 64, 48 * 1024});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->by_threads, 8u);
  EXPECT_EQ(found->by_blocks, 32u);
  EXPECT_EQ(found->by_registers, 4u);
  EXPECT_EQ(found->by_shared_memory, 4u);
  EXPECT_EQ(found->limit, OccupancyLimit::registers);  // the first of two equal limits
  EXPECT_FALSE(of(v100(), {256, 0, 0})->by_registers);
  EXPECT_FALSE(of(v100(), {256, 0, 0})->by_shared_memory);
}

TEST(Occupancy, FollowsTheSmsConfiguration) {
  const auto found = occupancy(h100(), {128, 32, 7 * 1024}, 32 * 1024);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->blocks_per_sm, 4u);  // of 8 KiB each
  EXPECT_EQ(found->limit, OccupancyLimit::shared_memory);
}

TEST(Occupancy, IsEmptyForUnknownOrImpossibleInputs) {
  store::DeviceRow unknown{};
  EXPECT_FALSE(of(unknown, {256, 32, 0}));
  EXPECT_FALSE(of(h100(), {0, 32, 0}));
  EXPECT_FALSE(of(h100(), {4096, 32, 0}));           // no such block
  EXPECT_FALSE(of(h100(), {128, 32, 1024 * 1024}));  // nor this
  EXPECT_FALSE(of(h100(), {1024, 0xffffffffu, 0}));  // a damaged record
  EXPECT_FALSE(of(h100(), {0xffffffffu, 32, 0}));
  EXPECT_FALSE(of(h100(), {128, 32, 0xffffffffu}));
}

TEST(Waves, CountsWavesAndTheFillOfTheLast) {
  const auto partly = waves(132 * 8 * 2 + 264, 132, 8);
  ASSERT_TRUE(partly);
  EXPECT_DOUBLE_EQ(partly->waves, 2.25);
  EXPECT_DOUBLE_EQ(partly->last_wave_fill, 0.25);
  const auto whole = waves(132 * 8, 132, 8);
  ASSERT_TRUE(whole);
  EXPECT_DOUBLE_EQ(whole->waves, 1);
  EXPECT_DOUBLE_EQ(whole->last_wave_fill, 1);
  const auto one = waves(1, 100, 1);
  ASSERT_TRUE(one);
  EXPECT_DOUBLE_EQ(one->waves, 0.01);
  EXPECT_DOUBLE_EQ(one->last_wave_fill, 0.01);
  EXPECT_FALSE(waves(0, 132, 8));
  EXPECT_FALSE(waves(5, 0, 8));
  EXPECT_FALSE(waves(5, 132, 0));
}

}  // namespace
}  // namespace wicprof::analyzer
