#include "collector/program/run_delay.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace wicprof::collector {

namespace {

// Lowest file descriptor to use: keeps low numbers free for programs that expect them or that use select().
constexpr int kLowestFile = 256;

}  // namespace

Switches Switches::now() {
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return {};
  return {static_cast<std::uint64_t>(usage.ru_nvcsw), static_cast<std::uint64_t>(usage.ru_nivcsw)};
}

RunDelay::~RunDelay() {
  if (file_ >= 0 && still_ours()) close(file_);
  // The thread's last callbacks may read these members after destruction. Without volatile, the compiler removes the
  // stores.
  *const_cast<volatile int*>(&file_) = -1;
  *const_cast<volatile bool*>(&tried_) = true;
}

bool RunDelay::open() {
  if (tried_) return file_ >= 0;
  tried_ = true;
  const int low = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (low < 0) return false;
  file_ = fcntl(low, F_DUPFD_CLOEXEC, kLowestFile);
  close(low);
  struct stat status {};
  if (file_ < 0 || fstat(file_, &status) != 0) return false;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return true;
}

// A program may close descriptors that it did not open, and the number may then name one of its own files.
bool RunDelay::still_ours() const {
  struct stat status {};
  return fstat(file_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

TimeNs RunDelay::read(const Switches& switches) {
  if (tried_ && switches == seen_) return value_;
  seen_ = switches;
  value_ = -1;
  char text[96];
  if (!open()) return -1;
  const ssize_t bytes = pread(file_, text, sizeof text - 1, 0);
  if (bytes <= 0) return -1;
  text[bytes] = '\0';
  char* end = nullptr;
  std::strtoull(text, &end, 10);  // skips the first number, the time on a CPU
  const char* delay = end;
  const unsigned long long value = std::strtoull(delay, &end, 10);
  if (end != delay) value_ = static_cast<TimeNs>(value);
  return value_;
}

}  // namespace wicprof::collector
