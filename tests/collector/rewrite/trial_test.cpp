// Which images are patched, and the trial: whatever needs more or fails leaves the program with its own image.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collector/rewrite/trial.h"
#include "rewriter/images/fat_binary.h"
#include "rewriter/patch/patch.h"
#include "tests/collector/rewrite/fake_driver.h"
#include "tests/rewriter/made_fat_binary.h"

namespace wicprof::collector {
namespace {

using namespace fake_driver;

TEST_F(RewriteTest, AnImageIsReplacedWhereItsPtxWaits) {
  ASSERT_FALSE(replacement.text.empty());
  EXPECT_EQ(replacement.unpatched, ptx);
  ASSERT_EQ(replacement.sites.size(), 1u);
  EXPECT_EQ(replacement.sites[0].function, "waits");
  EXPECT_EQ(replacement.kernels, std::vector<std::string>{"waits"});
  using namespace rewriter::made;
  const auto why = [](const std::string& image, int architecture) {
    const rewriter::Replacement of = rewriter::replacement_of(image, architecture);
    return of.text.empty() ? "left alone: " + of.left_alone : "patched";
  };
  using rewriter::Compression;
  EXPECT_EQ(why(container(entry(2, cubin({"waits"}), Compression::zstd) + entry(1, ptx, Compression::zstd)), 90),
            "patched");
  EXPECT_NE(why(container(entry(2, cubin({"waits"}), Compression::none)), 90).find("machine code only"),
            std::string::npos);
  EXPECT_NE(why(container(entry(2, cubin({"waits"}), Compression::none) + entry(1, ptx, Compression::none, 80)), 90)
                .find("sm_80"),
            std::string::npos);
  EXPECT_NE(why(container(entry(1, ptx, Compression::none, 90, "-maxrregcount=32")), 90).find("maxrregcount"),
            std::string::npos);
  EXPECT_EQ(why(container(entry(1, ptx, Compression::none, 100)), 90), "left alone: ");
  std::string of_wic = ptx;
  of_wic.replace(of_wic.find("waits"), 5, "_ZN3wic5waitsEv");
  EXPECT_NE(why(of_wic, 90).find("through wic"), std::string::npos);
  EXPECT_NE(why(ptx + "nonsense", 90).find("not understood"), std::string::npos);
}

TEST_F(RewriteTest, TheTrialLetsAnImagePassThatNeedsNoMore) {
  EXPECT_EQ(try_replacement(api, ptx.c_str(), replacement, 0, steps), "");
  EXPECT_EQ(driver.loads, driver.unloads);
}

TEST_F(RewriteTest, ALimitForItsRegistersKeepsTheWarpsOfAKernel) {
  const std::string unlimited = replacement.text;
  driver.registers_of_patched = 44;
  EXPECT_NE(try_replacement(api, ptx.c_str(), replacement, 0, steps),
            "");  // a driver that takes no notice of the limit
  replacement.text = unlimited;
  driver.obeys_limits = true;
  EXPECT_EQ(try_replacement(api, ptx.c_str(), replacement, 0, steps), "");
  EXPECT_NE(replacement.text.find(".maxnreg 32\n"), std::string::npos);
  EXPECT_EQ(rewriter::strip(replacement.text), rewriter::strip(unlimited));
  replacement.text = unlimited;
  driver.local_bytes_of_limited = 152;  // what does not fit goes to local memory
  EXPECT_NE(try_replacement(api, ptx.c_str(), replacement, 0, steps).find("local memory"), std::string::npos);
  EXPECT_EQ(registers_for(64), 32);
  EXPECT_EQ(registers_for(51), 40);
  EXPECT_EQ(registers_for(8), 256);
}

TEST_F(RewriteTest, TheTrialKeepsTheOriginalWhereAnythingFails) {
  for (const char* step : {"load", "load_patched", "kernel", "attribute"}) {
    driver.failing = {step};
    EXPECT_NE(try_replacement(api, ptx.c_str(), replacement, 0, steps), "") << step;
    EXPECT_EQ(driver.loads, driver.unloads) << step;
  }
  driver.failing.clear();
  driver.registers_of_patched = 72;
  EXPECT_NE(try_replacement(api, ptx.c_str(), replacement, 0, steps).find("registers from 18 to 72"),
            std::string::npos);
  driver.registers_of_patched = driver.registers = 40;
  driver.most_threads_of_patched = 512;
  EXPECT_NE(try_replacement(api, ptx.c_str(), replacement, 0, steps).find("threads per block"), std::string::npos);
}

TEST_F(RewriteTest, TheTrialBorrowsAContextOnlyWhereThereIsNone) {
  driver.context = nullptr;
  EXPECT_EQ(try_replacement(api, ptx.c_str(), replacement, 0, steps), "");
  EXPECT_EQ(driver.retained, 0);
  driver.failing = {"retain", "attribute"};
  driver.retained = 0;
  EXPECT_NE(try_replacement(api, ptx.c_str(), replacement, 0, steps), "");
}

TEST_F(RewriteTest, RegistersCountWhereFewerWarpsFit) {
  EXPECT_EQ(resident_warps({.registers = 16}), 64);
  EXPECT_EQ(resident_warps({.registers = 32}), 64);
  EXPECT_EQ(resident_warps({.registers = 33}), 51);
  EXPECT_EQ(worse_needs({.registers = 10, .most_threads = 1024}, {.registers = 30, .most_threads = 1024}), "");
  EXPECT_NE(worse_needs({.registers = 32, .most_threads = 1024}, {.registers = 40, .most_threads = 1024}), "");
  EXPECT_EQ(worse_needs({.local_bytes = 8}, {.local_bytes = 72}), "");
  EXPECT_NE(worse_needs({.local_bytes = 8}, {.local_bytes = 96}), "");
  // Whose looks are calls of a function, with what that keeps there.
  EXPECT_EQ(worse_needs({.local_bytes = 8}, {.local_bytes = 152}, true), "");
  EXPECT_NE(worse_needs({.local_bytes = 8}, {.local_bytes = 160}, true), "");
  EXPECT_NE(worse_needs({.shared_bytes = 0}, {.shared_bytes = 8}), "");
}

}  // namespace
}  // namespace wicprof::collector
