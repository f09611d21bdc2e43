// How the operating system's scheduler treats the calling thread.
#pragma once

#include <sys/types.h>
#include <cstdint>

#include "protocol/time.h"

namespace wicprof::collector {

/// Context switches of the calling thread: voluntary (the thread waited) and involuntary (another thread got the CPU).
struct Switches {
  std::uint64_t voluntary = 0;
  std::uint64_t involuntary = 0;

  static Switches now();
  friend bool operator==(const Switches&, const Switches&) = default;
};

/// How long the thread has been ready to run without a CPU. One object per thread, used by that thread alone; keeps
/// /proc/thread-self/schedstat open once the thread has read it, as far as kMaxFiles allows for all threads together;
/// other threads open the file for each read.
///
/// To open that file, the system makes entries of /proc for the thread, and discards them at the thread's end. So, of a
/// program that makes a thread for each request, only the first kFirstThreads threads and one of kOneOf later ones read
/// the file from the first time on. The others begin with their read kLater.
class RunDelay {
 public:
  /// Leaves the user's process its descriptors: 1,024 are the usual limit. Not calibrated.
  static constexpr int kMaxFiles = 64;
  static constexpr std::uint32_t kFirstThreads = 256, kOneOf = 16, kLater = 8;  // not calibrated

  RunDelay() = default;
  RunDelay(const RunDelay&) = delete;
  RunDelay& operator=(const RunDelay&) = delete;
  ~RunDelay();

  /// The delay since the thread began; -1 if the system does not report it, or not yet read. `switches`: the current
  /// counts. A thread without a switch since the last call has not been delayed, so read() then skips the file.
  TimeNs read(const Switches& switches);

 private:
  /// Whether this is one of the thread's first reads, which do without the file.
  bool skips();
  bool open();
  bool still_ours() const;
  ssize_t read_file(char* text, std::size_t bytes);

  int file_ = -1;
  std::uint32_t reads_ = 0;  // up to kLater
  bool skips_first_ = false, read_before_ = false, tried_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  Switches seen_;
  TimeNs value_ = -1;
};

}  // namespace wicprof::collector
