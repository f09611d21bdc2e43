// What the analysis and the patch of a module need grows with the module, not with the loops times its length. Counted
// as the bytes that are allocated on the way: every list that is made anew per loop shows there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include "made_loops.h"
#include "rewriter/patch/patch.h"
#include "rewriter/waits/recognize.h"

namespace {
std::size_t allocated = 0;
}

void* operator new(std::size_t bytes) {
  allocated += bytes;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace wicprof::rewriter {
namespace {

constexpr int kFew = 100, kTimes = 8;
// The square would be 8 times the length. Lists that double leave some room unused.
constexpr double kMost = 1.5;

double bytes_for(std::string_view form, int loops) {
  const std::string text = made_loops(form, loops);
  const Result<Module> module = read_module(text);
  EXPECT_TRUE(module);
  const std::size_t before = allocated;
  const Result<Patch> patched = patch(*module, recognize(*module));
  EXPECT_TRUE(patched);
  EXPECT_GE(patched->sites.size(), static_cast<std::size_t>(kFew));
  return static_cast<double>(allocated - before) / static_cast<double>(text.size());
}

TEST(Growth, AnalysisAndPatchNeedMemoryByTheLengthOfTheModule) {
  for (const std::string_view form : kMadeForms) {
    EXPECT_LT(bytes_for(form, kFew * kTimes), kMost * bytes_for(form, kFew)) << form;
  }
}

TEST(Growth, TheAnalysisEndsWhereItIsTold) {
  const std::string text = made_loops("one_kernel", kFew);
  const Result<Module> module = read_module(text);
  int asked = 0;
  EXPECT_FALSE(recognize(*module, [&] { return ++asked < 10; }));
  EXPECT_EQ(asked, 10) << "it goes on after it was told to end";
  asked = 0;
  EXPECT_TRUE(recognize(*module, [&] { return ++asked > 0; }));
  EXPECT_GT(asked, kFew) << "not asked before each loop";
}

}  // namespace
}  // namespace wicprof::rewriter
