// The c_h3d program on the CPU device.
#include <gtest/gtest.h>

#include "program.h"
#include "tests/thread_sanitizer.h"

namespace sample_test {
namespace {

TEST(CH3dTest, IsCorrectInEveryWayOnOneAndTwoDevices) {
  for (const char* devices : {"simt:1", "simt:2"}) {
    for (const char* wait : {"naive", "poll", "park"}) {
      for (const char* size : {"1", "3", "7", "12"}) {
        const std::string arguments = std::string("--devices ") + devices + " --wait " + wait + " --size " + size +
                                      " --iterations 5 --check every --timeout 60";
        const Outcome result = run(C_H3D_PROGRAM, arguments);
        EXPECT_TRUE(result.ok()) << arguments << "\n" << result.output;
        EXPECT_NE(result.output.find("c_h3d: 5 steps on " + std::string(devices) + " (" + wait + ")"),
                  std::string::npos)
            << result.output;
      }
    }
  }
}

TEST(CH3dTest, CountsItsMessages) {
  const std::string threads = wicprof::kThreadSanitizer ? " --block-size 32" : "";
  const Outcome result = run(C_H3D_PROGRAM, "--devices simt:2 --size 4 --iterations 1 --timeout 60" + threads);
  EXPECT_TRUE(result.ok()) << result.output;
  // A rank sends 2 * (16 + 4 * 4 + 4) cells of 4 bytes.
  EXPECT_NE(result.output.find("3 ranks of 4^3 cells"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("54 messages (0.8 KiB) per step"), std::string::npos) << result.output;
}

TEST(CH3dTest, ManyCpuThreadsGiveTheSameResult) {
  const Outcome result = run(C_H3D_PROGRAM, "--size 5 --threads 5 --iterations 3 --check every --timeout 60");
  EXPECT_TRUE(result.ok()) << result.output;
}

TEST(CH3dTest, IteratesForAGivenTime) {
  const Outcome result = run(C_H3D_PROGRAM, "--size 4 --seconds 0.2 --timeout 60");
  EXPECT_TRUE(result.ok()) << result.output;
}

TEST(CH3dTest, RefusesBadUsage) {
  EXPECT_EQ(run(C_H3D_PROGRAM, "--size 0").status, 2);
  EXPECT_EQ(run(C_H3D_PROGRAM, "--size 513").status, 2);
  EXPECT_EQ(run(C_H3D_PROGRAM, "--check sometimes").status, 2);
  EXPECT_EQ(run(C_H3D_PROGRAM, "--devices simt:many").status, 2);
}

}  // namespace
}  // namespace sample_test
