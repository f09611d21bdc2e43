// The analysis of a large trace in a separate process, whose memory goes back to the system when it ends.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>
#include <vector>

#include "gui/source/facts.h"
#include "protocol/result.h"

namespace wicprof::gui {

/// One analysis at a time.
class Analyst {
 public:
  /// `command`: the program and its first arguments; the trace's path follows as the last one. The program writes
  /// packed facts to standard output (write_facts()).
  explicit Analyst(std::vector<std::string> command) : command_(std::move(command)) {}

  /// Blocks until the analysis ends. Error: the process did not start, or failed; its messages go to standard error.
  Result<Facts> analyse(const std::string& path);
  /// Ends a running analysis, which then fails, and all later ones. Any thread.
  void cancel();

 private:
  std::vector<std::string> command_;
  std::mutex mutex_;
  pid_t child_ = 0;  // 0 before the process is reaped, so that cancel() never signals a reused pid
  bool stop_ = false;
};

}  // namespace wicprof::gui
