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
    if (name != "throttled_usec") continue;
    counts.throttled_ns = static_cast<TimeNs>(value) * kMicrosecond;
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

CpuQuota::CpuQuota(pid_t process, std::string root, std::string proc)
    : root_(std::move(root)), proc_file_(std::move(proc) + "/" + std::to_string(process) + "/cgroup") {
  files_ = files_now();
}

std::vector<std::string> CpuQuota::files_now() const {
  std::ifstream file(proc_file_);
  std::string line, group;
  while (std::getline(file, line)) {
    if (line.starts_with("0::")) group = line.substr(3);
  }
  if (group.empty()) return {};
  // A path outside of this namespace's root ("/../other") names groups that are not mounted here.
  if (group.find("..") != std::string::npos) group = "/";
  std::vector<std::string> files;
  for (;;) {
    files.push_back(root_ + (group == "/" ? "" : group) + "/cpu.stat");
    if (group == "/") return files;
    const std::size_t slash = group.rfind('/');
    group = slash == 0 || slash == std::string::npos ? "/" : group.substr(0, slash);
  }
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
