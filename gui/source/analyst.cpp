#include "gui/source/analyst.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace wicprof::gui {

Result<Facts> Analyst::analyse(const std::string& path) {
  std::vector<std::string> words = command_;
  words.push_back(path);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return unavailable(std::string("cannot analyse ") + path + ": " + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    return unavailable("cannot start " + words[0] + " to analyse " + path + ": " + std::strerror(failed));
  }
  {
    const std::lock_guard lock(mutex_);
    child_ = pid;
    if (stop_) kill(pid, SIGKILL);
  }
  std::string bytes;
  std::vector<char> buffer(std::size_t{1} << 16);
  for (;;) {
    const ssize_t got = read(ends[0], buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  siginfo_t ended{};
  while (waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  {
    const std::lock_guard lock(mutex_);
    child_ = 0;
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return unavailable("the analysis of " + path +
                       " ended early; run wic-prof analyze to see why, or free some memory");
  }
  std::optional<Facts> facts = unpack_facts(bytes);
  if (!facts) return unavailable("the analysis of " + path + " returned incomplete data; start the window again");
  return *std::move(facts);
}

void Analyst::cancel() {
  const std::lock_guard lock(mutex_);
  stop_ = true;
  if (child_ != 0) kill(child_, SIGKILL);
}

}  // namespace wicprof::gui
