#include "cli/terminal/process_setup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
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

void spare_home_of_another() noexcept {
  const char* const home = std::getenv("HOME");
  struct stat info {};
  if (geteuid() != 0 || home == nullptr || stat(home, &info) != 0 || info.st_uid == 0) return;
  setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);
  setenv("__GL_SHADER_DISK_CACHE", "0", 1);
  setenv("CUDA_CACHE_DISABLE", "1", 1);
}

}  // namespace wicprof::cli
