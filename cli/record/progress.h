// The recording's status line, rewritten in place on a terminal.
#pragma once

#include <cstdint>

#include "protocol/control.h"
#include "protocol/time.h"
#include "store/write/recorder.h"

namespace wicprof::cli {

class ProgressLine {
 public:
  /// Shows nothing when `wanted` is false or stderr is not a terminal.
  ProgressLine(bool wanted, TimeNs start);
  ~ProgressLine();

  void show(const store::RecorderProgress& progress, WantedWait wait);
  /// Erases the line; call before printing anything else.
  void clear();

 private:
  bool on_;
  bool shown_ = false;
  TimeNs start_;
  TimeNs last_time_;
  std::uint64_t last_events_ = 0;
};

}  // namespace wicprof::cli
