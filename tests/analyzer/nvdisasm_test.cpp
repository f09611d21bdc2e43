// Parsing of listings by nvdisasm and cuobjdump.
#include "analyzer/machine_code/nvdisasm.h"

#include <gtest/gtest.h>

#include "sass_listings.h"

namespace wicprof::analyzer {
namespace {

using Rows = std::vector<store::SassRow>;

const store::SassRow* at(const Rows& rows, std::uint64_t offset) {
  for (const store::SassRow& row : rows) {
    if (row.offset == offset) return &row;
  }
  return nullptr;
}

TEST(Nvdisasm, ReadsInstructionsTargetsAndLines) {
  const Rows rows = parse_nvdisasm(listings::kernel("poll", listings::kVolatilePoll), 0xfeed'0000'0000'0001, {"poll"});
  ASSERT_EQ(rows.size(), 18u);
  EXPECT_EQ(rows[0].module, 0xfeed'0000'0000'0001u);
  EXPECT_EQ(rows[0].symbol, "poll");
  const store::SassRow* look = at(rows, 0x70);
  ASSERT_NE(look, nullptr);
  EXPECT_EQ(look->text, "LDG.E.STRONG.SYS R0, desc[UR4][R4.64]");
  EXPECT_FALSE(look->target);
  EXPECT_EQ(look->file, "/home/user/poll.cu");
  EXPECT_EQ(look->line, 7u);
  EXPECT_EQ(at(rows, 0xa0)->text, "@!P0 BRA `(.L_x_1)");
  EXPECT_EQ(at(rows, 0xa0)->target, 0x70u);
  EXPECT_EQ(at(rows, 0x50)->target, 0xb0u);
  EXPECT_EQ(at(rows, 0x100)->target, 0x100u);
}

TEST(Nvdisasm, SkipsFunctionsNotRequested) {
  const std::string listing =
      listings::kernel("poll", listings::kVolatilePoll) + listings::kernel("stream", listings::kStreaming);
  for (const store::SassRow& row : parse_nvdisasm(listing, 1, {"stream"})) EXPECT_EQ(row.symbol, "stream");
  EXPECT_EQ(parse_nvdisasm(listing, 1, {"stream"}).size(), 11u);
  EXPECT_TRUE(parse_nvdisasm(listing, 1, {"other"}).empty());
}

TEST(Nvdisasm, LabelsBelongToTheirSection) {
  // Both sections have a label .L_x_0, at different addresses.
  const std::string listing =
      listings::kernel("stream", listings::kStreaming) + listings::kernel("lock", listings::kLock);
  const Rows rows = parse_nvdisasm(listing, 1, {"lock"});
  ASSERT_NE(at(rows, 0x60), nullptr);
  EXPECT_EQ(at(rows, 0x60)->target, 0x30u);
  EXPECT_FALSE(at(rows, 0x10)->target) << "BSSY names the reconvergence point; it is no branch";
}

TEST(Nvdisasm, InlinedCodeHasTheUsersInnermostLine) {
  const Rows rows = parse_nvdisasm(listings::kernel("k", listings::kAcquirePoll), 1, {"k"});
  ASSERT_NE(at(rows, 0x40), nullptr);
  EXPECT_EQ(at(rows, 0x40)->file, "/home/user/spin.h");
  EXPECT_EQ(at(rows, 0x40)->line, 12u);
  EXPECT_EQ(at(rows, 0x00)->line, 0u);
}

// The file of an instruction in `inner`, inlined in `outer`.
std::string file_of_inlined(const std::string& inner, const std::string& outer) {
  const Rows rows = parse_nvdisasm(
      listings::kernel("k", "\t//## File \"" + inner + "\", line 5 inlined at \"" + outer + "\", line 9\n" +
                                "\t//## File \"" + outer + "\", line 9\n        /*0000*/                   EXIT ;\n"),
      1, {"k"});
  return rows.empty() ? "" : rows[0].file + ":" + std::to_string(rows[0].line);
}

TEST(Nvdisasm, AFolderThatStartsLikeTheToolkitsIsTheUsers) {
  const std::string user = "/home/user/main.cu";
  EXPECT_EQ(file_of_inlined("/usr/local/cuda-13.0/targets/sbsa-linux/include/cuda/atomic", user), user + ":9");
  EXPECT_EQ(file_of_inlined("/opt/cuda-12/include/x.h", user), user + ":9");
  EXPECT_EQ(file_of_inlined("/home/user/cuda-samples/spin.cuh", user), "/home/user/cuda-samples/spin.cuh:5");
  EXPECT_EQ(file_of_inlined("/home/user/cuda-samples/include/spin.cuh", user),
            "/home/user/cuda-samples/include/spin.cuh:5");
}

TEST(Nvdisasm, ReadsInlinedCodeInOneComment) {
  const Rows rows = parse_nvdisasm(
      listings::kernel("k",
                       "\t//## File \"/usr/include/a.h\", line 1 inlined at \"/home/user/b.cu\", line 7\n"
                       "        /*0000*/                   EXIT ;\n"),
      1, {"k"});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].file, "/home/user/b.cu");
  EXPECT_EQ(rows[0].line, 7u);
}

TEST(Nvdisasm, ReadsListingsWithoutLines) {
  const Rows rows = parse_nvdisasm(listings::kernel("k", listings::kStreaming), 1, {"k"});
  ASSERT_EQ(rows.size(), 11u);
  EXPECT_EQ(rows[3].file, "");
  EXPECT_EQ(rows[3].line, 0u);
}

TEST(Nvdisasm, ReadsCuobjdumpWithEncodingsAndAddresses) {
  const Rows rows = parse_nvdisasm(
      "\tcode for sm_90\n\t\tFunction : _Z4spinPi\n\t.headerflags\t@\"EF_CUDA_SM90\"\n"
      "        /*0000*/                   LDC R1, c[0x0][0x28] ;                       /* 0x00000a00ff017b82 */\n"
      "                                                                                /* 0x000fe20000000800 */\n"
      "        /*0010*/                   LDG.E.STRONG.SYS R0, desc[UR4][R4.64] ;      /* 0x0000000404007981 */\n"
      "                                                                                /* 0x000ea2000c1f5900 */\n"
      "        /*0020*/              @!P0 BRA 0x10 ;                                   /* 0xfffffffc00f08947 */\n",
      1, {"_Z4spinPi"});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].text, "LDG.E.STRONG.SYS R0, desc[UR4][R4.64]");
  EXPECT_EQ(rows[2].target, 0x10u);
}

