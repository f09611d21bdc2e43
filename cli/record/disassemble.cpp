#include "cli/record/disassemble.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

#include "analyzer/machine_code/nvdisasm.h"
#include "cli/record/find_program.h"
#include "cli/terminal/messages.h"
#include "protocol/time.h"

namespace wicprof::cli {

namespace {

constexpr TimeNs kDisassemblyTimeout = 30 * kSecond;             // all modules together
constexpr std::size_t kMaxOutputBytes = std::size_t{512} << 20;  // more is treated like a timeout
constexpr std::size_t kMaxErrorBytes = 400;                      // of stderr, quoted in the error

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

// A program's stdout. Errors: it cannot start, it fails (the error quotes its stderr), or it exceeds the deadline.
Result<std::string> output_of(const std::vector<std::string>& words, TimeNs deadline) {
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
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, words.front().c_str(), &actions, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return unavailable(fmt::format("cannot start {}: {}", words.front(), std::strerror(failed)));
  out.shut(1);
  errors.shut(1);

  std::string text, error_text;
  bool late = false;
  pollfd ends[2] = {{out.ends[0], POLLIN, 0}, {errors.ends[0], POLLIN, 0}};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    const TimeNs left = deadline - now_ns();
    if (left <= 0 || text.size() >= kMaxOutputBytes) {
      late = true;
      kill(pid, SIGKILL);
      break;
    }
    if (poll(ends, 2, static_cast<int>(std::min<TimeNs>(left / kMillisecond + 1, 1000))) < 0 && errno != EINTR) break;
    if (ends[0].revents != 0 && !read_some(ends[0].fd, text, kMaxOutputBytes)) ends[0].fd = -1;
    if (ends[1].revents != 0 && !read_some(ends[1].fd, error_text, kMaxErrorBytes)) ends[1].fd = -1;
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
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::replace(error_text.begin(), error_text.end(), '\n', ' ');
    return unavailable(
        fmt::format("{} failed: {}", words.front(), error_text.empty() ? "it printed no reason" : error_text));
  }
  return text;
}

bool is_program(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

}  // namespace

std::string find_nvdisasm() {
  if (const char* named = std::getenv("WICPROF_NVDISASM"); named != nullptr && *named != '\0') return named;
  if (const Result<std::string> found = find_program("nvdisasm")) return *found;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* root = std::getenv(variable);
    if (root == nullptr || *root == '\0') continue;
    if (const std::string path = std::string(root) + "/bin/nvdisasm"; is_program(path)) return path;
  }
  const std::string usual = "/usr/local/cuda/bin/nvdisasm";
  return is_program(usual) ? usual : std::string();
}

void record_instructions(store::Recorder& recorder, const std::string& folder) {
  const store::SampledFunctions functions = recorder.sampled_functions();
  if (functions.empty()) return;
  const std::string tool = find_nvdisasm();
  std::string missing;
  if (tool.empty()) {
    missing =
        "nvdisasm was not found; install it (it comes with the CUDA toolkit) in PATH, or name it with WICPROF_NVDISASM";
  }
  const TimeNs deadline = now_ns() + kDisassemblyTimeout;
  std::size_t absent = 0, unread = 0, late = 0;
  std::string reason;
  for (const auto& [module, symbols] : functions) {
    if (tool.empty()) break;
    const std::string file = fmt::format("{}/{:016x}.cubin", folder, module);
    if (access(file.c_str(), R_OK) != 0) {
      ++absent;
      continue;
    }
    if (now_ns() >= deadline) {
      ++late;
      continue;
    }
    // Prefer the source lines of inlined code (-gi). Some versions do not know -gi, and some refuse -g and -gi for
    // modules without line information.
    Result<std::string> listing = output_of({tool, "-c", "-gi", file}, deadline);
    if (!listing && now_ns() < deadline) listing = output_of({tool, "-c", "-g", file}, deadline);
    if (!listing && now_ns() < deadline) listing = output_of({tool, "-c", file}, deadline);
    if (!listing && now_ns() >= deadline) {
      ++late;
      continue;
    }
    if (!listing) {
      ++unread;
      reason = listing.error().message;
      continue;
    }
    const std::vector<store::SassRow> rows = analyzer::parse_nvdisasm(*listing, module, symbols);
    for (const store::SassRow& row : rows) recorder.add_sass(row);
    if (rows.empty()) {
      ++unread;
      reason = tool + " printed none of the sampled functions";
    }
  }
  if (late > 0) {
    missing =
        fmt::format("{} of {} modules were not disassembled: {} would have exceeded the limit of {} s for all modules",
                    late, functions.size(), tool, kDisassemblyTimeout / kSecond);
  } else if (unread > 0) {
    missing = fmt::format(
        "{} of {} modules could not be disassembled ({}); try nvdisasm of the CUDA version that built the "
        "program, named with WICPROF_NVDISASM",
        unread, functions.size(), reason);
  } else if (absent > 0) {
    missing = fmt::format("the program did not save {} of {} modules: it ended too early, or {} has no space left",
                          absent, functions.size(), folder);
  }
  if (!missing.empty()) recorder.set_meta("sass_missing", missing);
}

}  // namespace wicprof::cli
