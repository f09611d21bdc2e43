// How often the analysis names the cause of a delay right, in made runs with injected delays
// (tests/analyzer/made_programs/delayed_run.h). Half of the runs served to improve the analysis; the other half only
// judges it. Rows: per kind of run the share of the delays that are named right, and the answers that claim to be sure
// and are wrong.
#include <cstdint>
#include <map>
#include <string>

#include "bench/claim.h"
#include "tests/analyzer/made_programs/delayed_run.h"

namespace {

using namespace wicprof;
using namespace wicprof::made_programs;

constexpr std::int64_t kRuns = 1'400;
constexpr std::uint64_t kJudging = 2'000'000;  // never looked at before the analysis was as it is
constexpr double kNamedRight = 0.95;

void add_rows(bench::Claim& claim, const std::string& half, const std::string& kind, const Named& named) {
  const bool judging = half == "judge";
  const std::map<std::string, bench::Parameter> params = {{"half", half},
                                                          {"injected", kind},
                                                          {"delays", static_cast<std::int64_t>(named.delays)},
                                                          {"unnamed", static_cast<std::int64_t>(named.unnamed)},
                                                          {"wrong", static_cast<std::int64_t>(named.wrong)}};
  bench::ClaimRow right{half + "_" + kind + "_right", params, static_cast<double>(named.right), "delays"};
  right.compared_to = "all delays of these runs that are large enough to be named";
  if (named.delays > 0) right.ratio = static_cast<double>(named.right) / static_cast<double>(named.delays);
  if (judging) right.bar = kNamedRight;
  claim.add(right);
  bench::ClaimRow sure{half + "_" + kind + "_surely_wrong", params, static_cast<double>(named.surely_wrong), "answers"};
  sure.compared_to = "one answer";
  sure.ratio = static_cast<double>(named.surely_wrong);
  if (judging) sure.bar = 0;
  sure.at_most = true;
  claim.add(sure);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Claim claim("late_causes", "How often the causes of delays are named right, in made runs.", argc, argv);
  const std::int64_t runs = claim.option("runs", kRuns);
  for (const bool judging : {false, true}) {
    std::map<std::string, Named> by_kind;
    for (std::int64_t i = 0; i < runs; ++i) {
      const DelayedRun run = make_delayed_run(static_cast<std::uint64_t>(i) + (judging ? kJudging : 0));
      const Named named = judge(run);
      by_kind[injected_name(run.kind)] += named;
      by_kind["all"] += named;
    }
    for (const auto& [kind, named] : by_kind) add_rows(claim, judging ? "judge" : "improve", kind, named);
  }
  return claim.write();
}
