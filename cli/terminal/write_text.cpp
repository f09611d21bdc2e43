#include "cli/terminal/write_text.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace wicprof::cli {

int write_text(int fd, std::string_view text, TimeNs timeout) noexcept {
  TimeNs end = now_ns() + timeout;
  while (!text.empty()) {
    if (timeout >= 0) {
      pollfd ready{fd, POLLOUT, 0};
      const TimeNs left = std::max<TimeNs>(end - now_ns(), 0);
      const int n = poll(&ready, 1, static_cast<int>((left + kMillisecond - 1) / kMillisecond));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return errno;
      if (n == 0) return EAGAIN;
    }
    // A pipe that is ready takes PIPE_BUF bytes without blocking.
    const ssize_t n = write(fd, text.data(), timeout >= 0 ? std::min<std::size_t>(text.size(), PIPE_BUF) : text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {  // somebody made the descriptor non-blocking
      if (timeout >= 0) continue;
      pollfd ready{fd, POLLOUT, 0};
      poll(&ready, 1, -1);
      continue;
    }
    if (n < 0) return errno;
    if (n == 0) return EIO;
    text.remove_prefix(static_cast<std::size_t>(n));
    end = now_ns() + timeout;
  }
  return 0;
}

}  // namespace wicprof::cli
