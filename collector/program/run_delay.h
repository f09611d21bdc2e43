// What the operating system's scheduler does with the calling thread.
#pragma once

#include <sys/types.h>
#include <cstdint>

#include "protocol/time.h"

namespace wicprof::collector {

/// How often the calling thread has left its CPU: because it wanted to wait, and because somebody else got the CPU.
struct Switches {
  std::uint64_t voluntary = 0;
  std::uint64_t involuntary = 0;

  static Switches now();
  friend bool operator==(const Switches&, const Switches&) = default;
};

/// How long the thread has been ready to run, but on no CPU. One a thread, which alone may use it: holds
/// /proc/thread-self/schedstat open from the first reading on.
class RunDelay {
 public:
  RunDelay() = default;
  RunDelay(const RunDelay&) = delete;
  RunDelay& operator=(const RunDelay&) = delete;
  ~RunDelay();

  /// Since the thread began; -1 where the system does not say. `switches` as of now: a thread that has not left its CPU
  /// since the last reading has not been delayed, and the file is not read again.
  TimeNs read(const Switches& switches);

 private:
  bool open();
  bool still_ours() const;

  int file_ = -1;
  bool tried_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  Switches seen_;
  TimeNs value_ = -1;
};

}  // namespace wicprof::collector
