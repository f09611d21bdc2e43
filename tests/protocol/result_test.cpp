#include "protocol/result.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace wicprof {
namespace {

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = 7;
  ASSERT_TRUE(good);
  EXPECT_EQ(*good, 7);
  const Result<int> bad = bad_input("file x is odd; mend it");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(bad.error().message, "file x is odd; mend it");
  EXPECT_EQ(Result<int>(unavailable("no")).error().kind, ErrorKind::unavailable);
}

TEST(Result, DistinguishesAnEmptyValueFromAnError) {
  EXPECT_TRUE(ok());
  EXPECT_TRUE(Result<std::string>(std::string()));
  const Result<> failed = bad_input("");
  EXPECT_FALSE(failed);
}

TEST(Result, HoldsMoveOnlyValues) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
  ASSERT_TRUE(result);
  std::unique_ptr<int> taken = std::move(*result);
  EXPECT_EQ(*taken, 3);
}

TEST(Result, TemporaryListCanBeIterated) {
  const auto list = [] { return Result<std::vector<int>>(std::vector<int>(1000, 2)); };
  int sum = 0;
  for (const int value : *list()) sum += value;
  EXPECT_EQ(sum, 2000);
}

}  // namespace
}  // namespace wicprof
