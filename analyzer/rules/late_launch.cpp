// Launches whose work begins late although nothing is in front of it.
#include "analyzer/rules/late_gain.h"
#include "analyzer/waits/late_starts.h"

namespace wicprof::analyzer {

namespace {

/// Whether the turns of others on the device, as the rule shared_device knows them, take half of that time.
bool others_have_the_device(const RuleInput& input) {
  const LateSum* const late = input.lateness.sum(LateCause::launch);
  TimeNs others = 0;
  for (const InterruptedKernels& each : input.interrupted_kernels) others += each.lost_ns;
  return late != nullptr && 2 * others >= late->late_ns;
}

bool late_behind_functions(const RuleInput& input) {
  const LateSum* const late = input.lateness.sum(LateCause::launch);
  return late != nullptr && behind_host_functions(input.model, late->count);
}

}  // namespace

template <>
RuleOutcome apply<struct LateLaunch>(const RuleInput& input) {
  return late_outcome(
      input, LateCause::launch, "work begins late after its launch although nothing is in front of it",
      [&](Finding& finding) {
        finding.remedy =
            others_have_the_device(input) ? "see shared_device: for most of that time, others seem to have the GPU"
            : late_behind_functions(input)
                ? "the program puts functions of the host into streams (cudaLaunchHostFunc), and the work behind each "
                  "begins when the function has returned: let a thread of the program do that work"
                : "look for what the launch waits for (other threads in calls of CUDA, code that is loaded, memory "
                  "that "
                  "is allocated or freed, another process on the GPU), or launch several steps ahead, or as a CUDA "
                  "graph";
      });
}

}  // namespace wicprof::analyzer
