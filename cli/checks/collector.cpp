// The library that CUDA loads into the program, and whether it loads.
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "cli/checks/check.h"
#include "protocol/environment.h"

namespace wicprof::cli {

namespace {

// Loads the library in a child process, so that a library that crashes does not crash doctor.
Check injection_check(const std::string& library) {
  Check check{"injection", CheckState::ok, "the collector loads into a program", {}, false};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return {"injection", CheckState::not_applicable, "cannot create a pipe for the attempt", {}, false};
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const char* reason = nullptr;
    void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) {
      reason = dlerror();
    } else if (dlsym(loaded, "InitializeInjection") == nullptr) {
      reason = "it has no InitializeInjection";
    }
    if (reason != nullptr) (void)!write(ends[1], reason, std::strlen(reason));
    _exit(reason == nullptr ? 0 : 1);
  }
  close(ends[1]);
  std::string reason;
  char bytes[512];
  for (ssize_t n; (n = read(ends[0], bytes, sizeof bytes)) > 0;) reason.append(bytes, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return check;
  check.state = CheckState::missing;
  check.detail = fmt::format("{} does not load: {}", library,
                             reason.empty() ? "the process that tried to load it was killed" : reason);
  check.cure = "install or build wic-prof again for this system";
  return check;
}

}  // namespace

template <>
std::vector<Check> run_check<struct Collector>(const Machine& machine) {
  if (!machine.collector) {
    return {{"CUDA collector", CheckState::missing, fmt::format("no ../lib/{} beside wic-prof", kInjectionLibrary),
             "build with a CUDA toolkit: make, with nvcc on PATH or in /usr/local/cuda", false}};
  }
  return {{"CUDA collector", CheckState::ok, *machine.collector, {}, false}, injection_check(*machine.collector)};
}

}  // namespace wicprof::cli
