// How many waits in kernels the analyzer recognises as polling, and how much work it takes for polling.
//
// Judges the machine code of tests/analyzer/machine_code_cases, kept in tests/analyzer/machine_code_data, with samples
// made up by rule and, for sm_90, with samples of an H100. With --details improve, prints each wrong answer of the half
// for improving.
#include <cstdio>
#include <map>
#include <string>
#include <tuple>

#include "analyzer/analysis.h"
#include "analyzer/machine_code/calls.h"
#include "analyzer/machine_code/loop_text.h"
#include "bench/claim.h"
#include "machine_code_listings.h"

namespace {

using namespace wicprof;
using namespace wicprof::analyzer;
using bench::Claim;
using bench::ClaimRow;

constexpr double kRecallBar = 0.95;
constexpr const char* kRecorded = "h100";  // in place of the architecture: with samples that this machine recorded

struct Tally {
  std::int64_t waits = 0, found = 0, work = 0, alarms = 0, infos = 0;
  void add(const Tally& other) {
    waits += other.waits;
    found += other.found;
    work += other.work;
    alarms += other.alarms;
    infos += other.infos;
  }
};

struct Answer {
  bool named = false;
  Severity severity = Severity::info;
};

Answer answer_to(const TraceModel& model) {
  Answer answer;
  for (const Finding& finding : analyze(model).findings) {
    if (finding.rule != "polling_kernel") continue;
    answer.severity = answer.named ? std::max(answer.severity, finding.severity) : finding.severity;
    answer.named = true;
  }
  return answer;
}

Tally tally_of(const machine_code::Case& of, const Answer& answer) {
  Tally tally;
  if (of.waits) {
    tally.waits = 1;
    tally.found = answer.named ? 1 : 0;
  } else {
    tally.work = 1;
    tally.alarms = answer.named && answer.severity != Severity::info ? 1 : 0;
    tally.infos = answer.named && answer.severity == Severity::info ? 1 : 0;
  }
  return tally;
}

void print_loops(const machine_code::Case& of) {
  SassFunctions functions;
  for (const store::SassRow& row : of.code) functions[row.symbol].push_back(decode(row));
  const Routine routine = with_callees(functions, of.name);
  for (const SassLoop& loop : find_loops(routine.code)) {
    const LoopJudgement judgement = judge_loop(routine.code, loop);
    std::printf("  loop %#zx of %zu: %s, %s\n", static_cast<std::size_t>(loop.head), loop.body.size(),
                std::string(loop_kind_name(judgement.kind)).c_str(), reason_text(judgement).c_str());
    if (loop.body.size() > 120) continue;
    for (const std::size_t i : loop.body) std::printf("    %s\n", listing_line(routine.code[i]).c_str());
  }
}

void add_rows(Claim& claim, const std::string& half, const std::string& build, const std::string& architecture,
              const Tally& counts) {
  const bool recorded = architecture == kRecorded;
  const std::map<std::string, bench::Parameter> params = {{"half", half},
                                                          {"build", build},
                                                          {"architecture", recorded ? "sm_90" : architecture},
                                                          {"samples", std::string(recorded ? "recorded" : "made up")}};
  ClaimRow recall;
  recall.name = "recall_" + half + "_" + build + "_" + architecture;
  recall.params = params;
  recall.params["waits"] = counts.waits;
  recall.value = static_cast<double>(counts.found);
  recall.unit = "waits found";
  recall.compared_to = "waits";
  recall.ratio = counts.waits == 0 ? 0 : recall.value / static_cast<double>(counts.waits);
  recall.bar = kRecallBar;
  claim.add(recall);
  ClaimRow alarms;
  alarms.name = "false_alarms_" + half + "_" + build + "_" + architecture;
  alarms.params = params;
  alarms.params["kernels_that_work"] = counts.work;
  alarms.params["named_as_info"] = counts.infos;
  alarms.value = static_cast<double>(counts.alarms);
  alarms.unit = "kernels that work, named above info";
  alarms.compared_to = "kernels that work";
  alarms.ratio = counts.work == 0 ? 0 : alarms.value / static_cast<double>(counts.work);
  alarms.bar = 0;
  alarms.at_most = true;
  claim.add(alarms);
}

}  // namespace

int main(int argc, char** argv) {
  Claim claim("polling", "how many waits in kernels are recognised, and how much work is taken for polling", argc,
              argv);
  const std::string data = claim.option("data", std::string("tests/analyzer/machine_code_data"));
  const bool details = claim.option("details", std::string("none")) == "improve";
  std::map<std::tuple<std::string, std::string, std::string>, Tally> groups;
  std::map<std::string, machine_code::RecordedSamples> recorded;
  for (const machine_code::Case& of : machine_code::read_cases(data)) {
    const std::string half = of.judged ? "judged" : "improve";
    const Answer answer = answer_to(machine_code::made_up_program(of));
    const Tally counts = tally_of(of, answer);
    groups[{half, of.build, of.architecture}].add(counts);
    groups[{half, "all", "all"}].add(counts);
    if (of.architecture == "sm_90") {
      const auto [samples, is_new] = recorded.try_emplace(of.build);
      if (is_new) samples->second = machine_code::read_samples(data, of.build, of.architecture);
      if (!samples->second.empty()) {
        const Answer seen = answer_to(machine_code::recorded_program(of, samples->second));
        groups[{half, of.build, kRecorded}].add(tally_of(of, seen));
        if (details && !of.judged && of.waits != seen.named) {
          std::printf("%s recorded %s/%s %s\n", of.build.c_str(), of.family.c_str(), of.name.c_str(),
                      of.waits ? "MISSED" : "NAMED");
        }
      }
    }
    const bool wrong = of.waits ? !answer.named : answer.named;
    if (!details || of.judged || !wrong) continue;
    std::printf("%s %s %s/%s %s\n", of.build.c_str(), of.architecture.c_str(), of.family.c_str(), of.name.c_str(),
                of.waits                            ? "MISSED"
                : answer.severity == Severity::info ? "named as info"
                                                    : "FALSE ALARM");
    print_loops(of);
  }
  for (const auto& [key, counts] : groups)
    add_rows(claim, std::get<0>(key), std::get<1>(key), std::get<2>(key), counts);
  return claim.write();
}
