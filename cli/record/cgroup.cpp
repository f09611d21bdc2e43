#include "cli/record/cgroup.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>

namespace wicprof::cli {

namespace {

std::optional<std::uint64_t> number_in(const std::string& path) {
  std::uint64_t number = 0;
  if (std::ifstream file(path); file >> number) return number;
  return std::nullopt;  // "max", or no such file
}

/// Of the lines "NAME NUMBER".
std::uint64_t number_at(const std::string& path, std::initializer_list<const char*> names) {
  std::ifstream file(path);
  std::string name;
  std::uint64_t number = 0;
  while (file >> name >> number) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return number;
  }
  return 0;
}

bool has_controller(const std::string& list, const std::string& controller) {
  return ("," + list + ",").find("," + controller + ",") != std::string::npos;
}

}  // namespace

std::vector<std::string> cgroup_folders(pid_t process, const std::string& controller, const CgroupPlaces& places) {
  // "0::/path" is of version 2; "4:memory:/path" of version 1, which then has the controller.
  std::ifstream file(places.proc + "/" + std::to_string(process) + "/cgroup");
  std::string line, group, root = places.root;
  while (std::getline(file, line)) {
    const std::size_t list = line.find(':'), path = line.find(':', list + 1);
    if (list == std::string::npos || path == std::string::npos) continue;
    const std::string controllers = line.substr(list + 1, path - list - 1);
    if (controllers.empty() && group.empty()) group = line.substr(path + 1);
    if (!has_controller(controllers, controller)) continue;
    group = line.substr(path + 1);
    root = places.root + "/" + (access((places.root + "/" + controller).c_str(), F_OK) == 0 ? controller : controllers);
  }
  if (group.empty()) return {};
  // A path outside of this namespace's root ("/../other") names groups that are not mounted here. Without such a
  // namespace, a container has its own group as the root, whatever the path.
  if (group.find("..") != std::string::npos || access((root + group).c_str(), F_OK) != 0) group = "/";
  std::vector<std::string> folders;
  for (;;) {
    folders.push_back(root + (group == "/" ? "" : group));
    if (group == "/") return folders;
    const std::size_t slash = group.rfind('/');
    group = slash == 0 || slash == std::string::npos ? "/" : group.substr(0, slash);
  }
}

std::optional<std::uint64_t> cgroup_memory_left(pid_t process, const CgroupPlaces& places) {
  constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;  // version 1 writes a huge number
  std::optional<std::uint64_t> left;
  for (const std::string& folder : cgroup_folders(process, "memory", places)) {
    std::optional<std::uint64_t> limit = number_in(folder + "/memory.max"),
                                 used = number_in(folder + "/memory.current");
    if (!used) {
      limit = number_in(folder + "/memory.limit_in_bytes");
      used = number_in(folder + "/memory.usage_in_bytes");
    }
    if (!limit || !used || *limit >= kNoLimit) continue;
    const std::uint64_t of_files = number_at(folder + "/memory.stat", {"inactive_file", "total_inactive_file"});
    const std::uint64_t kept = *used - std::min(*used, of_files);
    left = std::min(left.value_or(kNoLimit), *limit - std::min(*limit, kept));
  }
  return left;
}

std::optional<CpuLimit> cgroup_cpu_limit(pid_t process, const CgroupPlaces& places) {
  std::optional<CpuLimit> limit;
  const auto take = [&](double quota, double period) {  // in us
    if (quota <= 0 || period <= 0 || (limit && limit->cpus <= quota / period)) return;
    limit = CpuLimit{quota / period, static_cast<TimeNs>(period * 1000)};
  };
  for (const std::string& folder : cgroup_folders(process, "cpu", places)) {
    double quota = 0, period = 0;
    if (std::ifstream file(folder + "/cpu.max"); file >> quota >> period) take(quota, period);
    std::ifstream quota_file(folder + "/cpu.cfs_quota_us"), period_file(folder + "/cpu.cfs_period_us");
    if (quota_file >> quota && period_file >> period) take(quota, period);
  }
  return limit;
}

}  // namespace wicprof::cli
