#include "collector/cupti/buffer_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

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

bool all_zero(const std::uint8_t* buffer) {
  return std::all_of(buffer, buffer + BufferPool::kBufferBytes, [](std::uint8_t byte) { return byte == 0; });
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
  for (int period = 0; period < 2; ++period) {
    std::size_t before = 0;
    for (int i = 0; i < 8; ++i) {
      const BufferPool::Taken taken = pool.take();
      EXPECT_EQ(taken.bytes, i == 0 ? BufferPool::kBufferBytes / 16 : std::min(2 * before, BufferPool::kBufferBytes));
      before = taken.bytes;
      pool.give(taken.data);
    }
    EXPECT_EQ(before, BufferPool::kBufferBytes);
    pool.prepare();
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
