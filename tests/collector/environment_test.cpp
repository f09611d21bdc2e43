#include "collector/program/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "protocol/session.h"

namespace wicprof::collector {
namespace {

TEST(Environment, Defaults) {
  for (const char* name : {kSessionVariable, kTraceVariable, kCuptiPathVariable, kFlushVariable}) unsetenv(name);
  const Environment environment = read_environment();
  EXPECT_EQ(environment.session, "");
  EXPECT_EQ(environment.cupti_path, "");
  EXPECT_EQ(environment.trace, (std::vector<std::string>{"cuda", "nvtx"}));
  EXPECT_EQ(environment.flush_ms, 100u);
}

TEST(Environment, ReadsValidValuesAndIgnoresMalformedOnes) {
  setenv(kTraceVariable, "kernels", 1);
  setenv(kFlushVariable, "20", 1);
  EXPECT_EQ(read_environment().trace, std::vector<std::string>{"kernels"});
  EXPECT_EQ(read_environment().flush_ms, 20u);
  for (const char* nonsense : {"-1", "soon", "99999999999", "1.5"}) {
    setenv(kFlushVariable, nonsense, 1);
    EXPECT_EQ(read_environment().flush_ms, 100u) << nonsense;
  }
  unsetenv(kTraceVariable);
  unsetenv(kFlushVariable);
}

TEST(Environment, FindsTheCuptiThatReceivesTheNvtxRanges) {
  setenv(kNvtxInjectionVariable, "/opt/cuda/lib64/libcupti.so.13", 1);
  EXPECT_EQ(read_environment().nvtx_cupti, "/opt/cuda/lib64/libcupti.so.13");
  setenv(kNvtxInjectionVariable, "/usr/lib/libwicprof_inject.so", 1);
  EXPECT_EQ(read_environment().nvtx_cupti, "");
  unsetenv(kNvtxInjectionVariable);
  EXPECT_EQ(read_environment().nvtx_cupti, "");
}

TEST(Environment, SplitsListsOfWords) {
  EXPECT_EQ(split_list(" a, b,,c "), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(split_list(" , ").empty());
}

}  // namespace
}  // namespace wicprof::collector
