#include "collector/buffer_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace wicprof::collector {
namespace {

TEST(BufferPool, BuffersAreAlignedWholeAndUsedAgain) {
  BufferPool pool;
  std::uint8_t* first = pool.take();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % BufferPool::kAlignment, 0u);
  std::memset(first, 1, BufferPool::kBufferBytes);
  pool.give(first);
  EXPECT_EQ(pool.take(), first);
  pool.give(first);
}

TEST(BufferPool, SaysNoBeyondItsBoundAndRecovers) {
  BufferPool pool(2);
  std::uint8_t* a = pool.take();
  std::uint8_t* b = pool.take();
  EXPECT_NE(a, b);
  EXPECT_EQ(pool.take(), nullptr);
  pool.give(nullptr);
  EXPECT_EQ(pool.take(), nullptr);
  pool.give(b);
  EXPECT_NE(pool.take(), nullptr);
  pool.give(a);
  pool.give(b);
}

}  // namespace
}  // namespace wicprof::collector
