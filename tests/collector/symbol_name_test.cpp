#include "collector/program/symbol_name.h"

#include <gtest/gtest.h>

namespace wicprof::collector {
namespace {

TEST(SymbolName, KernelNamesAreDemangled) {
  EXPECT_EQ(readable_symbol("_Z6vecAddPKiS0_Pii"), "vecAdd(int const*, int const*, int*, int)");
  EXPECT_EQ(readable_symbol("plain_c_kernel"), "plain_c_kernel");
  EXPECT_EQ(readable_symbol("_Znonsense"), "_Znonsense");
  EXPECT_EQ(readable_symbol(""), "");
}

TEST(SymbolName, ShortNamesAreTheFunctionsOwn) {
  EXPECT_EQ(short_symbol("_Z6vecAddPKiS0_Pii"), "vecAdd");
  EXPECT_EQ(short_symbol("plain_c_kernel"), "plain_c_kernel");
  // void ns::scan<int, (bool)1>(int*), and a kernel without a namespace's name
  EXPECT_EQ(short_symbol("_ZN2ns4scanIiLb1EEEvPT_"), "scan");
  EXPECT_EQ(short_symbol("_ZN12_GLOBAL__N_14waitEPi"), "wait");
  EXPECT_EQ(short_symbol("_ZN2at6native6kernelILi4ENS0_4FillIfEEEEviT0_"), "kernel");
  EXPECT_EQ(short_symbol(""), "");
  EXPECT_EQ(short_symbol(")>"), ")>");
}

TEST(SymbolName, CallNamesLoseCuptisVersion) {
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
