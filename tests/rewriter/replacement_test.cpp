// What becomes of an image that a program loads: patched text, or the image as it is, with the reason.
#include "rewriter/load/replacement.h"

#include <gtest/gtest.h>

#include "tests/rewriter/made_fat_binary.h"

namespace wicprof::rewriter {
namespace {

using made::container, made::entry, made::kPtx;

TEST(Replacement, AnAnalysisThatTakesTooLongLeavesTheImage) {
  EXPECT_FALSE(replacement_of(kPtx, 90).text.empty());
  const Replacement ended = replacement_of(kPtx, 90, [] { return false; });
  EXPECT_TRUE(ended.text.empty());
  EXPECT_TRUE(ended.ended_early);
  EXPECT_NE(ended.left_alone.find("take longer to analyse than 2 s"), std::string::npos) << ended.left_alone;
  EXPECT_FALSE(within(std::chrono::seconds(-1))());
  EXPECT_TRUE(within(std::chrono::hours(1))());
}

}  // namespace
}  // namespace wicprof::rewriter
