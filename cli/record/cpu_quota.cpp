#include "cli/record/cpu_quota.h"

#include <fstream>

namespace wicprof::cli {

std::optional<QuotaCounts> read_cpu_stat(const std::string& path) {
  std::ifstream file(path);
  QuotaCounts counts;
  bool any = false;
  std::string name;
  unsigned long long value = 0;
  while (file >> name >> value) {
    if (name == "nr_throttled") counts.periods = value;
    if (name != "throttled_usec") continue;
    counts.throttled_ns = static_cast<TimeNs>(value) * kMicrosecond;
    any = true;
  }
  return any ? std::optional(counts) : std::nullopt;
}

CpuQuota::CpuQuota(pid_t process, const std::string& root) {
  std::ifstream file("/proc/" + std::to_string(process) + "/cgroup");
  std::string line, group;
  while (std::getline(file, line)) {
    if (line.starts_with("0::")) group = line.substr(3);
  }
  // A path outside of this namespace's root ("/../other") names groups that are not mounted here.
  if (group.empty() || group.find("..") != std::string::npos) group = "/";
  for (;;) {
    files_.push_back(root + (group == "/" ? "" : group) + "/cpu.stat");
    if (group == "/") break;
    const std::size_t slash = group.rfind('/');
    group = slash == 0 || slash == std::string::npos ? "/" : group.substr(0, slash);
  }
}

std::optional<QuotaCounts> CpuQuota::counts() const {
  std::optional<QuotaCounts> sum;
  for (const std::string& file : files_) {
    if (const std::optional<QuotaCounts> counts = read_cpu_stat(file)) {
      sum = sum.value_or(QuotaCounts{});
      *sum += *counts;
    }
  }
  return sum;
}

}  // namespace wicprof::cli
