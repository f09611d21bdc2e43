#include "collector/cupti/buffer_pool.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
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
  const BufferPool::Taken buffer = pool.take();
  ASSERT_NE(buffer.data, nullptr);
  EXPECT_TRUE(all_zero(buffer.data, buffer.bytes));
  std::memset(buffer.data, 0xab, buffer.bytes);
  pool.give(buffer.data);
  ASSERT_EQ(pool.take().data, buffer.data);
  EXPECT_TRUE(all_zero(buffer.data, buffer.bytes));
  pool.give(buffer.data);
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

TEST(BufferPool, BuffersOfEachSizeAreZeroedAndComeBackInTheirSize) {
  BufferPool pool;
  std::map<std::uint8_t*, std::size_t> known;
  for (int period = 0; period < 3; ++period) {
    pool.prepare();
    std::vector<BufferPool::Taken> all;
    for (int i = 0; i < 40; ++i) {
      all.push_back(pool.take());
      EXPECT_TRUE(all_zero(all.back().data, all.back().bytes)) << i;
      const auto [at, first] = known.try_emplace(all.back().data, all.back().bytes);
      EXPECT_EQ(at->second, all.back().bytes) << i;
      EXPECT_TRUE(first || period > 0) << i;
      EXPECT_TRUE(!first || period == 0) << "the buffers of the first period suffice";
    }
    for (const BufferPool::Taken& taken : all) {
      std::memset(taken.data, 0xab, taken.bytes);
      pool.give(taken.data);
    }
  }
}

// What a program does not use is not kept: a small buffer takes no more memory than it has.
TEST(BufferPool, KeepsNoMoreMemoryThanItHandsOut) {
  const auto in_use = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  const std::size_t before = in_use();
  BufferPool pool;
  pool.prepare();
  std::size_t sum = 0;
  std::vector<BufferPool::Taken> all;
  for (int i = 0; i < 16; ++i) {
    all.push_back(pool.take());
    sum += all.back().bytes;
  }
  for (const BufferPool::Taken& taken : all) pool.give(taken.data);
  pool.prepare();
  EXPECT_LT(in_use() - before, 2 * sum);
  EXPECT_LE(sum, 2 * BufferPool::kBufferBytes);
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
