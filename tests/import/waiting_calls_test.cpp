#include "import/trace/waiting_calls.h"

#include <gtest/gtest.h>

namespace wicprof::imports {
namespace {

TEST(ImportCalls, NamesWithoutVersions) {
  EXPECT_EQ(plain_call_name("cudaStreamSynchronize_ptsz_v7000"), "cudaStreamSynchronize");
  EXPECT_EQ(plain_call_name("cuMemcpyDtoH_v2"), "cuMemcpyDtoH");
  EXPECT_EQ(plain_call_name("cudaLaunchKernel"), "cudaLaunchKernel");
  EXPECT_EQ(plain_call_name("my_call"), "my_call");
  EXPECT_EQ(plain_call_name("_v1"), "");
}

TEST(ImportCalls, KnowsWhatWaitsInCudaAndHip) {
  EXPECT_EQ(known_call("cudaDeviceSynchronize").awaited, Awaited::device);
  EXPECT_EQ(known_call("cuEventSynchronize").awaited, Awaited::event);
  EXPECT_EQ(known_call("hipStreamSynchronize").awaited, Awaited::stream);
  EXPECT_EQ(known_call("cuMemcpyDtoHAsync").kind, CallKind::copies_asynchronously);
  EXPECT_EQ(known_call("cudaMemcpy").kind, CallKind::copies);
  for (const char* name : {"cudaLaunchKernel", "StreamSynchronize", "cudaStreamSynchronizeX", "cuda", ""})
    EXPECT_EQ(known_call(name).kind, CallKind::other) << name;
}

}  // namespace
}  // namespace wicprof::imports
