// flag_handoff and hot_flag on the CPU device.
#include <gtest/gtest.h>

#include "program.h"
#include "tests/thread_sanitizer.h"

namespace sample_test {
namespace {

TEST(FlagHandoff, IsCorrectInBothModes) {
  const std::string size = wicprof::kThreadSanitizer ? "--blocks 2 --iterations 3" : "--iterations 6";
  for (const char* wait : {"poll", "park"}) {
    const Outcome result = run(FLAG_HANDOFF, size + " --size 500 --wait " + wait);
    EXPECT_TRUE(result.ok()) << result.output;
  }
}

TEST(HotFlag, IsCorrectInBothModesAndAlone) {
  for (const char* arguments :
       {"--wait poll", "--wait park", "--waiters 0", "--waiters 5 --streamers 3 --threads 96", "--arithmetic 3"}) {
    const Outcome result = run(HOT_FLAG, std::string("--iterations 5 --timeout 60 --size 1 ") + arguments);
    EXPECT_TRUE(result.ok()) << arguments << "\n" << result.output;
  }
}

TEST(HotFlag, AMissedDeadlineIsReportedAndFails) {
  // The host releases the flag only after the streaming, which takes longer than this.
  const Outcome result = run(HOT_FLAG, "--iterations 1 --timeout 0.001 --size 64");
  EXPECT_EQ(result.status, 1) << result.output;
  EXPECT_NE(result.output.find("missed deadlines"), std::string::npos) << result.output;
}

TEST(HotFlag, RefusesADeadlock) {
  const Outcome result = run(HOT_FLAG, "--iterations 1 --waiters 100000");
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.output.find("do not fit"), std::string::npos) << result.output;
}

TEST(Samples, RefuseBadUsage) {
  EXPECT_EQ(run(HOT_FLAG, "--threads 33").status, 2);
  EXPECT_EQ(run(HOT_FLAG, "--wait sometimes").status, 2);
  EXPECT_EQ(run(FLAG_HANDOFF, "--devices gpu:0").status, 2);
  EXPECT_EQ(run(FLAG_HANDOFF, "--iterations 0").status, 2);
}

}  // namespace
}  // namespace sample_test
