#include "cli/window/program.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/files/exe_path.h"

extern char** environ;

namespace wicprof::cli {

namespace {

constexpr const char* kProgram = "wic-prof-gui";

Result<std::string> find_program() {
  if (const std::optional<std::string> path = beside_binary(kProgram)) return *path;
  return unavailable(
      "the window is not installed: wic-prof-gui is not beside this wic-prof; install the package wic-prof-gui, or "
      "build it after installing libimgui-dev, libglfw3-dev, libgl-dev and libpng-dev (all other verbs work without)");
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Starts wic-prof-gui with an empty signal mask: a run blocks the terminal's signals for itself, but they must end the
/// window.
Result<pid_t> spawn(std::vector<std::string> words) {
  const Result<std::string> path = find_program();
  if (!path) return path.error();
  words.insert(words.begin(), kProgram);
  const std::vector<char*> arguments = pointers_to(words);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = 0;
  const int code = posix_spawn(&pid, path->c_str(), nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (code != 0)
    return unavailable(std::string("cannot start the window: ") + std::strerror(code) + "; run without --gui");
  return pid;
}

/// Exit status of a program whose shared libraries the loader did not find, or that cannot be executed.
constexpr int kNotLoaded = 127;

Error libraries_missing() {
  return unavailable(
      "wic-prof-gui needs libraries that this machine does not have (see above); install libglfw3, libopengl0 and "
      "libpng16-16, or view the trace elsewhere, or write `wic-prof report --format html`");
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

}  // namespace

Result<> can_open_window() {
  const Result<pid_t> pid = spawn({"--check-display"});
  if (!pid) return pid.error();
  const int status = wait_for(*pid);
  if (status == 0) return ok();
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotLoaded) return libraries_missing();
  return unavailable("the window cannot be opened, for the reason above; run without --gui");
}

Result<> become_window(const std::vector<std::string>& words) {
  const Result<std::string> path = find_program();
  if (!path) return path.error();
  // After execv, only the loader can report missing libraries, so check for them first.
  const Result<pid_t> trial = spawn({"--check-libraries"});
  if (!trial) return trial.error();
  if (const int status = wait_for(*trial); WIFEXITED(status) && WEXITSTATUS(status) == kNotLoaded) {
    return libraries_missing();
  }
  std::vector<std::string> all{kProgram};
  all.insert(all.end(), words.begin(), words.end());
  const std::vector<char*> arguments = pointers_to(all);
  execv(path->c_str(), arguments.data());
  return unavailable("cannot start " + *path + ": " + std::strerror(errno));
}

Result<WindowProcess> WindowProcess::start(const std::string& session, const std::string& script) {
  std::vector<std::string> words{"--session", session};
  if (!script.empty()) words.insert(words.end(), {"--drive", script});
  const Result<pid_t> pid = spawn(std::move(words));
  if (!pid) return pid.error();
  return Result<WindowProcess>(WindowProcess(*pid));
}

void WindowProcess::wait() {
  if (pid_ != 0) wait_for(pid_);
  pid_ = 0;
}

}  // namespace wicprof::cli
