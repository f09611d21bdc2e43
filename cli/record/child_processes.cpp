#include "cli/record/child_processes.h"

#include <dirent.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

namespace wicprof::cli {

Result<std::vector<pid_t>> child_processes() {
  std::vector<pid_t> children;
  DIR* const tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return unavailable(std::string("cannot read /proc/self/task: ") + std::strerror(errno));
  bool listed = false;
  while (const dirent* task = readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    std::ifstream list(std::string("/proc/self/task/") + task->d_name + "/children");
    listed = listed || list.is_open();
    for (pid_t pid = 0; list >> pid;) children.push_back(pid);
  }
  closedir(tasks);
  if (!listed) return unavailable("this kernel does not list the children of a process (CONFIG_PROC_CHILDREN)");
  return Result<std::vector<pid_t>>(std::move(children));
}

Subreaper::Subreaper(bool wanted) : on_(wanted && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0) {}

Subreaper::~Subreaper() {
  if (on_) prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

}  // namespace wicprof::cli
