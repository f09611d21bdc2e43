// The cases of machine_code_cases/: which kernels are named as polling, in optimised code and in Triton's.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "analyzer/analysis.h"
#include "machine_code_listings.h"

namespace wicprof::analyzer {
namespace {

using machine_code::Case;

// All cases, read once.
const std::vector<Case>& cases() {
  static const std::vector<Case> all = machine_code::read_cases(WICPROF_SOURCE "/tests/analyzer/machine_code_data");
  return all;
}

const Finding* polling_finding(const Analysis& analysis) {
  const Finding* found = nullptr;
  for (const Finding& finding : analysis.findings) {
    if (finding.rule != "polling_kernel") continue;
    if (found == nullptr || finding.severity > found->severity) found = &finding;
  }
  return found;
}

std::string name_of(const Case& of) { return of.build + " " + of.architecture + " " + of.family + "/" + of.name; }

TEST(MachineCodeCases, AreThereInEveryBuild) {
  std::map<std::string, std::size_t> waits, work;
  for (const Case& of : cases()) ++(of.waits ? waits : work)[of.build + "." + of.architecture];
  for (const char* build : {"O1", "O3", "G"}) {
    for (const char* architecture : {"sm_80", "sm_90"}) {
      const std::string key = std::string(build) + "." + architecture;
      EXPECT_GE(waits[key], 60u) << key;
      EXPECT_GE(work[key], 60u) << key;
    }
  }
  EXPECT_GE(waits["triton.sm_90"], 8u);
  EXPECT_GE(work["triton.sm_90"], 8u);
}

TEST(MachineCodeCases, WaitsOfTheHalfForImprovingAreNamedInOptimisedCode) {
  for (const Case& of : cases()) {
    if (of.judged || !of.waits || (of.build != "O3" && of.build != "triton")) continue;
    const Analysis analysis = analyze(machine_code::made_up_program(of));
    EXPECT_NE(polling_finding(analysis), nullptr) << name_of(of);
  }
}

TEST(MachineCodeCases, WorkIsNotNamedAboveInfo) {
  for (const Case& of : cases()) {
    if (of.waits || (of.build != "O3" && of.build != "triton")) continue;
    const Analysis analysis = analyze(machine_code::made_up_program(of));
    const Finding* finding = polling_finding(analysis);
    EXPECT_TRUE(finding == nullptr || finding->severity == Severity::info)
        << (of.judged ? "a case of the judged half" : name_of(of) + ": " + finding->text);
  }
}

TEST(MachineCodeCases, MostWaitsOfTheJudgedHalfAreNamedInOptimisedCode) {
  std::size_t waits = 0, named = 0;
  for (const Case& of : cases()) {
    if (!of.judged || !of.waits || (of.build != "O3" && of.build != "triton")) continue;
    const Analysis analysis = analyze(machine_code::made_up_program(of));
    ++waits;
    named += polling_finding(analysis) != nullptr ? 1 : 0;
  }
  EXPECT_GE(named * 100, waits * 95) << named << " of " << waits;
}

}  // namespace
}  // namespace wicprof::analyzer
