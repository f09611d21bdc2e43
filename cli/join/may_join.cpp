#include "cli/join/may_join.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "protocol/process.h"

namespace wicprof::cli {

#if defined(__x86_64__)

namespace {

/// The fields of /proc/PID/status.
std::map<std::string, std::string> status_of(const std::string& process) {
  std::map<std::string, std::string> found;
  std::ifstream file(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':'), value = line.find_first_not_of(" \t", colon + 1);
    if (colon != std::string::npos) found[line.substr(0, colon)] = value == std::string::npos ? "" : line.substr(value);
  }
  return found;
}

Result<> right_to_trace(pid_t pid) {
  const int memory = open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC);
  if (memory >= 0) {
    close(memory);
    return ok();
  }
  if (errno != EACCES && errno != EPERM) return unavailable("it has ended");
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  if (scope == 3) {
    return unavailable(
        "kernel.yama.ptrace_scope is 3: nobody may trace a process of this machine until it starts anew");
  }
  if (scope != 0) {
    return unavailable(fmt::format(
        "kernel.yama.ptrace_scope is {}: {} may trace a process that runs already; in a container, give wic-prof the "
        "capability SYS_PTRACE; else run wic-prof attach as root for a program of root{}",
        scope, scope == 1 ? "only its parent" : "only root",
        scope == 1 ? ", or: sysctl kernel.yama.ptrace_scope=0" : ""));
  }
  return unavailable(
      "the system does not let you trace it: it has rights that you do not have, or does not want to be traced "
      "(prctl PR_SET_DUMPABLE), or a security module forbids that");
}

Result<> no_filter(const std::map<std::string, std::string>& status) {
  const auto field = [](const std::map<std::string, std::string>& of, const char* name) {
    const auto found = of.find(name);
    return found == of.end() ? std::string() : found->second;
  };
  const std::string mode = field(status, "Seccomp");
  if (mode.empty() || mode == "0") return ok();
  // The filters of a container hold for wic-prof in that container, too, and let a library be loaded.
  const std::map<std::string, std::string> own = status_of("self");
  if (mode == field(own, "Seccomp") && field(status, "Seccomp_filters") == field(own, "Seccomp_filters")) return ok();
  return unavailable(
      "it has filters for calls of the system (seccomp) which wic-prof does not have, and might end where the loader "
      "makes a call that they forbid");
}

/// Whether a process has its memory together with its parent, as a child has between vfork() and exec().
bool shares_memory_with_parent(pid_t pid, const std::string& parent) {
  constexpr int kMemory = 1;  // KCMP_VM
  return syscall(SYS_kcmp, pid, std::strtol(parent.c_str(), nullptr, 10), kMemory, 0, 0) == 0;
}

/// What the system says of a process, as far as a copy of it says the same.
struct Origin {
  std::string name;
  std::string stack_begin;  // where the program's first stack began: fork() copies that, and exec() chooses another
  bool ended = false;
};
Origin origin_of(const std::string& process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  std::getline(file, line);
  const std::size_t name = line.find('('), end = line.rfind(')');
  if (name == std::string::npos || end == std::string::npos) return {};
  Origin origin{line.substr(name, end - name), {}, false};
  std::istringstream fields(line.substr(end + 1));
  std::string field;
  constexpr int kState = 3, kStackBegin = 28;  // as proc(5) numbers them
  for (int i = kState; i <= kStackBegin && fields >> field; ++i) {
    if (i == kState) origin.ended = field == "Z" || field == "X";
    if (i == kStackBegin) origin.stack_begin = field;
  }
  return origin;
}

/// Whether the process finds our library under the same name, and may execute it.
Result<> sees_library(pid_t pid, const std::string& library) {
  const std::string there = fmt::format("/proc/{}/root{}", pid, library);
  struct stat ours {
  }, its{};
  if (stat(library.c_str(), &ours) != 0)
    return unavailable(fmt::format("{} is missing: install wic-prof anew", library));
  if (stat(there.c_str(), &its) != 0 || its.st_dev != ours.st_dev || its.st_ino != ours.st_ino) {
    return unavailable(
        fmt::format("it has another root, in which {} is {}; mount wic-prof's folder there under the same path",
                    library, stat(there.c_str(), &its) != 0 ? "missing" : "another file"));
  }
  struct statvfs system {};
  if (statvfs(there.c_str(), &system) == 0 && (system.f_flag & ST_NOEXEC) != 0)
    return unavailable(
        fmt::format("{} lies on a file system that is mounted noexec; install wic-prof elsewhere", library));
  return ok();
}

}  // namespace

bool makes_children(pid_t pid) {
  constexpr int kLooks = 60;
  const std::string process = std::to_string(pid);
  const Origin own = origin_of(process);
  const auto is_copy = [&](const std::string& child) {
    const Origin of = origin_of(child);
    return of.ended ? of.name == own.name : !of.stack_begin.empty() && of.stack_begin == own.stack_begin;
  };
  for (int i = 0; i < kLooks; ++i) {
    std::vector<std::string> children;
    std::error_code error;
    for (const auto& thread : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), error)) {
      std::ifstream list(thread.path() / "children");
      for (std::string child; list >> child;) children.push_back(child);
    }
    if (std::any_of(children.begin(), children.end(), is_copy)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

Result<> may_join(pid_t pid, const std::string& library) {
  const std::map<std::string, std::string> status = status_of(std::to_string(pid));
  const auto field = [&](const char* name) {
    const auto found = status.find(name);
    return found == status.end() ? std::string() : found->second;
  };
  if (status.empty()) return unavailable("it has ended");
  if (const std::string tracer = field("TracerPid"); tracer != "0") {
    const auto number = static_cast<std::uint32_t>(std::strtoul(tracer.c_str(), nullptr, 10));
    return unavailable(fmt::format("process {} ({}) traces it already, such as a debugger does; end that first", tracer,
                                   executable_name_of(number)));
  }
  if (const std::string state = field("State"); state.starts_with('T'))
    return unavailable("it is stopped; let it go on first (kill -CONT)");
  if (const Result<> right = right_to_trace(pid); !right) return right;
  Elf64_Ehdr header{};
  std::ifstream(fmt::format("/proc/{}/exe", pid), std::ios::binary)
      .read(reinterpret_cast<char*>(&header), sizeof header);
  if (header.e_ident[EI_CLASS] == ELFCLASS32) return unavailable("it is a 32-bit program");
  if (const Result<> filter = no_filter(status); !filter) return filter;
  if (field("x86_Thread_features").find("shstk") != std::string::npos)
    return unavailable("it has a shadow stack, which allows no calls from outside");
  if (shares_memory_with_parent(pid, field("PPid")))
    return unavailable("it has not started its own program yet (vfork)");
  if (const Result<> sees = sees_library(pid, library); !sees) return sees;
  return ok();
}

#else

Result<> may_join(pid_t, const std::string&) { return unavailable("wic-prof can do that on x86-64 alone"); }

#endif

}  // namespace wicprof::cli
