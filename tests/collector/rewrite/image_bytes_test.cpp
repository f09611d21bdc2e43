// How many bytes an image has.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "collector/rewrite/image_bytes.h"
#include "tests/rewriter/made_fat_binary.h"

namespace wicprof::collector {
namespace {

TEST(RewriteImages, TheBytesOfAnImageAreKnownFromItsHeader) {
  using namespace rewriter::made;
  const std::string ptx(kPtx), code = container(entry(1, ptx, rewriter::Compression::lz4)), elf = cubin({"k"});
  EXPECT_EQ(image_at(ptx.c_str()), ptx);
  EXPECT_EQ(image_at((code + "more").data()), code);
  EXPECT_EQ(image_at((elf + "more").data()), elf);
  EXPECT_EQ(image_at(nullptr), "");
  struct {
    std::uint32_t magic = 0x466243B1, version = 1;
    const void* data;
    const void* more = nullptr;
  } wrapper{.data = code.data()};
  EXPECT_EQ(image_at(&wrapper), code);
  wrapper.version = 2;
  EXPECT_EQ(image_at(&wrapper), "");
}

}  // namespace
}  // namespace wicprof::collector
