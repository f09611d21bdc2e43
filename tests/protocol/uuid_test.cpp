#include "protocol/uuid.h"

#include <gtest/gtest.h>

namespace wicprof {
namespace {

TEST(Uuid, FormatsLikeNvidiaSmi) {
  const unsigned char bytes[16] = {0xab, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07,
                                   0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0xff};
  EXPECT_EQ(uuid_text(bytes), "GPU-ab010203-0405-0607-0809-0a0b0c0d0eff");
}

TEST(Uuid, ZerosAreNoUuid) {
  const unsigned char bytes[16] = {};
  EXPECT_EQ(uuid_text(bytes), "");
}

}  // namespace
}  // namespace wicprof
