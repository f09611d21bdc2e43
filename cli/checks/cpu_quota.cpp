// Whether a quota limits the CPUs of this container or control group, and how often it has stopped threads.
#include "cli/record/cpu_quota.h"

#include <fmt/format.h>
#include <unistd.h>

#include "analyzer/words/format.h"
#include "cli/checks/check.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct CpuQuotaCheck>(const Machine&) {
  const std::optional<CpuLimit> limit = cgroup_cpu_limit(getpid());
  if (!limit) return {{"CPU quota", CheckState::not_applicable, "none", {}, false}};
  std::string detail = fmt::format("{:.3g} CPUs", limit->cpus);
  if (const std::optional<QuotaCounts> counts = CpuQuota(getpid()).counts(); counts && counts->periods > 0) {
    detail += fmt::format("; it was used up in {} periods, and threads then stood still for {} in all", counts->periods,
                          analyzer::format_duration(counts->throttled_ns));
  }
  detail += "; host threads that spin while they wait use it up: wic-prof toggle park --side host lets them sleep";
  return {{"CPU quota", CheckState::ok, detail, {}, false}};
}

}  // namespace wicprof::cli
