#include "collector/program/run_delay.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <utility>

namespace wicprof::collector {

namespace {

// Lowest file descriptor to use: keeps low numbers free for programs that expect them or that use select().
constexpr int kLowestFile = 256;

constexpr const char* kPath = "/proc/thread-self/schedstat";

std::atomic<int> open_files{0};  // of all threads

}  // namespace

Switches Switches::now() {
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return {};
  return {static_cast<std::uint64_t>(usage.ru_nvcsw), static_cast<std::uint64_t>(usage.ru_nivcsw)};
}

RunDelay::~RunDelay() {
  if (file_ >= 0) {
    if (still_ours()) close(file_);
    open_files.fetch_sub(1, std::memory_order_relaxed);
  }
  // The thread's last callbacks may read these members after destruction. Without volatile, the compiler removes the
  // stores.
  *const_cast<volatile int*>(&file_) = -1;
  *const_cast<volatile bool*>(&tried_) = true;
}

bool RunDelay::open() {
  if (tried_) return file_ >= 0;
  tried_ = true;
  if (open_files.fetch_add(1, std::memory_order_relaxed) < kMaxFiles) {
    if (const int low = ::open(kPath, O_RDONLY | O_CLOEXEC); low >= 0) {
      file_ = fcntl(low, F_DUPFD_CLOEXEC, kLowestFile);
      close(low);
    }
  }
  if (file_ < 0) {
    open_files.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  struct stat status {};
  if (fstat(file_, &status) != 0) return false;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  return true;
}

// A program may close descriptors that it did not open, and the number may then name one of its own files.
bool RunDelay::still_ours() const {
  struct stat status {};
  return fstat(file_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

ssize_t RunDelay::read_file(char* text, std::size_t bytes) {
  // Most threads of a program that makes one for each request read once.
  if (std::exchange(read_before_, true) && open()) return pread(file_, text, bytes, 0);
  const int file = ::open(kPath, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t read = ::read(file, text, bytes);
  close(file);
  return read;
}

TimeNs RunDelay::read(const Switches& switches) {
  if (read_before_ && switches == seen_) return value_;
  seen_ = switches;
  value_ = -1;
  char text[96];
  const ssize_t bytes = read_file(text, sizeof text - 1);
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
