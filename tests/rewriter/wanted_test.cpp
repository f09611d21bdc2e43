// What a wait wants of its word, and where a kernel stores.
#include <gtest/gtest.h>

#include <string>

#include "ptx_texts.h"
#include "rewriter/flow/stores.h"
#include "rewriter/waits/recognize.h"

namespace wicprof::rewriter {
namespace {

using Relation = WantedRelation;

WantedValue wanted_of(const std::string& body) {
  const std::string text = kernel(body);
  const Result<Module> module = read_module(text);
  EXPECT_TRUE(module);
  for (const FunctionVerdicts& function : recognize(*module)) {
    for (const LoopVerdict& loop : function.loops) {
      EXPECT_EQ(name_of(loop.verdict), "wait") << loop.reason;
      EXPECT_TRUE(loop.word);
      return loop.wanted;
    }
  }
  ADD_FAILURE() << "no loop";
  return {};
}

void expect(const std::string& body, Relation relation, std::uint64_t value = 0,
            std::uint64_t mask = ~std::uint64_t{0}) {
  const WantedValue wanted = wanted_of(body);
  EXPECT_EQ(static_cast<int>(wanted.relation), static_cast<int>(relation)) << body;
  if (relation == Relation::unknown) return;
  EXPECT_EQ(wanted.value, value) << body;
  EXPECT_EQ(wanted.mask, mask) << body;
}

const std::string kLoad = "$L: ld.volatile.global.u32 %r2, [%rd1]; ";

TEST(RewriterWanted, IsTheOppositeOfWhatGoesBack) {
  expect(kLoad + "setp.eq.s32 %p1, %r2, 0; @%p1 bra $L;", Relation::not_equal, 0);
  expect(kLoad + "setp.ne.s32 %p1, %r2, 7; @%p1 bra $L;", Relation::equal, 7);
  expect(kLoad + "setp.lt.u32 %p1, %r2, 5; @%p1 bra $L;", Relation::at_least, 5);
  expect(kLoad + "setp.gt.u32 %p1, %r2, 5; @%p1 bra $L;", Relation::at_most, 5);
  expect(kLoad + "setp.gt.s32 %p1, %r2, -1; @%p1 bra $L;", Relation::signed_at_most, 0xffff'ffff);
  expect(kLoad + "setp.lt.s32 %p1, 3, %r2; @!%p1 bra $L;", Relation::signed_at_least, 4);
}

TEST(RewriterWanted, FollowsConditionsThatWereTakenApart) {
  expect(kLoad + "setp.ne.s32 %p1, %r2, 1; @!%p1 bra $D; bra.uni $L; $D:", Relation::equal, 1);
  expect(kLoad + "setp.ge.u32 %p1, %r2, 9; not.pred %p2, %p1; @%p2 bra $L;", Relation::at_least, 9);
  expect(kLoad +
             "setp.ne.s32 %p1, %r2, 0; selp.u32 %r3, 1, 0, %p1; setp.eq.s32 %p2, %r3, 0; @!%p2 bra $D; bra.uni $L; $D:",
         Relation::not_equal, 0);
  expect("mov.u32 %r3, 0; " + kLoad +
             "setp.ne.s32 %p1, %r2, 4; add.s32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 1000; and.pred %p3, %p1, %p2;"
             "@%p3 bra $L;",
         Relation::equal, 4);
}

TEST(RewriterWanted, KnowsMasksAndConstantsInRegisters) {
  expect(kLoad + "and.b32 %r3, %r2, 16; setp.eq.s32 %p1, %r3, 0; @%p1 bra $L;", Relation::not_equal, 0, 16);
  expect("mov.u32 %r5, 12; " + kLoad + "setp.ne.s32 %p1, %r2, %r5; @%p1 bra $L;", Relation::equal, 12);
  expect("$L: ld.acquire.sys.global.u64 %rd4, [%rd1+8]; setp.ne.s64 %p1, %rd4, -1; @%p1 bra $L;", Relation::equal,
         ~std::uint64_t{0});
}

TEST(RewriterWanted, IsUnknownWhereTheCodeHasNoConstant) {
  expect(kLoad + "setp.lt.u32 %p1, %r2, %r1; @%p1 bra $L;", Relation::unknown);  // a parameter
  expect(kLoad + "sub.s32 %r3, %r2, 4; setp.lt.s32 %p1, %r3, 0; @%p1 bra $L;", Relation::unknown);
  expect(kLoad + "and.b32 %r3, %r2, 16; setp.lt.u32 %p1, %r3, 4; @%p1 bra $L;", Relation::unknown);
  expect(kLoad + "setp.ne.s32 %p1, %r2, 3; setp.ne.s32 %p2, %r2, 4; and.pred %p3, %p1, %p2; @%p3 bra $L;",
         Relation::unknown);
}

TEST(RewriterWanted, HoldsSaysWhetherAWordEndsTheWait) {
  WantedValue wanted{Relation::signed_at_most, false, 0xffff'ffff, ~std::uint64_t{0}};
  EXPECT_TRUE(wanted.holds(0x8000'0001));
  EXPECT_FALSE(wanted.holds(7));
  wanted = {Relation::not_equal, false, 0, 16};
  EXPECT_TRUE(wanted.holds(0x30));
  EXPECT_FALSE(wanted.holds(0x0f));
  wanted = {Relation::at_least, true, std::uint64_t{1} << 40, ~std::uint64_t{0}};
  EXPECT_FALSE(wanted.holds(0xffff'ffff));
  EXPECT_FALSE(WantedValue{}.holds(1));
}

std::vector<KernelStores> stores_in(const std::string& body) {
  const std::string text = kernel(body);
  const Result<Module> module = read_module(text);
  EXPECT_TRUE(module);
  return stores_of(*module);
}

TEST(RewriterStores, NameTheParameterThatHoldsThePointer) {
  const auto exact = stores_in("st.release.gpu.global.u32 [%rd1+64], %r1;");
  ASSERT_EQ(exact.size(), 1u);
  EXPECT_EQ(exact[0].kernel, "k");
  EXPECT_EQ(exact[0].targets, (std::vector{StoreTarget{0, "", true, 64}}));
  EXPECT_FALSE(exact[0].elsewhere);
  const auto indexed = stores_in(
      "mov.u32 %r2, %tid.x; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd1, %rd3; atom.global.add.u32 %r3, [%rd4], 1;");
  ASSERT_EQ(indexed.size(), 1u);
  EXPECT_EQ(indexed[0].targets, (std::vector{StoreTarget{0, "", false, 0}}));
  const auto added = stores_in("add.s64 %rd4, %rd1, 128; red.global.add.u32 [%rd4+4], 1;");
  ASSERT_EQ(added.size(), 1u);
  EXPECT_EQ(added[0].targets, (std::vector{StoreTarget{0, "", true, 132}}));
}

TEST(RewriterStores, SayThatAPointerFromMemoryMayGoAnywhere) {
  const auto loaded = stores_in("ld.global.u64 %rd3, [%rd1]; st.global.u32 [%rd3], %r1;");
  ASSERT_EQ(loaded.size(), 1u);
  EXPECT_TRUE(loaded[0].elsewhere);
  EXPECT_TRUE(loaded[0].targets.empty());
  EXPECT_TRUE(stores_in("st.shared.u32 [%r1], %r1; ld.global.u32 %r2, [%rd1];").empty());
}

}  // namespace
}  // namespace wicprof::rewriter
