// Constants and words of the thread's stack, followed through machine code.
#include "analyzer/machine_code/known_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "analyzer/machine_code/nvdisasm.h"
#include "sass_listings.h"

namespace wicprof::analyzer {
namespace {

std::vector<SassInstruction> simplified(std::string_view body) {
  Routine routine;
  for (const store::SassRow& row : parse_nvdisasm(listings::kernel("k", body), 1, {"k"})) {
    routine.code.push_back(decode(row));
    routine.origins.push_back({"k", row.offset});
  }
  use_known_values(routine);
  return routine.code;
}

// The instruction whose text begins so.
const SassInstruction& find(const std::vector<SassInstruction>& code, std::string_view text) {
  const auto found =
      std::find_if(code.begin(), code.end(), [&](const SassInstruction& i) { return i.text.starts_with(text); });
  EXPECT_NE(found, code.end()) << text;
  return *found;
}

TEST(KnownValues, AGenericLoadReadsWhatALocalStoreWrote) {
  const std::vector<SassInstruction> code = simplified(R"(
    /*0000*/ LDC R1, c[0x0][0x28] ;
    /*0010*/ IADD3 R1, R1, -0x20, RZ ;
    /*0020*/ ULDC UR4, c[0x0][0x20] ;
    /*0030*/ STL.64 [R1+0x8], R6 ;
    /*0040*/ IADD3 R2, P0, R1, UR4, RZ ;
    /*0050*/ LD.E.64 R8, desc[UR6][R2.64+0x8] ;
    /*0060*/ EXIT ;
)");
  const SassInstruction& store = find(code, "STL");
  const SassInstruction& load = find(code, "LD.E");
  EXPECT_EQ(store.writes.size(), 2u);
  EXPECT_EQ(store.reads, (std::vector<SassRegister>{6, 7}));
  EXPECT_EQ(load.reads, store.writes);
  EXPECT_EQ(load.writes, (std::vector<SassRegister>{8, 9}));
  EXPECT_EQ(load.kind, SassKind::other) << "no other thread sees the word";
}

TEST(KnownValues, AGenericLoadElsewhereStaysALoad) {
  const std::vector<SassInstruction> code = simplified(R"(
    /*0000*/ LDC R1, c[0x0][0x28] ;
    /*0010*/ LDC.64 R2, c[0x0][0x210] ;
    /*0020*/ LD.E.STRONG.SYS R8, desc[UR6][R2.64] ;
    /*0030*/ EXIT ;
)");
  EXPECT_EQ(find(code, "LD.E").kind, SassKind::load);
  EXPECT_TRUE(find(code, "LD.E").strong);
}

TEST(KnownValues, APointerKeptOnTheStackIsFollowed) {
  const std::vector<SassInstruction> code = simplified(R"(
    /*0000*/ LDC R1, c[0x0][0x28] ;
    /*0010*/ LDC R0, c[0x0][0x20] ;
    /*0020*/ IADD3 R4, R0, 0x10, R1 ;
    /*0030*/ STL [R1], R4 ;
    /*0040*/ MOV R4, RZ ;
    /*0050*/ LDL R5, [R1] ;
    /*0060*/ VIADD R5, R5, -c[0x0][0x20] ;
    /*0070*/ LDL R6, [R5] ;
    /*0080*/ STL [R1+0x10], R7 ;
    /*0090*/ EXIT ;
)");
  EXPECT_EQ(find(code, "LDL R6").reads, find(code, "STL [R1+0x10]").writes);
}

TEST(KnownValues, AFrameOfACalleeIsApart) {
  const std::vector<SassInstruction> code = simplified(R"(
    /*0000*/ LDC R1, c[0x0][0x28] ;
    /*0010*/ STL [R1+0x8], R4 ;
    /*0020*/ IADD3 R1, R1, -0x10, RZ ;
    /*0030*/ STL [R1+0x8], R5 ;
    /*0040*/ LDL R6, [R1+0x18] ;
    /*0050*/ EXIT ;
)");
  EXPECT_NE(find(code, "STL [R1+0x8], R4").writes, find(code, "STL [R1+0x8], R5").writes);
  EXPECT_EQ(find(code, "STL [R1+0x8], R4").writes, find(code, "LDL R6").reads);
}

TEST(KnownValues, TwoPossiblePointersAreNone) {
  const std::vector<SassInstruction> code = simplified(R"(
    /*0000*/ LDC R1, c[0x0][0x28] ;
    /*0010*/ LDC R0, c[0x0][0x20] ;
    /*0020*/ IADD3 R4, R0, 0x10, R1 ;
    /*0030*/ @P0 BRA `(.L_x_0) ;
    /*0040*/ IADD3 R4, R0, 0x20, R1 ;
.L_x_0:
    /*0050*/ LD.E R6, desc[UR6][R4.64] ;
    /*0060*/ EXIT ;
)");
  EXPECT_EQ(find(code, "LD.E").kind, SassKind::load);
}

TEST(KnownValues, CodeBehindAConstantIsRemoved) {
  const std::vector<SassInstruction> code = simplified(R"(
    /*0000*/ LDC R1, c[0x0][0x28] ;
    /*0010*/ MOV R0, 0x5 ;
    /*0020*/ ISETP.NE.AND P0, PT, R0, 0x5, PT ;
    /*0030*/ @P0 BRA `(.L_x_0) ;
    /*0040*/ ISETP.EQ.AND P1, PT, R4, RZ, PT ;
    /*0050*/ @!P0 BRA `(.L_x_1) ;
.L_x_0:
    /*0060*/ LD.E R6, desc[UR6][R4.64] ;
.L_x_1:
    /*0070*/ @P1 STG.E desc[UR6][R2.64], R6 ;
    /*0080*/ EXIT ;
)");
  const auto is_load = [](const SassInstruction& i) { return i.kind == SassKind::load; };
  EXPECT_TRUE(std::none_of(code.begin(), code.end(), is_load));
  EXPECT_FALSE(find(code, "@!P0 BRA").conditional) << "always taken";
  EXPECT_TRUE(find(code, "@P1 STG").conditional) << "not known";
}

TEST(KnownValues, BytesOfAWordAreKnownOneByOne) {
  const std::vector<SassInstruction> code = simplified(R"(
    /*0000*/ LDC R1, c[0x0][0x28] ;
    /*0010*/ PRMT R0, RZ, 0x7610, R0 ;
    /*0020*/ PRMT R0, R0, 0x9910, RZ ;
    /*0030*/ ISETP.NE.AND P0, PT, R0, RZ, PT ;
    /*0040*/ @P0 STG.E desc[UR6][R2.64], R6 ;
    /*0050*/ EXIT ;
)");
  EXPECT_EQ(code.size(), 5u) << "the store never runs";
}

TEST(KnownValues, AValueThatARoundChangesIsNotKnown) {
  const std::vector<SassInstruction> code = simplified(R"(
    /*0000*/ LDC R1, c[0x0][0x28] ;
    /*0010*/ MOV R0, RZ ;
.L_x_0:
    /*0020*/ IADD3 R0, R0, 0x1, RZ ;
    /*0030*/ ISETP.NE.AND P0, PT, R0, 0x8, PT ;
    /*0040*/ @P0 BRA `(.L_x_0) ;
    /*0050*/ EXIT ;
)");
  EXPECT_TRUE(find(code, "@P0 BRA").conditional);
  EXPECT_EQ(code.size(), 6u);
}

}  // namespace
}  // namespace wicprof::analyzer
