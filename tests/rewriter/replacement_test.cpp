// What becomes of an image that a program loads: patched text, or the image as it is, with the reason.
#include "rewriter/load/replacement.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "rewriter/load/compile_options.h"
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

TEST(Replacement, OptionsThatChangeTheCodeLeaveTheImage) {
  // As nvcc, clang, NVRTC and Triton have ptxas called, in the spelling of entries and of notes.
  for (const char* const harmless :
       {"", "-arch sm_90 -m 64 ", " --generate-line-info ", " -g --dont-merge-basicblocks --return-at-end ",
        "-no-bb-merge  -ret-end  -g  -arch sm_90 ", "-lineinfo  -arch sm_90a ", "-v  ", "--compile-only  ",
        "-m64 -O3 --gpu-name sm_90 --output-file x", "-arch sm_90 -fmad true", "--opt-level=3"}) {
    EXPECT_EQ(changing_option(harmless), "");
  }
  for (const auto& [options, which] :
       std::vector<std::pair<const char*, const char*>>{{"-dlcm=cg  ", "-dlcm=cg"},
                                                        {"-arch sm_90 -dlcm cg -m 64 ", "-dlcm cg"},
                                                        {" --fmad false ", "--fmad false"},
                                                        {"-O1  ", "-O1"},
                                                        {"-O 0 -v", "-O 0"},
                                                        {" -maxrregcount=32 ", "-maxrregcount=32"},
                                                        {"--disable-warnings -dscm=wt  ", "-dscm=wt"},
                                                        {"-v -an-option-of-later", "-an-option-of-later"},
                                                        {"no-dash", "no-dash"}}) {
    EXPECT_EQ(changing_option(options), which);
    const Replacement by_entry =
        replacement_of(container(entry(1, std::string(kPtx), Compression::zstd, 90, options)), 90);
    EXPECT_TRUE(by_entry.text.empty()) << options;
    EXPECT_NE(by_entry.left_alone.find(std::string("compiled with ") + which), std::string::npos);
    // The PTX's entry lacks what the machine code's note has.
    const std::string with_note = entry(2, made::cubin({"k"}, 90, options), Compression::none);
    const Replacement by_note =
        replacement_of(container(with_note + entry(1, std::string(kPtx), Compression::none)), 90);
    EXPECT_TRUE(by_note.text.empty()) << options;
    EXPECT_NE(by_note.left_alone.find(which), std::string::npos) << by_note.left_alone;
    // PTX beside such machine code is not looked for.
    const Replacement alone = replacement_of(made::cubin({"k"}, 90, options), 90);
    EXPECT_TRUE(alone.machine_code_only.empty());
    EXPECT_NE(alone.left_alone.find(which), std::string::npos) << alone.left_alone;
  }
  EXPECT_FALSE(replacement_of(container(entry(2, made::cubin({"k"}, 90, "-arch sm_90 "), Compression::none) +
                                        entry(1, std::string(kPtx), Compression::none)),
                              90)
                   .text.empty());
}

}  // namespace
}  // namespace wicprof::rewriter
