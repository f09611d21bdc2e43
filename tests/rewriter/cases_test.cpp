// The kernels of tests/analyzer/machine_code_cases as PTX: which loops are waits, and whether the patch stands.
// Set WICPROF_CASES_VERBOSE=1 to see the misses; those of the judged half are never named.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "reached_from.h"
#include "rewriter/patch/patch.h"

namespace wicprof::rewriter {
namespace {

namespace fs = std::filesystem;

const char* const kSources = WICPROF_SOURCE "/tests/analyzer/machine_code_cases";

// Every second family is only judged, as the folder's README says. These two count for improving here, because the
// rules of the recognition were written with a look at them.
const std::set<std::string> kSeen = {"libcu", "locks"};

// Waits of the half for improving that write memory in their loop, so that a patch must leave them alone.
const std::set<std::string> kNotPatchable = {"wait_counts_polls_in_memory", "wait_writes_time", "wait_counts_by_atomic",
                                             "wait_heartbeat_seldom", "wait_heartbeat_and_sleep"};

constexpr const char* kOptimised = "-O3 -lineinfo";

struct Family {
  std::string name;
  bool judged = false;
};

std::vector<Family> families() {
  std::set<std::string> all, compiled;
  for (const fs::directory_entry& entry : fs::directory_iterator(kSources)) {
    const fs::path& path = entry.path();
    const std::string stem = path.stem().string();
    const bool cuda = path.extension() == ".cu" && stem != "run_kernels";
    if (cuda || stem.starts_with("triton_")) all.insert(stem);
    if (cuda) compiled.insert(stem);
  }
  std::vector<Family> found;
  for (const std::string& name : compiled) {
    const bool judged = std::distance(all.begin(), all.find(name)) % 2 == 0;
    found.push_back({name, judged && !kSeen.contains(name)});
  }
  return found;
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// The family's PTX; compiled again when its source has changed. Empty: nvcc failed.
std::string ptx_of(const std::string& family, const std::string& build, const std::string& options) {
  fs::create_directories(WICPROF_CASES);
  const fs::path source = fs::path(kSources) / (family + ".cu"), shared = fs::path(kSources) / "cases.h";
  const fs::path ptx = fs::path(WICPROF_CASES) / (family + "." + build + ".ptx");
  const bool fresh = fs::exists(ptx) && fs::last_write_time(ptx) > fs::last_write_time(source) &&
                     fs::last_write_time(ptx) > fs::last_write_time(shared);
  if (!fresh) {
    const fs::path made = ptx.string() + "." + std::to_string(getpid());  // tests run beside each other
    const std::string command = std::string(WICPROF_NVCC) + " -ptx -std=c++17 -arch=compute_90 -diag-suppress=20054 " +
                                options + " " + source.string() + " -o " + made.string();
    if (std::system(command.c_str()) != 0) return {};
    fs::rename(made, ptx);
  }
  return read(ptx);
}

struct Totals {
  int waits = 0, patched = 0, refused = 0, missed = 0;
  int work = 0, work_patched = 0;
  int wrongly_refused = 0;  ///< of the judged half: what -O3 shows to be patchable
};

bool verbose() { return std::getenv("WICPROF_CASES_VERBOSE") != nullptr; }

void describe(const std::string& family, const std::string& kernel, const std::vector<FunctionVerdicts>& verdicts,
              const std::set<std::string>& reached) {
  if (!verbose()) return;
  std::printf("%s %s\n", family.c_str(), kernel.c_str());
  for (const FunctionVerdicts& function : verdicts) {
    if (!reached.contains(std::string(function.function->name))) continue;
    if (!function.problem.empty()) std::printf("    problem: %s\n", function.problem.c_str());
    for (const LoopVerdict& loop : function.loops) {
      std::printf("    line %zu-%zu: %s: %s\n", loop.first_line, loop.last_line,
                  std::string(name_of(loop.verdict)).c_str(), loop.reason.c_str());
    }
  }
}

/// `patchable`: kernels that are known to have a wait that may be patched. `patched` gets those that have one here.
void judge(const Family& family, const Module& module, const std::vector<FunctionVerdicts>& verdicts,
           const std::set<std::string>& patchable, std::set<std::string>& patched, Totals& totals) {
  for (const Function& function : module.functions) {
    if (!function.is_entry || !function.has_body) continue;
    const std::string kernel(function.name);
    const std::set<std::string> reached = reached_from(module, kernel);
    int waits = 0, refused = 0;
    for (const FunctionVerdicts& verdict : verdicts) {
      if (!reached.contains(std::string(verdict.function->name))) continue;
      for (const LoopVerdict& loop : verdict.loops) {
        waits += loop.verdict == Verdict::wait ? 1 : 0;
        refused += loop.verdict == Verdict::wait_not_patchable ? 1 : 0;
      }
    }
    if (kernel.starts_with("work_")) {
      ++totals.work;
      if (waits == 0) continue;
      ++totals.work_patched;
      if (!family.judged) describe(family.name, kernel, verdicts, reached);
      EXPECT_TRUE(family.judged) << family.name << " " << kernel << " is no wait";
      continue;
    }
    ++totals.waits;
    const bool must_stay = kNotPatchable.contains(kernel);
    if (must_stay) {
      EXPECT_EQ(waits, 0) << kernel << " writes memory in its loop";
    }
    if (waits > 0) {
      ++totals.patched;
      patched.insert(family.name + "/" + kernel);
    } else if (refused > 0) {
      ++totals.refused;
      if (patchable.contains(family.name + "/" + kernel) || (!family.judged && !must_stay)) ++totals.wrongly_refused;
    } else {
      ++totals.missed;
    }
    if (!family.judged && !must_stay && waits == 0) describe(family.name, kernel, verdicts, reached);
  }
}

class RewriterCases : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(RewriterCases, WaitsAreFoundAndWorkIsNot) {
  if (std::string(WICPROF_NVCC).empty()) GTEST_SKIP() << "nvcc is missing";
  const auto [build, options] = GetParam();
  Totals totals[2];
  std::set<std::string> patchable, patched;
  if (std::string(build) != "O3") {
    // What may be patched in optimised code waits as well without optimization.
    Totals ignored;
    for (const Family& family : families()) {
      const std::string text = ptx_of(family.name, "O3", kOptimised);
      const Result<Module> module = read_module(text);
      ASSERT_TRUE(module) << family.name;
      judge(family, *module, recognize(*module), {}, patchable, ignored);
    }
  }
  for (const Family& family : families()) {
    const std::string text = ptx_of(family.name, build, options);
    ASSERT_FALSE(text.empty()) << family.name;
    const Result<Module> module = read_module(text);
    ASSERT_TRUE(module) << family.name << ": " << module.error().message;
    judge(family, *module, recognize(*module), patchable, patched, totals[family.judged ? 1 : 0]);
  }
  for (const bool judged : {false, true}) {
    const Totals& of = totals[judged ? 1 : 0];
    std::printf(
        "%s, %s: %d waits: %d patched, %d refused with a reason (%d of them could be patched), %d missed; "
        "%d kernels that work: %d patched\n",
        build, judged ? "judged" : "improve", of.waits, of.patched, of.refused, of.wrongly_refused, of.missed, of.work,
        of.work_patched);
    EXPECT_EQ(of.work_patched, 0);
    const int could_be = of.patched + of.missed + of.wrongly_refused;
    EXPECT_GE(of.patched * 100, could_be * 95);
    EXPECT_GT(of.waits, 20);
    EXPECT_GT(of.work, 20);
  }
}

TEST_P(RewriterCases, ThePatchCanBeTakenOutAndPtxasAcceptsIt) {
  if (std::string(WICPROF_NVCC).empty()) GTEST_SKIP() << "nvcc is missing";
  const auto [build, options] = GetParam();
  for (const Family& family : families()) {
    const std::string text = ptx_of(family.name, build, options);
    ASSERT_FALSE(text.empty()) << family.name;
    const Result<Module> module = read_module(text);
    ASSERT_TRUE(module) << module.error().message;
    const std::vector<FunctionVerdicts> verdicts = recognize(*module);
    const Result<Patch> patched = patch(*module, verdicts);
    ASSERT_TRUE(patched) << patched.error().message;
    EXPECT_TRUE(strip(patched->text) == text) << family.name;
    if (std::string(WICPROF_PTXAS).empty() || patched->sites.empty()) continue;
    const fs::path path = fs::path(WICPROF_CASES) / (family.name + "." + build + ".patched.ptx");
    std::ofstream(path, std::ios::binary) << patched->text;
    const std::string debug = std::string(build) == "G" ? " -g" : "";
    const std::string command =
        std::string(WICPROF_PTXAS) + " -arch=sm_90" + debug + " " + path.string() + " -o " + path.string() + ".cubin";
    EXPECT_EQ(std::system(command.c_str()), 0) << family.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Builds, RewriterCases, testing::Values(std::pair{"O3", kOptimised}, std::pair{"G", "-G"}),
                         [](const auto& build) { return std::string(build.param.first); });

}  // namespace
}  // namespace wicprof::rewriter
