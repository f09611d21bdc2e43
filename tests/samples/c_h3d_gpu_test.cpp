// The c_h3d program on a GPU.
#include <gtest/gtest.h>

#include "c_h3d_program.h"

namespace c_h3d_test {
namespace {

constexpr int kMachineCannot = 3;

TEST(CH3dGpuTest, IsRightInBothModes) {
  for (const char* wait : {"poll", "park"}) {
    for (const char* size : {"1", "7", "33"}) {
      const std::string arguments =
          std::string("--devices cuda:0 --wait ") + wait + " --size " + size + " --iterations 50 --check every";
      const Outcome result = run(arguments);
      if (result.status == kMachineCannot) GTEST_SKIP() << result.output;
      EXPECT_TRUE(ends_ok(result)) << arguments << "\n" << result.output;
    }
  }
}

TEST(CH3dGpuTest, IsRightInALongRunOfALargeCube) {
  const Outcome result = run("--devices cuda:0 --size 160 --iterations 100");
  if (result.status == kMachineCannot) GTEST_SKIP() << result.output;
  EXPECT_TRUE(ends_ok(result)) << result.output;
  EXPECT_NE(result.output.find("checked cell by cell and all by their sum"), std::string::npos) << result.output;
}

}  // namespace
}  // namespace c_h3d_test
