// Waits that do not stand in one thread's load and branch: votes of the block, a word that one thread passes on, words
// in turn, stores beside the poll, masks and positions that the loop carries. The kernels of indirect/: *work.cu were
// looked at, as was carried_held.cu; the other *held.cu only judge. Those of barriers_work.cu and barriers_held.cu wait
// at mbarriers and in clusters.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "reached_from.h"
#include "rewriter/patch/patch.h"
#include "rewriter/waits/recognize.h"

namespace wicprof::rewriter {
namespace {

namespace fs = std::filesystem;

struct Tally {
  int found = 0, waits = 0;        ///< found_*, stay_* and patched_*
  int patched = 0, patchable = 0;  ///< patched_*
  int wrong = 0, others = 0;       ///< work_*
  int wrongly_patched = 0;         ///< stay_* and work_*
};

struct Build {
  const char *name, *options;
  int architecture;
};

fs::path temporary_file(const std::string& name) {
  return fs::temp_directory_path() / ("wicprof-" + std::to_string(getpid()) + "-" + name);
}

/// The PTX of a half; empty: nvcc failed.
std::string compiled(const std::string& half, const Build& build) {
  const fs::path ptx = temporary_file(half + ".ptx");
  const std::string command = std::string(WICPROF_NVCC) + " -ptx -arch=compute_" + std::to_string(build.architecture) +
                              " -diag-suppress=20054 " + build.options + " " WICPROF_INDIRECT "/" + half + ".cu -o " +
                              ptx.string();
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
    tally.wrongly_patched += patched && (function.name.starts_with("stay_") || function.name.starts_with("work_"));
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

/// What ptxas says of the patched text, with the registers and the spills of each kernel.
std::string translated(const std::string& text, const Build& build) {
  const Result<Module> module = read_module(text);
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  const Result<Patch> patched = patch(*module, verdicts);
  EXPECT_TRUE(patched);
  EXPECT_TRUE(strip(patched->text) == text);
  const fs::path ptx = temporary_file("patched.ptx"), says = temporary_file("ptxas.txt");
  std::ofstream(ptx, std::ios::binary) << patched->text;
  const std::string command = std::string(WICPROF_PTXAS) + " -v -arch=sm_" + std::to_string(build.architecture) + " " +
                              ptx.string() + " -o /dev/null > " + says.string() + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::ostringstream found;
  found << std::ifstream(says).rdbuf();
  fs::remove(ptx);
  fs::remove(says);
  return found.str();
}

/// What the name of a kernel says of it; unknown: nothing.
WaitedFor named(std::string_view kernel) {
  return kernel.find("_mbarrier_") != kernel.npos  ? WaitedFor::mbarrier
         : kernel.find("_shared_") != kernel.npos  ? WaitedFor::shared_word
         : kernel.find("_cluster_") != kernel.npos ? WaitedFor::cluster_word
                                                   : WaitedFor::unknown;
}

class Indirect : public ::testing::TestWithParam<Build> {};

TEST_P(Indirect, WaitsAreFoundAndWorkIsNot) {
  if (std::string_view(WICPROF_NVCC).empty()) GTEST_SKIP() << "no nvcc";
  // Code without optimization stores through pointers that may be anybody's.
  const bool debug = std::string_view(GetParam().name) == "G";
  for (const std::string half : {"work", "held", "votes_work", "votes_held", "carried_work", "carried_held"}) {
    const std::string text = compiled(half, GetParam());
    ASSERT_NE(text, "");
    const Tally tally = judged(text);
    EXPECT_EQ(tally.wrongly_patched, 0) << half;
    // Two that change what they vote on are taken for waits where their stores may go to local memory.
    EXPECT_LE(tally.wrong, debug && half == "votes_held" ? 2 : 0) << half;
    EXPECT_GT(tally.others, 5) << half;
    // One wait's words are in tables of local memory, which such code reads through pointers; one clears the bits of
    // its mask by exclusive or.
    const bool one_is_missed = debug && (half == "votes_work" || half == "carried_held");
    EXPECT_GE(tally.found, tally.waits - (one_is_missed ? 1 : 0)) << half;
    EXPECT_GE(tally.patched, tally.patchable - (debug ? 1 : 0)) << half;
  }
}

TEST_P(Indirect, WaitsAtBarriersAreFoundAndLookalikesAreNot) {
  if (std::string_view(WICPROF_NVCC).empty()) GTEST_SKIP() << "no nvcc";
  // sm_80 has no such instructions; -O1 gives the same answers as -G.
  if (GetParam().architecture < 90 || std::string_view(GetParam().name) == "O1") return;
  for (const std::string half : {"barriers_work", "barriers_held"}) {
    const std::string text = compiled(half, GetParam());
    ASSERT_NE(text, "");
    const Tally tally = judged(text);
    EXPECT_GT(tally.waits, 10) << half;
    EXPECT_EQ(tally.found, tally.waits) << half;
    EXPECT_EQ(tally.patched, tally.patchable) << half;
    EXPECT_GT(tally.others, 6) << half;
    EXPECT_EQ(tally.wrong, 0) << half;
    EXPECT_EQ(tally.wrongly_patched, 0) << half;
    // Elsewhere a word's address may come from a function that the kernel calls.
    if (std::string_view(GetParam().name) != "O3") continue;
    const Result<Module> module = read_module(text);
    for (const FunctionVerdicts& function : recognize(*module)) {
      const WaitedFor expected = named(function.function->name);
      if (expected == WaitedFor::unknown || function.function->name.starts_with("work_")) continue;
      EXPECT_TRUE(std::ranges::any_of(function.loops, [&](const LoopVerdict& loop) {
        return loop.waited_for == expected && loop.verdict != Verdict::unknown;
      })) << function.function->name;
    }
  }
}

TEST_P(Indirect, PtxasTranslatesThePatchWithoutSpills) {
  if (std::string_view(WICPROF_NVCC).empty() || std::string_view(WICPROF_PTXAS).empty()) GTEST_SKIP() << "no ptxas";
  for (const std::string half : {"votes_work", "votes_held"}) {
    const std::string says = translated(compiled(half, GetParam()), GetParam());
    // A look that is a function saves registers of its caller; that is no spill of the kernel.
    constexpr std::string_view kKernel = "Function properties for patched_", kNone = ", 0 bytes spill stores";
    int kernels = 0;
    for (std::size_t at = 0; (at = says.find(kKernel, at)) != says.npos; at += kKernel.size()) {
      ++kernels;
      const std::string properties = says.substr(at, says.find('\n', says.find('\n', at) + 1) - at);
      EXPECT_NE(properties.find(kNone), properties.npos) << properties;
    }
    EXPECT_GE(kernels, 10) << half;
  }
}

INSTANTIATE_TEST_SUITE_P(Builds, Indirect,
                         ::testing::Values(Build{"O3", "-O3", 80}, Build{"O3", "-O3", 90},
                                           Build{"O1", "-Xcicc -O1", 80}, Build{"O1", "-Xcicc -O1", 90},
                                           Build{"G", "-G", 80}, Build{"G", "-G", 90}),
                         [](const auto& build) {
                           return std::string(build.param.name) + "_sm_" + std::to_string(build.param.architecture);
                         });

}  // namespace
}  // namespace wicprof::rewriter
