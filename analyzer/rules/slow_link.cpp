// A rank of a job that the others wait for since the same copies from and to its device take longer.
#include "analyzer/rules/slower_rank.h"

namespace wicprof::analyzer {

template <>
RuleOutcome apply<struct SlowLink>(const RuleInput& input) {
  RuleOutcome outcome;
  std::optional<Finding> found = slower_rank(input, RankCause::slow_link);
  if (!found) return outcome;
  found->command =
      "nvidia-smi --query-gpu=index,uuid,pcie.link.gen.current,pcie.link.width.current --format=csv; nvidia-smi topo "
      "-m";
  found->remedy =
      "compare generation and width of the device's link with those of the other devices while the job runs, and bind "
      "the rank and its pinned memory to the device's own NUMA node (numactl --cpunodebind --membind)";
  outcome.findings.push_back(*std::move(found));
  return outcome;
}

}  // namespace wicprof::analyzer
