// Launches whose work begins late although nothing is in front of it.
#include "analyzer/rules/late_gain.h"

namespace wicprof::analyzer {

template <>
RuleOutcome apply<struct LateLaunch>(const RuleInput& input) {
  return late_outcome(
      input, LateCause::launch, "work begins late after its launch although nothing is in front of it",
      [](Finding& finding) {
        finding.remedy =
            "look for what the launch waits for (other threads in calls of CUDA, code that is loaded, memory that is "
            "allocated or freed, another process on the GPU), or launch several steps ahead, or as a CUDA graph";
      });
}

}  // namespace wicprof::analyzer
