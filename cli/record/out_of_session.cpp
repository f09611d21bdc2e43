#include "cli/record/out_of_session.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "protocol/file_text.h"
#include "protocol/process.h"
#include "protocol/session.h"

namespace wicprof::cli {

namespace {

std::string words_of(pid_t pid, const char* what) { return file_text(fmt::format("/proc/{}/{}", pid, what)); }

/// Whether a process has started with an environment that lacks the session's name. False also where it has written
/// something else to that place, as programs do that set their title.
bool lacks_session(pid_t pid) {
  std::string all = words_of(pid, "environ");
  if (all.empty()) {
    // A process that is about to end, or has just begun to start a program, has no arguments either.
    if (words_of(pid, "cmdline").empty()) return false;
    all = words_of(pid, "environ");
  }
  for (std::string_view rest = all; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));
    if (entry.find('=') == std::string_view::npos) return false;
    if (entry.starts_with(std::string(kSessionVariable) + "=")) return false;
    rest.remove_prefix(std::min(rest.size(), entry.size() + 1));
  }
  return true;
}

/// Before the program's own start, its process is a copy of this one.
bool is_this_program(pid_t pid) {
  struct stat own {
  }, other{};
  return stat("/proc/self/exe", &own) != 0 || stat(fmt::format("/proc/{}/exe", pid).c_str(), &other) != 0 ||
         (own.st_dev == other.st_dev && own.st_ino == other.st_ino);
}

}  // namespace

void OutOfSession::look(pid_t pid) {
  {
    const std::lock_guard lock(mutex_);
    if (!why_.empty()) return;
  }
  struct stat info {};
  if (is_this_program(pid) || stat(fmt::format("/proc/{}", pid).c_str(), &info) != 0) return;
  std::string why;
  if (info.st_uid != geteuid() && info.st_uid != 0) {
    why = fmt::format("runs as user {}, who may not open the session of user {}; run wic-prof as that user",
                      info.st_uid, geteuid());
  } else if (lacks_session(pid)) {
    why = fmt::format(
        "has lost {} from its environment (env -i, sudo, a login shell), so that it is not recorded; keep "
        "the variables WICPROF_*, CUDA_INJECTION64_PATH and LD_PRELOAD (sudo -E)",
        kSessionVariable);
  }
  if (why.empty()) return;
  const std::string name = executable_name_of(static_cast<std::uint32_t>(pid));
  const std::lock_guard lock(mutex_);
  if (why_.empty()) why_ = fmt::format("process {} ({}) {}", pid, name, why);
}

std::string OutOfSession::why() {
  const std::lock_guard lock(mutex_);
  return why_;
}

}  // namespace wicprof::cli
