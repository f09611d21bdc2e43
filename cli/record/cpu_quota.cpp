#include "cli/record/cpu_quota.h"

#include <fstream>
#include <utility>

namespace wicprof::cli {

std::optional<QuotaCounts> read_cpu_stat(const std::string& path) {
  std::ifstream file(path);
  QuotaCounts counts;
  bool any = false;
  std::string name;
  unsigned long long value = 0;
  while (file >> name >> value) {
    if (name == "nr_throttled") counts.periods = value;
    const bool is_v2 = name == "throttled_usec";
    if (!is_v2 && name != "throttled_time") continue;
    counts.throttled_ns = static_cast<TimeNs>(value) * (is_v2 ? kMicrosecond : 1);
    any = true;
  }
  return any ? std::optional(counts) : std::nullopt;
}

namespace {

std::optional<QuotaCounts> sum_of(const std::vector<std::string>& files) {
  std::optional<QuotaCounts> sum;
  for (const std::string& file : files) {
    if (const std::optional<QuotaCounts> counts = read_cpu_stat(file)) {
      sum = sum.value_or(QuotaCounts{});
      *sum += *counts;
    }
  }
  return sum;
}

}  // namespace

CpuQuota::CpuQuota(pid_t process, CgroupPlaces places) : process_(process), places_(std::move(places)) {
  files_ = files_now();
}

std::vector<std::string> CpuQuota::files_now() const {
  std::vector<std::string> files = cgroup_folders(process_, "cpu", places_);
  for (std::string& file : files) file += "/cpu.stat";
  return files;
}

void CpuQuota::follow() {
  std::vector<std::string> now = files_now();
  if (now.empty() || now == files_) return;
  earlier_ += sum_of(files_).value_or(QuotaCounts{});
  earlier_ -= sum_of(now).value_or(QuotaCounts{});
  files_ = std::move(now);
}

std::optional<QuotaCounts> CpuQuota::counts() const {
  std::optional<QuotaCounts> sum = sum_of(files_);
  if (sum) *sum += earlier_;
  return sum;
}

}  // namespace wicprof::cli
