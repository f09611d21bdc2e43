// many_hosts: bad usage is refused on every machine; the result is correct on a GPU.
#include <gtest/gtest.h>

#include "program.h"

namespace sample_test {
namespace {

TEST(ManyHosts, IsCorrectWithSeveralProcessesAndThreads) {
  for (const char* arguments : {"--processes 1 --threads 1", "--processes 2 --threads 8", "--processes 5 --threads 3",
                                "--processes 2 --threads 2 --elements 7 --kernels 24"}) {
    const Outcome result = run(MANY_HOSTS, std::string(arguments) + " --rounds 4 --timeout 40");
    if (result.status == kMachineCannot) GTEST_SKIP() << result.output;
    EXPECT_TRUE(result.ok()) << arguments << "\n" << result.output;
  }
}

TEST(ManyHosts, EachRankReportsMissingDevices) {
  const Outcome result = run(MANY_HOSTS, "--processes 2 --devices 64 --timeout 40");
  EXPECT_EQ(result.status, kMachineCannot) << result.output;
  EXPECT_NE(result.output.find("many_hosts: "), std::string::npos) << result.output;
  EXPECT_EQ(result.output.find("ok"), std::string::npos) << result.output;
}

TEST(ManyHosts, RefusesInvalidNumbers) {
  for (const char* arguments : {"--processes 0", "--threads x", "--kernels 25", "--hope 1", "rest"}) {
    const Outcome result = run(MANY_HOSTS, arguments);
    EXPECT_EQ(result.status, 2) << arguments << "\n" << result.output;
    EXPECT_FALSE(result.output.empty()) << arguments;
  }
  const Outcome help = run(MANY_HOSTS, "--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.output.find("example: "), std::string::npos);
}

}  // namespace
}  // namespace sample_test
