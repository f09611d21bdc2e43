// The cases of machine_code_cases/: which kernels are named as polling, in optimised code and in Triton's; and which
// wait at mbarriers and for words in shared memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

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

// The kernels of tests/rewriter/indirect/barriers_*.cu.

struct Barriers {
  std::size_t waits = 0, found = 0, others = 0, wrong = 0;
  std::size_t roles = 0, right_roles = 0, wrong_roles = 0;
};

std::set<PipelineRole> roles_by_name(const std::string& kernel) {
  if (kernel.ends_with("_producer")) return {PipelineRole::producer};
  if (kernel.ends_with("_consumer")) return {PipelineRole::consumer};
  if (kernel.ends_with("_specialized_pipeline")) return {PipelineRole::producer, PipelineRole::consumer};
  // The copies of cuda::pipeline are each thread's own.
  if (kernel.ends_with("_pipeline")) return {PipelineRole::producer};
  return {};
}

void judge_barriers(const Case& of, Barriers& tally) {
  const Analysis analysis = analyze(machine_code::made_up_program(of));
  const bool at_mbarrier = !analysis.mbarrier_waits.empty();
  const bool found = of.name.find("_mbarrier_") != of.name.npos
                         ? at_mbarrier
                         : at_mbarrier || std::ranges::any_of(analysis.polling_loops, [](const PollingLoop& loop) {
                             return loop.from_instructions && is_polling(loop.kind);
                           });
  ++(of.waits ? tally.waits : tally.others);
  (of.waits ? tally.found : tally.wrong) += found ? 1 : 0;
  const std::set<PipelineRole> wanted = roles_by_name(of.name);
  std::set<PipelineRole> roles;
  for (const PollingLoop& loop : analysis.mbarrier_waits) roles.insert(loop.role);
  roles.erase(PipelineRole::unknown);
  tally.roles += wanted.size();
  for (const PipelineRole role : roles) ++(wanted.contains(role) ? tally.right_roles : tally.wrong_roles);
}

TEST(MachineCodeBarriers, AreFoundWithTheirRolesAndLookalikesAreNot) {
  std::map<std::pair<std::string, bool>, Barriers> tallies;
  for (const Case& of : machine_code::read_cases(WICPROF_SOURCE "/tests/analyzer/machine_code_barriers")) {
    judge_barriers(of, tallies[{of.build, of.judged}]);
  }
  ASSERT_EQ(tallies.size(), 6u);
  for (const auto& [key, tally] : tallies) {
    const std::string name = key.first + (key.second ? " judged" : " improve");
    RecordProperty(name, std::to_string(tally.found) + " of " + std::to_string(tally.waits) + ", " +
                             std::to_string(tally.wrong) + " of " + std::to_string(tally.others) + ", " +
                             std::to_string(tally.right_roles) + " of " + std::to_string(tally.roles) + " roles");
    EXPECT_GE(tally.waits, 14u) << name;
    EXPECT_GE(tally.others, 7u) << name;
    EXPECT_EQ(tally.wrong, 0u) << name;
    EXPECT_EQ(tally.wrong_roles, 0u) << name;
    // Without optimization, libcu++'s waits are longer than what is understood.
    const bool optimised = key.first == "O3";
    EXPECT_GE(tally.found + (optimised ? 0 : 4), tally.waits) << name;
    EXPECT_GE(tally.right_roles + (optimised ? 0 : 2), tally.roles) << name;
  }
}

}  // namespace
}  // namespace wicprof::analyzer
