#include "collector/program/run_delay.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace wicprof::collector {

namespace {

constexpr const char* kPath = "/proc/thread-self/schedstat";

std::atomic<int> open_files{0};             // of all threads
std::atomic<std::uint32_t> all_threads{0};  // that have asked

/// How many descriptors the process's table has room for; 0: unknown. The kernel enlarges the table when a higher
/// number is asked for, and a call that does so in a program of several threads waits for all CPUs (RCU): for
/// milliseconds.
int size_of_table() {
  char text[512];  // the line stands before those of many words
  const int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t bytes = ::read(file, text, sizeof text - 1);
  close(file);
  text[std::max<ssize_t>(bytes, 0)] = '\0';
  const char* const line = std::strstr(text, "\nFDSize:");
  return line == nullptr ? 0 : std::atoi(line + std::strlen("\nFDSize:"));
}

/// The lowest descriptor to use, which leaves low numbers to programs that expect them, and how many there may be,
/// which leaves half of the numbers above.
struct Descriptors {
  int lowest = 0, most = 0;

  static const Descriptors& of_process() {
    static const Descriptors those = [] {
      const int size = size_of_table();
      return Descriptors{size / 2, std::min(size / 4, RunDelay::kMaxFiles)};
    }();
    return those;
  }
};

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
  const Descriptors& descriptors = Descriptors::of_process();
  if (open_files.fetch_add(1, std::memory_order_relaxed) < descriptors.most) {
    if (const int low = ::open(kPath, O_RDONLY | O_CLOEXEC); low >= 0) {
      file_ = fcntl(low, F_DUPFD_CLOEXEC, descriptors.lowest);
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

bool RunDelay::skips() {
  if (reads_ == kLater) return false;
  if (reads_++ == 0) {
    const std::uint32_t before = all_threads.fetch_add(1, std::memory_order_relaxed);
    skips_first_ = before >= kFirstThreads && before % kOneOf != 0;
  }
  return skips_first_ && reads_ < kLater;
}

TimeNs RunDelay::read(const Switches& switches) {
  if (skips()) return -1;
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
