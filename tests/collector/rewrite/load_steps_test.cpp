// Where the time of a load went.
#include <gtest/gtest.h>

#include <string>

#include "collector/rewrite/load_steps.h"
#include "protocol/time.h"

namespace wicprof::collector {
namespace {

TEST(LoadSteps, TheStepsOfALoadAddUp) {
  LoadSteps none;
  EXPECT_EQ(none.text(), "0.000 ms");
  LoadSteps some;
  const TimeNs begin = now_ns();
  while (now_ns() < begin + 2 * kMicrosecond) {
  }
  some.done("first");
  some.meanwhile("other", 1'500'000);
  const std::string text = some.text();
  EXPECT_NE(text.find(" ms: first 0.0"), std::string::npos) << text;
  EXPECT_NE(text.find(", other 1.500 meanwhile"), std::string::npos) << text;
}

}  // namespace
}  // namespace wicprof::collector
