// Waits that do not stand in one thread's load and branch: votes of the block, a word that one thread passes on, words
// in turn, stores beside the poll. The kernels of indirect/, in two halves: work.cu was looked at, held.cu only judges.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "reached_from.h"
#include "rewriter/waits/recognize.h"

namespace wicprof::rewriter {
namespace {

namespace fs = std::filesystem;

struct Tally {
  int found = 0, waits = 0;        ///< found_* and patched_*
  int patched = 0, patchable = 0;  ///< patched_*
  int wrong = 0, others = 0;       ///< work_*
};

/// The PTX of a half; empty: nvcc failed.
std::string compiled(const std::string& half, const std::string& options) {
  const fs::path ptx = fs::temp_directory_path() / ("wicprof-" + half + "-" + std::to_string(getpid()) + ".ptx");
  const std::string command = std::string(WICPROF_NVCC) + " -ptx -arch=compute_90 -diag-suppress=20054 " + options +
                              " " WICPROF_INDIRECT "/" + half + ".cu -o " + ptx.string();
  if (std::system(command.c_str()) != 0) return {};
  std::ostringstream text;
  text << std::ifstream(ptx, std::ios::binary).rdbuf();
  fs::remove(ptx);
  return text.str();
}

/// The verdicts of the loops of all functions that the kernel reaches.
std::set<Verdict> verdicts_of(const Module& module, const std::vector<FunctionVerdicts>& all, std::string_view kernel) {
  const std::set<std::string> reached = reached_from(module, std::string(kernel));
  std::set<Verdict> verdicts;
  for (const FunctionVerdicts& function : all) {
    EXPECT_EQ(function.problem, "") << function.function->name;
    if (!reached.contains(std::string(function.function->name))) continue;
    for (const LoopVerdict& loop : function.loops) verdicts.insert(loop.verdict);
  }
  return verdicts;
}

Tally judged(const std::string& text) {
  Tally tally;
  const Result<Module> module = read_module(text);
  EXPECT_TRUE(module);
  const std::vector<FunctionVerdicts> all = recognize(*module);
  for (const Function& function : module->functions) {
    if (!function.is_entry) continue;
    const std::set<Verdict> verdicts = verdicts_of(*module, all, function.name);
    const bool patched = verdicts.contains(Verdict::wait);
    const bool found = patched || verdicts.contains(Verdict::wait_not_patchable);
    if (function.name.starts_with("work_")) {
      ++tally.others;
      tally.wrong += found;
      continue;
    }
    ++tally.waits;
    tally.found += found;
    if (!function.name.starts_with("patched_")) continue;
    ++tally.patchable;
    tally.patched += patched;
  }
  return tally;
}

class Indirect : public ::testing::TestWithParam<const char*> {};

TEST_P(Indirect, WaitsAreFoundAndWorkIsNot) {
  if (std::string_view(WICPROF_NVCC).empty()) GTEST_SKIP() << "no nvcc";
  // Code without optimization stores through pointers that may be anybody's.
  const bool debug = std::string_view(GetParam()) == "-G";
  for (const std::string half : {"work", "held"}) {
    const std::string text = compiled(half, GetParam());
    ASSERT_NE(text, "");
    const Tally tally = judged(text);
    EXPECT_EQ(tally.wrong, 0) << half;
    EXPECT_GT(tally.others, 5) << half;
    // Of the held half without optimization, one of 15 is missed.
    EXPECT_GE(tally.found, tally.waits - (debug && half == "held" ? 1 : 0)) << half;
    EXPECT_GE(tally.patched, tally.patchable - (debug ? 1 : 0)) << half;
  }
}

INSTANTIATE_TEST_SUITE_P(Builds, Indirect, ::testing::Values("-O3", "-O1", "-G"),
                         [](const auto& build) { return std::string(build.param).substr(1); });

}  // namespace
}  // namespace wicprof::rewriter
