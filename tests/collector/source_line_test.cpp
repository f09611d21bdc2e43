#include "collector/program/source_line.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace wicprof::collector {
namespace {

#ifdef WICPROF_HAS_BACKTRACE
__attribute__((noinline)) const char* return_address() {
  return static_cast<const char*>(__builtin_extract_return_addr(__builtin_return_address(0)));
}

TEST(SourceLine, IsThatOfTheCall) {
  const char* const here = return_address() - 1;
  EXPECT_EQ(source_line(here), "source_line_test.cpp:" + std::to_string(__LINE__ - 1));
}
#endif

TEST(SourceLine, IsEmptyWithoutDebugInformation) {
  int on_the_stack = 0;
  EXPECT_EQ(source_line(&on_the_stack), "");
  EXPECT_EQ(source_line(nullptr), "");
}

}  // namespace
}  // namespace wicprof::collector