TEST(Nvdisasm, ReadsAddressesThatDoNotStartAtZero) {
  const Rows rows = parse_nvdisasm(
      ".text.k:\n        /*7ff533bb9190*/   MOV R1, R2 ;\n.L_x_7:\n        /*7ff533bb91a0*/   LDG.E R0, [R2.64] ;\n"
      "        /*7ff533bb91b0*/   @P0 BRA `(.L_x_7) ;\n",
      1, {"k"});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[2].offset, 0x20u);
  EXPECT_EQ(rows[2].target, 0x10u);
}

TEST(Nvdisasm, ReadsFunctionsInsideAKernelsSection) {
  const std::string listing = listings::kernel("k", R"(
        /*0000*/                   CALL.REL.NOINC `($k$helper) ;
        /*0010*/                   EXIT ;
        .type           $k$helper,@function
        .size           $k$helper,(.L_x_9 - $k$helper)
$k$helper:
.L_x_3:
        /*0020*/                   LDG.E R0, desc[UR4][R2.64] ;
        /*0030*/               @P0 BRA `(.L_x_3) ;
        /*0040*/                   RET.REL.NODEC R20 `(k) ;
)");
  const Rows helper = parse_nvdisasm(listing, 1, {"$k$helper"});
  ASSERT_EQ(helper.size(), 3u);
  EXPECT_EQ(helper[0].offset, 0u);
  EXPECT_EQ(helper[1].target, 0u);
  EXPECT_EQ(parse_nvdisasm(listing, 1, {"k"}).size(), 5u);
}

TEST(Nvdisasm, SkipsEverythingButInstructions) {
  EXPECT_TRUE(parse_nvdisasm("", 1, {"k"}).empty());
  EXPECT_TRUE(parse_nvdisasm("nvdisasm fatal   : Unknown file\n/*zz*/ MOV ;\n/*", 1, {"k"}).empty());
  const Rows rows = parse_nvdisasm(
      "\t.section\t.debug_frame,\"\",@progbits\n        /*0000*/ \t.byte\t0xff, 0xff\n"
      "\t.section\t.text.k,\"ax\",@progbits\n        /*0000*/ \t.byte\t0xff\n        /*0010*/ { MOV R1, R2 ;\n"
      "        /*0018*/ FADD R3, R4, R5 }\n        /*0020*/\n        /*0030\n",
      1, {"k", "", ".debug_frame"});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].text, "MOV R1, R2");
  EXPECT_EQ(rows[1].text, "FADD R3, R4, R5");
}

// The parser survives listings that are truncated anywhere or have changed bytes.
TEST(Nvdisasm, SurvivesDamagedListings) {
  const std::string whole = listings::kernel("k", listings::kAcquirePoll) + listings::kernel("l", listings::kLock);
  std::uint64_t random = 1;
  for (std::size_t cut = 0; cut < whole.size(); cut += 7) {
    std::string damaged = whole.substr(0, cut);
    for (int i = 0; i < 3 && !damaged.empty(); ++i) {
      random = random * 6364136223846793005ull + 1442695040888963407ull;
      damaged[(random >> 33) % damaged.size()] = static_cast<char>(random >> 56);
    }
    EXPECT_LE(parse_nvdisasm(damaged, 1, {"k", "l"}).size(), 24u);
  }
}

}  // namespace
}  // namespace wicprof::analyzer
