// The samples on a GPU.
#include <gtest/gtest.h>

#include "program.h"

namespace sample_test {
namespace {

// Runs the sample and expects the ok line; false if the machine has no GPU.
bool is_correct(const std::string& program, const std::string& arguments, std::string& output) {
  const Outcome result = run(program, arguments);
  output = result.output;
  if (result.status == kMachineCannot) return false;
  EXPECT_TRUE(result.ok()) << program << " " << arguments << "\n" << result.output;
  return true;
}

TEST(SamplesOnGpu, FlagHandoffIsCorrect) {
  std::string output;
  for (const char* wait : {"poll", "park"}) {
    if (!is_correct(FLAG_HANDOFF, std::string("--devices cuda:0 --iterations 300 --wait ") + wait, output)) {
      GTEST_SKIP() << output;
    }
  }
}

TEST(SamplesOnGpu, HotFlagIsCorrect) {
  std::string output;
  for (const char* wait : {"poll", "park"}) {
    if (!is_correct(HOT_FLAG, std::string("--devices cuda:0 --iterations 10 --size 128 --wait ") + wait, output)) {
      GTEST_SKIP() << output;
    }
  }
}

TEST(SamplesOnGpu, HotFlagRefusesADeadlock) {
  const Outcome result = run(HOT_FLAG, "--devices cuda:0 --waiters 100000 --iterations 1");
  if (result.status == kMachineCannot) GTEST_SKIP() << result.output;
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.output.find("do not fit"), std::string::npos) << result.output;
}

TEST(SamplesOnGpu, CH3dIsCorrectInEveryWay) {
  std::string output;
  for (const char* wait : {"naive", "poll", "park"}) {
    for (const char* size : {"1", "7", "33"}) {
      const std::string arguments =
          std::string("--devices cuda:0 --wait ") + wait + " --size " + size + " --iterations 50 --check every";
      if (!is_correct(C_H3D, arguments, output)) GTEST_SKIP() << output;
    }
  }
}

TEST(SamplesOnGpu, CH3dIsCorrectInALongRunOfALargeCube) {
  std::string output;
  if (!is_correct(C_H3D, "--devices cuda:0 --size 160 --iterations 100", output)) GTEST_SKIP() << output;
  EXPECT_NE(output.find("checked cell by cell, all by the sum"), std::string::npos) << output;
}

}  // namespace
}  // namespace sample_test
