#include "protocol/symbol_name.h"

#include <gtest/gtest.h>

namespace wicprof {
namespace {

TEST(SymbolName, KernelNamesAreDemangled) {
  EXPECT_EQ(demangled("_Z6vecAddPKiS0_Pii"), "vecAdd(int const*, int const*, int*, int)");
  EXPECT_EQ(demangled("plain_c_kernel"), "plain_c_kernel");
  EXPECT_EQ(demangled("_Znonsense"), "_Znonsense");
  EXPECT_EQ(demangled(""), "");
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

}  // namespace
}  // namespace wicprof
