#include "src/runtime/overlap.h"

#include <gtest/gtest.h>

#include <map>

namespace wic {
namespace {

std::string with(const std::map<std::string, std::string>& variables) {
  return what_prevents_overlap([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Overlap, NothingIsKnownOfAnOrdinaryProcess) {
  EXPECT_EQ(with({}), "");
  EXPECT_EQ(with({{"CUDA_LAUNCH_BLOCKING", "0"}}), "");
  EXPECT_EQ(with({{"CUDA_LAUNCH_BLOCKING", ""}}), "");
}

TEST(Overlap, BlockingLaunchesAreNamedWithTheirCure) {
  const std::string text = with({{"CUDA_LAUNCH_BLOCKING", "1"}});
  EXPECT_NE(text.find("CUDA_LAUNCH_BLOCKING"), std::string::npos);
  EXPECT_NE(text.find("unset"), std::string::npos);
}

TEST(Overlap, AProfilerThatReplaysKernelsIsNamedWithItsCure) {
  EXPECT_NE(with({{"NV_COMPUTE_PROFILER_PERFWORKS_DIR", "/opt/ncu"}}).find("--replay-mode"), std::string::npos);
}

}  // namespace
}  // namespace wic
