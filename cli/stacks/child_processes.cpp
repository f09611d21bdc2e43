#include "cli/stacks/child_processes.h"

#include <dirent.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

namespace wicprof::cli {

Result<std::vector<pid_t>> child_processes(pid_t of) {
  std::vector<pid_t> children;
  const std::string folder = fmt::format("/proc/{}/task", of);
  DIR* const tasks = opendir(folder.c_str());
  if (tasks == nullptr) return unavailable(fmt::format("cannot read {}: {}", folder, std::strerror(errno)));
  bool listed = false;
  while (const dirent* task = readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    std::ifstream list(fmt::format("{}/{}/children", folder, task->d_name));
    listed = listed || list.is_open();
    for (pid_t pid = 0; list >> pid;) children.push_back(pid);
  }
  closedir(tasks);
  if (!listed) return unavailable("this kernel does not list the children of a process (CONFIG_PROC_CHILDREN)");
  return Result<std::vector<pid_t>>(std::move(children));
}

}  // namespace wicprof::cli
