// How many waiting loops of kernels the rewriter finds in PTX, and which loops it would patch that do not wait.
//
// Judges the kernels of tests/rewriter/waits, kept as PTX in tests/rewriter/waits_data. With --details=improve, prints
// each wrong answer of the half for improving.
#include <cstdio>
#include <map>
#include <string>
#include <tuple>

#include "bench/claim.h"
#include "waits_cases.h"

namespace {

using namespace wicprof;
using namespace wicprof::rewriter::waits_cases;
using bench::Claim;
using bench::ClaimRow;

constexpr double kFoundBar = 0.95;

void add_rows(Claim& claim, const std::string& half, const std::string& build, const std::string& architecture,
              const Tally& counts) {
  const std::string name = half + "_" + build + "_" + architecture;
  const std::map<std::string, bench::Parameter> params = {
      {"half", half}, {"build", build}, {"architecture", architecture}};
  ClaimRow found;
  found.name = "found_" + name;
  found.params = params;
  found.params["waits"] = static_cast<std::int64_t>(counts.waits);
  found.params["may_be_left_alone"] = static_cast<std::int64_t>(counts.either);
  found.params["of_these_found"] = static_cast<std::int64_t>(counts.either_found);
  found.value = static_cast<double>(counts.found);
  found.unit = "kernels with a wait that may be patched, found";
  found.compared_to = "kernels with a wait that may be patched";
  found.ratio = counts.waits == 0 ? 0 : found.value / static_cast<double>(counts.waits);
  found.bar = kFoundBar;
  claim.add(found);
  ClaimRow wrong;
  wrong.name = "wrongly_patched_" + name;
  wrong.params = params;
  wrong.params["kernels"] = static_cast<std::int64_t>(counts.others);
  wrong.value = static_cast<double>(counts.wrongly_patched);
  wrong.unit = "kernels without a wait, or that must stay as they are, that would be patched";
  wrong.compared_to = "such kernels";
  wrong.ratio = counts.others == 0 ? 0 : wrong.value / static_cast<double>(counts.others);
  wrong.bar = 0;
  wrong.at_most = true;
  claim.add(wrong);
}

bool is_wrong(const Answer& answer) {
  return answer.truth != Truth::either && (answer.truth == Truth::wait) != (answer.patched > 0);
}

}  // namespace

int main(int argc, char** argv) {
  Claim claim("waiting_loops", "how many waiting loops are found in PTX, and which others would be patched", argc,
              argv);
  const std::string data = claim.option("data", std::string("tests/rewriter/waits_data"));
  const bool details = claim.option("details", std::string("none")) == "improve";
  std::map<std::tuple<std::string, std::string, std::string>, Tally> groups;
  for (const Unit& unit : read_units(data)) {
    const std::string half = unit.judged ? "judged" : "improve";
    for (const Answer& answer : answers_of(unit)) {
      groups[{half, unit.build, unit.architecture}].add(answer);
      groups[{half, "all", "all"}].add(answer);
      if (!details || unit.judged || !is_wrong(answer)) continue;
      std::printf("%s %s %s/%s\n", unit.build.c_str(), unit.architecture.c_str(), unit.family.c_str(),
                  answer.kernel.c_str());
      for (const std::string& reason : answer.reasons) std::printf("    %s\n", reason.c_str());
    }
  }
  for (const auto& [key, counts] : groups)
    add_rows(claim, std::get<0>(key), std::get<1>(key), std::get<2>(key), counts);
  return claim.write();
}
