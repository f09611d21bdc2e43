#include "cli/record/other_root.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "protocol/process.h"

namespace wicprof::cli {

OtherRoot::OtherRoot(std::vector<std::string> files, EventSink& sink) : files_(std::move(files)), sink_(sink) {}

void OtherRoot::look(pid_t pid) {
  const std::string link = fmt::format("/proc/{}/root", pid);
  const int root = open(link.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return;
  std::string unseen;
  for (const std::string& file : files_) {
    if (!file.starts_with('/')) continue;
    const char* const there = file.c_str() + file.find_first_not_of('/');
    if (faccessat(root, there, F_OK, 0) == 0 || errno != ENOENT) continue;
    if (access(file.c_str(), F_OK) == 0) unseen += (unseen.empty() ? "" : " and no ") + file;
  }
  close(root);
  char place[4096] = {};
  // A process that has ended meanwhile has no root.
  if (unseen.empty() || readlink(link.c_str(), place, sizeof place - 1) <= 0) return;
  const std::lock_guard lock(mutex_);
  if (std::exchange(found_, true)) return;
  news_ = fmt::format(
      "process {} ({}) is not recorded: its root, {}, has no {}; mount the folder of each there at the same place "
      "(mount --bind), or run wic-prof within that root",
      pid, executable_name_of(static_cast<std::uint32_t>(pid)), place, unseen);
  sink_.loss(LossSource::cupti, 1, news_);
}

std::string OtherRoot::news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

}  // namespace wicprof::cli
