#include "cli/record/app_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "cli/terminal/process_setup.h"
#include "protocol/limit_words.h"

namespace wicprof::cli {

namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

void close_fd(int& fd) {
  if (fd >= 0) close(std::exchange(fd, -1));
}

template <class Call>
ssize_t retry_on_eintr(Call&& call) {
  ssize_t n = 0;
  do {
    n = call();
  } while (n < 0 && errno == EINTR);
  return n;
}

// Runs in the child after fork(): async-signal-safe calls only.
[[noreturn]] void become(const char* path, char* const* words, char* const* environment, const PreviousSignals& signals,
                         int go, int failed, int output) {
  char byte = 0;
  // End of file instead of a byte: wic-prof gave up or died.
  if (retry_on_eintr([&] { return read(go, &byte, 1); }) != 1) _exit(0);
  if (output >= 0) {
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
  }
  restore_process();
  signals.restore();
  execve(path, words, environment);
  const int error = errno;
  (void)!write(failed, &error, sizeof error);
  _exit(127);
}

}  // namespace

Result<AppProcess> AppProcess::hold(const AppProgram& program) {
  int go[2] = {-1, -1};
  int failed[2] = {-1, -1};
  if (pipe2(go, O_CLOEXEC) != 0 || pipe2(failed, O_CLOEXEC) != 0) {
    const int error = errno;
    close_fd(go[0]);
    close_fd(go[1]);
    return unavailable(fmt::format("cannot create a pipe: {}; raise ulimit -n", std::strerror(error)));
  }
  const std::vector<char*> words = pointers(program.words);
  const std::vector<char*> environment = pointers(program.environment);
  const pid_t pid = fork();
  if (pid == 0) {
    close(go[1]);
    close(failed[0]);
    become(program.path.c_str(), words.data(), environment.data(), *program.signals, go[0], failed[1], program.output);
  }
  const int error = errno;
  close_fd(go[0]);
  close_fd(failed[1]);
  AppProcess process;
  process.path_ = program.path;
  process.pid_ = pid;
  process.go_ = go[1];
  process.failed_ = failed[0];
  if (pid < 0)
    return unavailable(fmt::format("cannot create a process: {}; raise {}", std::strerror(error), thread_limits()));
  return process;
}

AppProcess::AppProcess(AppProcess&& other) noexcept
    : path_(std::move(other.path_)),
      pid_(std::exchange(other.pid_, -1)),
      go_(std::exchange(other.go_, -1)),
      failed_(std::exchange(other.failed_, -1)) {}

AppProcess::~AppProcess() {
  const bool held = go_ >= 0;
  close_fd(go_);
  close_fd(failed_);
  if (held && pid_ > 0) retry_on_eintr([&] { return waitpid(pid_, nullptr, 0); });
}

Result<> AppProcess::start() {
  const char byte = 1;
  if (retry_on_eintr([&] { return write(go_, &byte, 1); }) != 1) {
    // Killed, for lack of memory say; or it still waits, and ends when the pipe is closed.
    const int error = errno;
    close_fd(go_);
    close_fd(failed_);
    retry_on_eintr([&] { return waitpid(pid_, nullptr, 0); });
    return unavailable(fmt::format("cannot start {}: {}; start it again", path_, std::strerror(error)));
  }
  int error = 0;
  const ssize_t n = retry_on_eintr([&] { return read(failed_, &error, sizeof error); });
  if (n != sizeof error) {  // exec succeeded and closed the pipe
    close_fd(go_);
    close_fd(failed_);
    return ok();
  }
  const char* cure = error == ENOEXEC
                         ? "the file is not a program for this machine; a script needs a first line like #!/bin/sh"
                     : error == ENOENT ? "the interpreter or loader that the file names is missing"
                     : error == E2BIG  ? "the arguments and the environment are too long; shorten them"
                                       : "check the file and its permissions";
  return bad_input(fmt::format("cannot start {}: {}; {}", path_, std::strerror(error), cure));
}

std::optional<AppEnd> AppProcess::ended() {
  int status = 0;
  if (retry_on_eintr([&] { return waitpid(pid_, &status, WNOHANG); }) != pid_) return std::nullopt;
  if (WIFSIGNALED(status)) return AppEnd{128 + WTERMSIG(status), WTERMSIG(status)};
  return AppEnd{WEXITSTATUS(status), std::nullopt};
}

}  // namespace wicprof::cli
