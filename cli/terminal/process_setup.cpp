#include "cli/terminal/process_setup.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>

#include "protocol/mapping_guard.h"

namespace wicprof::cli {

namespace {

struct Changed {
  int number;
  void (*action)(int);
  struct sigaction previous;
  bool changed;
};
Changed file_size{SIGXFSZ, SIG_IGN, {}, false};
Changed of_terminal[] = {
    {SIGPIPE, SIG_IGN, {}, false},  // a closed pipe on stdout or stderr
    {SIGTTOU, SIG_IGN, {}, false},  // the program has taken the foreground
    {SIGCHLD, SIG_DFL, {}, false},  // an inherited SIG_IGN would discard the program's exit status
};

void change(Changed& signal) noexcept {
  if (signal.changed) return;
  struct sigaction action {};
  action.sa_handler = signal.action;
  signal.changed = sigaction(signal.number, &action, &signal.previous) == 0;
}

void restore(const Changed& signal) noexcept {
  if (signal.changed) sigaction(signal.number, &signal.previous, nullptr);
}

/// A signal that the C library keeps for itself: its functions refuse the number, and its first thread takes it.
struct LibrarysSignal {
  struct Action {  // the kernel's layout
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)();
    unsigned long mask;
  };
  int number;
  bool ignored;

  void look() noexcept {
    Action now{};
    ignored = syscall(SYS_rt_sigaction, number, nullptr, &now, sizeof now.mask) == 0 && now.handler == SIG_IGN;
  }
  void restore() const noexcept {
    const Action ignore{SIG_IGN, 0, nullptr, 0};
    if (ignored) syscall(SYS_rt_sigaction, number, &ignore, nullptr, sizeof ignore.mask);
  }
};
LibrarysSignal of_library[] = {{32, false}, {33, false}};

void use_small_stacks() noexcept {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  constexpr std::size_t kBytes = std::size_t{2} << 20;
  std::size_t usual = 0;
  if (pthread_attr_getstacksize(&attributes, &usual) == 0 && usual > kBytes &&
      pthread_attr_setstacksize(&attributes, kBytes) == 0) {
    pthread_setattr_default_np(&attributes);
  }
  pthread_attr_destroy(&attributes);
}

}  // namespace

void prepare_process() noexcept {
  // The lowest free number is the closed stream's. Opened the wrong way round, so that using it is still an error.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      (void)!open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
    }
  }
  change(file_size);
}

void prepare_for_programs() noexcept {
  for (LibrarysSignal& signal : of_library) signal.look();
  for (Changed& signal : of_terminal) change(signal);
  use_small_stacks();
}

void restore_process() noexcept {
  restore(file_size);
  for (const Changed& signal : of_terminal) restore(signal);
  for (const LibrarysSignal& signal : of_library) signal.restore();
  restore_bus_errors();
}

void spare_home_of_another() noexcept {
  const char* const home = std::getenv("HOME");
  struct stat info {};
  if (geteuid() != 0 || home == nullptr || stat(home, &info) != 0 || info.st_uid == 0) return;
  setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
  setenv("__GL_SHADER_DISK_CACHE", "0", 1);
  setenv("CUDA_CACHE_DISABLE", "1", 1);
}

}  // namespace wicprof::cli
