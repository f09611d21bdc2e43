#include "cli/record/gui_process.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>
#include <vector>

extern char** environ;

namespace wicprof::cli {

Result<GuiProcess> GuiProcess::start(const std::string& session, const std::string& script) {
  std::vector<std::string> words{"wic-prof", "gui", "--session", session};
  if (!script.empty()) words.insert(words.end(), {"--drive", script});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  // A run blocks the terminal's signals, for which it has its own ways; the window shall end by them.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int code = posix_spawn(&pid, "/proc/self/exe", nullptr, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (code != 0)
    return unavailable(std::string("cannot start the window: ") + std::strerror(code) + "; run without --gui");
  return Result<GuiProcess>(GuiProcess(pid));
}

void GuiProcess::wait() {
  if (pid_ == 0) return;
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

}  // namespace wicprof::cli
