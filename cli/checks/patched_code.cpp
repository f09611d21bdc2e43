// What `wic-prof run --rewrite` needs: a driver that takes the image that a callback puts in the place of the
// program's.
#include "cli/checks/patched_code.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "cli/checks/check.h"
#include "cli/terminal/process_setup.h"
#include "protocol/environment.h"

namespace wicprof::cli {

namespace {

constexpr unsigned kPatience = 20;  // seconds, beyond the collector's own patience with a driver

using TryDoor = int (*)(char* reason, std::size_t bytes);

}  // namespace

PatchedCode try_patched_code(const std::optional<std::string>& collector) {
  using State = PatchedCode::State;
  if (!collector) return {State::unknown, "there is no CUDA collector"};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {State::unknown, "a pipe for the attempt cannot be created"};
  const pid_t child = fork();
  if (child == 0) {
    alarm(kPatience);
    spare_home_of_another();
    unsetenv(kCudaInjectionVariable);  // another tool would have CUPTI for itself
    char reason[512] = "the collector does not load";
    int state = static_cast<int>(State::unknown);
    if (void* const loaded = dlopen(collector->c_str(), RTLD_NOW | RTLD_LOCAL); loaded != nullptr) {
      if (const auto ask = reinterpret_cast<TryDoor>(dlsym(loaded, "wicprof_try_door")); ask != nullptr) {
        state = ask(reason, sizeof reason);
      }
    }
    (void)!write(ends[1], reason, std::strlen(reason));
    _exit(state);
  }
  close(ends[1]);
  std::string reason;
  char bytes[512];
  for (ssize_t n; (n = read(ends[0], bytes, sizeof bytes)) > 0;) reason.append(bytes, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return {State::unknown, "no process could be started"};
  if (!WIFEXITED(status)) return {State::refused, "the process that asked the driver was killed"};
  return {static_cast<State>(WEXITSTATUS(status)), reason};
}

template <>
std::vector<Check> run_check<struct PatchedCodeCheck>(const Machine& machine) {
  Check check{
      "patched code", CheckState::ok, "this driver takes it: run --rewrite patches kernels that wait", {}, false};
  if (machine.patched_code.state == PatchedCode::State::unknown) {
    check.state = CheckState::not_applicable;
    check.detail = "could not be tried: " + machine.patched_code.reason;
  } else if (machine.patched_code.state == PatchedCode::State::refused) {
    check.state = CheckState::missing;
    check.detail = "run --rewrite patches nothing here: " + machine.patched_code.reason;
    check.cure =
        "use a driver of CUDA 12 or newer (580 takes patched code); until then, see waits by samples (run "
        "--trace=cuda,nvtx,pcsampling), or load the text of wic-prof rewrite FILE -o OUT from the program itself";
  }
  return {check};
}

}  // namespace wicprof::cli
