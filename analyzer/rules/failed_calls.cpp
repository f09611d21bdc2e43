// Kernels that failed, behind which no call of CUDA works any more, and launches that were refused: a program that does
// not look at the calls' results goes on without its work.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/rules/rule.h"
#include "analyzer/rules/thresholds.h"
#include "analyzer/trace/thread_names.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

struct ErrorName {
  std::int32_t code;
  bool of_kernel;  ///< a kernel failed: every later call of its process that needs the device fails, too
  std::string_view name;
};

// Codes of cudaError_t and CUresult that are the same in both, but for 9 and 98, which the runtime alone has.
constexpr ErrorName kErrors[] = {
    {1, false, "invalid argument"},
    {2, false, "out of memory"},
    {9, false, "invalid configuration of grid or block"},
    {98, false, "no such kernel for this device"},
    {209, false, "no code for this device"},
    {214, true, "uncorrectable memory error"},
    {700, true, "illegal address"},
    {701, false, "too many registers, threads or shared memory for the device"},
    {702, true, "time limit of the display"},
    {710, true, "assertion"},
    {714, true, "error in the hardware's stack"},
    {715, true, "illegal instruction or trap"},
    {716, true, "misaligned address"},
    {717, true, "address of another kind of memory"},
    {718, true, "invalid program counter"},
    {719, true, "failure of a kernel"},
    {720, false, "more blocks of a cooperative launch than fit at once"},
};

const ErrorName* error_of(std::int32_t code) {
  const auto found = std::ranges::find(kErrors, code, &ErrorName::code);
  return found == std::end(kErrors) ? nullptr : found;
}

bool is_launch(std::string_view call) {
  if (call.find("HostFunc") != call.npos) return false;
  return call.starts_with("cudaLaunch") || call.starts_with("cuLaunch") || call.starts_with("cudaGraphLaunch") ||
         call.starts_with("cuGraphLaunch");
}

/// Calls of one kind: how many failed, the first one, and in which processes.
struct Failed {
  std::uint64_t calls = 0;
  store::CallRow first{};
  std::set<store::ProcessId> processes;
  void add(const store::CallRow& call) {
    if (calls++ == 0) first = call;
    processes.insert(call.process);
  }
};

std::string first_of(const TraceModel& model, const Failed& failed) {
  const ErrorName* const error = error_of(failed.first.result);
  return fmt::format("{} of {} after {}: {}{}", one_line(failed.first.name),
                     ThreadNames(model).of(failed.first.process, failed.first.thread),
                     format_duration(std::max<TimeNs>(0, failed.first.start - model.begin)),
                     error == nullptr ? "error " : std::string(error->name) + ", error ", failed.first.result);
}

Finding broken(const TraceModel& model, const Failed& failed) {
  Finding finding;
  finding.severity = Severity::critical;
  finding.text = fmt::format(
      "a kernel failed{}, and {} of CUDA failed from then on; the first was {}",
      failed.processes.size() > 1 ? fmt::format(" in each of {} processes", failed.processes.size()) : std::string(),
      count_of(failed.calls, "call"), first_of(model, failed));
  finding.evidence = "the calls' results; work behind the failure did not run, so that times behind it mean nothing";
  finding.remedy =
      "run the program under compute-sanitizer, which names the kernel and the line; and look at the results of calls "
      "(cudaGetLastError), so that the program ends where it fails";
  return finding;
}

Finding refused_launches(const TraceModel& model, const Failed& failed, std::uint64_t launches) {
  Finding finding;
  finding.severity = static_cast<double>(failed.calls) >= kWarning * static_cast<double>(launches) ? Severity::warning
                                                                                                   : Severity::info;
  finding.text = fmt::format("{} of {} launches failed, so that their kernels did not run; the first was {}",
                             format_count(failed.calls), format_count(launches), first_of(model, failed));
  finding.evidence = "the launches' results; a program that tries variants of a kernel may expect them";
  finding.remedy = "look at the result of each launch (cudaGetLastError behind it), and mend its arguments";
  return finding;
}

}  // namespace

template <>
RuleOutcome apply<struct FailedCalls>(const RuleInput& input) {
  RuleOutcome outcome;
  if (input.model.calls.empty()) {
    outcome.refused = "the trace holds no calls of CUDA";
    return outcome;
  }
  Failed of_kernels, of_launches;
  std::uint64_t launches = 0;
  std::map<std::pair<store::ProcessId, std::uint32_t>, TimeNs> outer_ends;
  for (const store::CallRow& call : input.model.calls) {
    const bool launch = is_launch(call.name);
    if (!launch && call.result == 0) continue;
    TimeNs& outer = outer_ends[{call.process, call.thread}];
    if (call.end <= outer) continue;  // the driver's part of a runtime call
    outer = call.end;
    if (launch) ++launches;
    const ErrorName* const error = error_of(call.result);
    if (error != nullptr && error->of_kernel) {
      of_kernels.add(call);
    } else if (launch && call.result != 0) {
      of_launches.add(call);
    }
  }
  if (of_kernels.calls > 0) outcome.findings.push_back(broken(input.model, of_kernels));
  if (of_launches.calls > 0) outcome.findings.push_back(refused_launches(input.model, of_launches, launches));
  return outcome;
}

}  // namespace wicprof::analyzer
