#include "collector/cupti/buffer_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace wicprof::collector {
namespace {

TEST(BufferPool, BuffersAreAlignedAndReused) {
  BufferPool pool;
  std::uint8_t* first = pool.take().data;
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % BufferPool::kAlignment, 0u);
  std::memset(first, 1, BufferPool::kBufferBytes);
  pool.give(first);
  EXPECT_EQ(pool.take().data, first);
  pool.give(first);
}

bool all_zero(const std::uint8_t* buffer, std::size_t bytes = BufferPool::kBufferBytes) {
  return std::all_of(buffer, buffer + bytes, [](std::uint8_t byte) { return byte == 0; });
}

TEST(BufferPool, NewAndReusedBuffersAreZeroed) {
  BufferPool pool;
  pool.prepare();
  std::uint8_t* const buffer = pool.take().data;
  ASSERT_NE(buffer, nullptr);
  EXPECT_TRUE(all_zero(buffer));
  std::memset(buffer, 0xab, BufferPool::kBufferBytes);
  pool.give(buffer);
  ASSERT_EQ(pool.take().data, buffer);
  EXPECT_TRUE(all_zero(buffer));
  pool.give(buffer);
}

TEST(BufferPool, TheFirstBuffersOfEachPeriodAreSmall) {
  BufferPool pool;
  const BufferPool::Taken first = pool.take();
  EXPECT_EQ(first.bytes, BufferPool::kBufferBytes) << "no period has begun";
  pool.give(first.data);
  for (int period = 0; period < 2; ++period) {
    pool.prepare();
    std::size_t before = BufferPool::kBufferBytes / 16, sum = 0;
    for (int i = 0; i < 40; ++i) {
      const BufferPool::Taken taken = pool.take();
      EXPECT_EQ(taken.bytes, i % 8 == 0 && i > 0 ? 2 * before : before) << i;
      before = taken.bytes;
      sum += taken.bytes;
      pool.give(taken.data);
    }
    EXPECT_EQ(before, BufferPool::kBufferBytes);
    EXPECT_LE(sum, 16 * BufferPool::kBufferBytes);
  }
}

TEST(BufferPool, NewBuffersAreZeroedAsFarAsTheyAreHandedOut) {
  BufferPool pool;
  pool.prepare();
  for (const bool whole : {false, true}) {  // new ones, and those that come back
    std::vector<BufferPool::Taken> all;
    for (int i = 0; i < 40; ++i) {
      all.push_back(pool.take());
      EXPECT_TRUE(all_zero(all.back().data, whole ? BufferPool::kBufferBytes : all.back().bytes)) << i;
    }
    for (const BufferPool::Taken& taken : all) pool.give(taken.data);
  }
}

TEST(BufferPool, RefusesBeyondItsLimitAndRecovers) {
  BufferPool pool(2);
  std::uint8_t* a = pool.take().data;
  std::uint8_t* b = pool.take().data;
  EXPECT_NE(a, b);
  EXPECT_EQ(pool.take().data, nullptr);
  pool.give(nullptr);
  EXPECT_EQ(pool.take().data, nullptr);
  pool.give(b);
  EXPECT_NE(pool.take().data, nullptr);
  pool.give(a);
  pool.give(b);
}

}  // namespace
}  // namespace wicprof::collector
