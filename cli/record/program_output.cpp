#include "cli/record/program_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace wicprof::cli {

namespace {

constexpr std::size_t kMaxOutputBytes = std::size_t{512} << 20;  // more is treated like a timeout
constexpr std::size_t kMaxErrorBytes = 400;

// Both ends of a pipe, closed on destruction.
struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    shut(0);
    shut(1);
  }
  bool open() { return pipe2(ends, O_CLOEXEC) == 0; }
  void shut(int end) {
    if (ends[end] >= 0) close(ends[end]);
    ends[end] = -1;
  }
};

// Appends one read's bytes to `to` until it holds `max_bytes`, and drops the rest. False at the end of the stream.
bool read_some(int fd, std::string& to, std::size_t max_bytes) {
  char buffer[65536];
  const ssize_t n = read(fd, buffer, sizeof buffer);
  if (n > 0 && to.size() < max_bytes) to.append(buffer, static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

std::vector<char*> c_words(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

Result<ProgramOutput> output_of(const std::vector<std::string>& words, TimeNs deadline,
                                const std::vector<std::string>* environment) {
  Pipe out, errors;
  if (!out.open() || !errors.open()) return unavailable(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, errors.ends[1], 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> arguments = c_words(words), variables;
  if (environment != nullptr) variables = c_words(*environment);
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, words.front().c_str(), &actions, &attributes, arguments.data(),
                                 environment != nullptr ? variables.data() : environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return unavailable(fmt::format("cannot start {}: {}", words.front(), std::strerror(failed)));
  out.shut(1);
  errors.shut(1);

  ProgramOutput output;
  bool late = false;
  pollfd ends[2] = {{out.ends[0], POLLIN, 0}, {errors.ends[0], POLLIN, 0}};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    const TimeNs left = deadline - now_ns();
    if (left <= 0 || output.text.size() >= kMaxOutputBytes) {
      late = true;
      kill(pid, SIGKILL);
      break;
    }
    if (poll(ends, 2, static_cast<int>(std::min<TimeNs>(left / kMillisecond + 1, 1000))) < 0 && errno != EINTR) break;
    if (ends[0].revents != 0 && !read_some(ends[0].fd, output.text, kMaxOutputBytes)) ends[0].fd = -1;
    if (ends[1].revents != 0 && !read_some(ends[1].fd, output.errors, kMaxErrorBytes)) ends[1].fd = -1;
  }
  // A program can close its pipes and keep running.
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(pid, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
    if (!late && now_ns() >= deadline) {
      late = true;
      kill(pid, SIGKILL);
    }
    usleep(1000);
  }
  if (late) return unavailable(fmt::format("{} took too long and was stopped", words.front()));
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return output;
}

}  // namespace wicprof::cli
