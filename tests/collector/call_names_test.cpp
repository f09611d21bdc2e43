#include "collector/cupti/call_names.h"

#include <gtest/gtest.h>

namespace wicprof::collector {
namespace {

TEST(CallNames, TheyLoseCuptisVersion) {
  EXPECT_EQ(plain_call_name("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(plain_call_name("cudaStreamSynchronize_ptsz_v7000"), "cudaStreamSynchronize_ptsz");
  EXPECT_EQ(plain_call_name("__cudaPushCallConfiguration_v13000"), "__cudaPushCallConfiguration");
  EXPECT_EQ(plain_call_name("cuCtxPushCurrent_v2"), "cuCtxPushCurrent_v2");
  EXPECT_EQ(plain_call_name("cuInit"), "cuInit");
  EXPECT_EQ(plain_call_name("_v7000"), "_v7000");
  EXPECT_EQ(plain_call_name("a_vector"), "a_vector");
  EXPECT_EQ(plain_call_name(""), "");
}

}  // namespace
}  // namespace wicprof::collector
