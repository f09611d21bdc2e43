#include "collector/program/place_name.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace wicprof::collector {
namespace {

// Static functions have no entry in the table of dynamic symbols.
__attribute__((noinline)) static int hidden_function(int x) { return x * 3 + std::rand(); }

TEST(PlaceName, StaticFunctionsAndFunctionsOfLibrariesHaveNames) {
  const FunctionAt here = function_at(reinterpret_cast<const char*>(&hidden_function) + 1);
  EXPECT_NE(short_function(here.name, 40).find("hidden_function"), std::string::npos) << here.name;
  EXPECT_EQ(here.module, "collector_test");
  EXPECT_EQ(place_text(here).find("collector_test+0x"), 0u) << place_text(here);
  const FunctionAt library = function_at(reinterpret_cast<const void*>(&std::rand));
  EXPECT_EQ(library.module.find("libc.so"), 0u) << library.module;
}

TEST(PlaceName, AnAddressOutsideOfAllModulesHasNone) {
  int on_the_stack = 0;
  const FunctionAt nowhere = function_at(&on_the_stack);
  EXPECT_EQ(nowhere.name, "");
  EXPECT_EQ(place_text(nowhere), "");
}

TEST(PlaceName, ShortensReadableNames) {
  EXPECT_EQ(short_function("main", 20), "main");
  EXPECT_EQ(short_function("_ZN2at6native24_local_scalar_dense_cudaERKNS_6TensorE", 40),
            "at::native::_local_scalar_dense_cuda");
  EXPECT_EQ(short_function("_ZN2at6native24_local_scalar_dense_cudaERKNS_6TensorE", 30), "_local_scalar_dense_cuda");
  EXPECT_EQ(short_function("_ZN2at6native24_local_scalar_dense_cudaERKNS_6TensorE", 8), "_local_s");
  EXPECT_EQ(short_function("_ZNSt6vectorIiSaIiEE9push_backERKi", 40), "std::vector::push_back");
  EXPECT_EQ(short_function("_ZNK3FooclEv", 40), "Foo::operator()");
  EXPECT_EQ(short_function("_ZN12_GLOBAL__N_14stepEv", 40), "step");
  EXPECT_EQ(short_function("_Z3runIiEvT_", 40), "run");  // void run<int>(int)
  EXPECT_EQ(short_function("", 40), "");
}

}  // namespace
}  // namespace wicprof::collector
