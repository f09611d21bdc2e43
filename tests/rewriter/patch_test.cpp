// The patch and its removal.
#include <gtest/gtest.h>

#include <string>

#include "ptx_texts.h"
#include "rewriter/patch/patch.h"

namespace wicprof::rewriter {
namespace {

constexpr const char* kFlag = "$L: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;";

TEST(RewriterPatch, StandsBeforeTheBackEdgeAndCanBeTakenOut) {
  const std::string text = kernel(kFlag);
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  const Result<Patch> patched = patch(*module, verdicts);
  ASSERT_TRUE(patched) << patched.error().message;
  ASSERT_EQ(patched->sites.size(), 1u);
  EXPECT_EQ(patched->sites[0].function, "k");
  EXPECT_NE(patched->text.find("@!%p1 bra $__wic_go_on_0;"), std::string::npos);
  EXPECT_NE(patched->text.find("/*__wic_end*/@%p1 bra $L;"), std::string::npos);
  EXPECT_EQ(strip(patched->text), text);
}

TEST(RewriterPatch, BeginsAWaitBeforeTheLoopsLabel) {
  const std::string text = kernel(kFlag);
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const Result<Patch> patched = patch(*module, recognize(*module));
  ASSERT_TRUE(patched);
  const std::size_t begin = patched->text.find("mov.b32 %__wic_n, 0", patched->text.find("cvta.to.global"));
  const std::size_t label = patched->text.find("$L:");
  ASSERT_NE(begin, std::string::npos) << patched->text;
  EXPECT_LT(begin, label);
  EXPECT_NE(patched->text.find(".b8 " + patched->table + "[128];"), std::string::npos);
}

TEST(RewriterPatch, ReadsTheHostsWordWithOneThreadPerDeviceOnly) {
  const std::string text = kernel(kFlag);
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const Result<Patch> patched = patch(*module, recognize(*module));
  ASSERT_TRUE(patched);
  // The words of site 0 stand behind the 64 bytes of ModuleWords.
  const std::size_t own = patched->text.find("ld.volatile.global.u32 %__wic_r, [" + patched->table + "+64]");
  const std::size_t lease = patched->text.find("atom.global.cas.b64 %__wic_f, [" + patched->table + "+72]");
  const std::size_t lost = patched->text.find("bra $__wic_known_0;", lease);
  const std::size_t hosts = patched->text.find("ld.volatile.global.u32 %__wic_r, [%__wic_a+0]");
  ASSERT_NE(own, std::string::npos) << patched->text;
  ASSERT_NE(hosts, std::string::npos);
  EXPECT_LT(own, lease);
  EXPECT_LT(lease, lost);
  EXPECT_LT(lost, hosts);
}

TEST(RewriterPatch, LeavesAModuleWithoutWaitsAsItIs) {
  const std::string text = kernel("add.s32 %r2, %r1, 1;");
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const Result<Patch> patched = patch(*module, recognize(*module));
  ASSERT_TRUE(patched);
  EXPECT_EQ(patched->text, text);
}

TEST(RewriterPatch, StandsBehindTheLastStatementWhereTheCodeFallsThrough) {
  const std::string text = kernel(
      "bra.uni $H; $T: setp.eq.s32 %p2, %r2, %r1; @%p2 bra $D;"
      "$H: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.s32 %p1, %r2, 0; @%p1 bra $T; $D:");
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  const Result<Patch> patched = patch(*module, verdicts);
  ASSERT_TRUE(patched);
  ASSERT_EQ(patched->sites.size(), 1u);
  EXPECT_NE(patched->text.find("@%p2 bra $D;/*__wic_begin*/"), std::string::npos) << patched->text;
  EXPECT_EQ(strip(patched->text), text);
}

TEST(RewriterPatch, RefusesAPatchedModuleAndAnOldTarget) {
  const std::string text = kernel(kFlag);
  const Result<Module> module = read_module(text);
  ASSERT_TRUE(module);
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  const Result<Patch> once = patch(*module, verdicts);
  ASSERT_TRUE(once);
  const Result<Module> again = read_module(once->text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(patch(*again, recognize(*again)));

  std::string old = text;
  old.replace(old.find("sm_90"), 5, "sm_60");
  const Result<Module> early = read_module(old);
  ASSERT_TRUE(early);
  EXPECT_FALSE(patch(*early, recognize(*early)));
}

}  // namespace
}  // namespace wicprof::rewriter
