#include "cli/terminal/process_setup.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>

namespace wicprof::cli {

namespace {
struct sigaction previous_file_size_action {};
}  // namespace

void prepare_process() noexcept {
  // The lowest free number is the closed stream's. Opened the wrong way round, so that using it is still an error.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      (void)!open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
    }
  }
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &previous_file_size_action);
}

void restore_process() noexcept { sigaction(SIGXFSZ, &previous_file_size_action, nullptr); }

}  // namespace wicprof::cli
