// The analysis of a large trace, in a process of its own: its memory is gone when it is done.
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
  /// `command`: the program that does it and its first words; the trace's path comes behind them. It writes packed
  /// facts to its standard output (write_facts()).
  explicit Analyst(std::vector<std::string> command) : command_(std::move(command)) {}

  /// Returns when it is done. Error: it could not be started, or failed; what it said went to standard error.
  Result<Facts> analyse(const std::string& path);
  /// Any thread: an analysis that goes on ends now, as failed.
  void give_up();

 private:
  std::vector<std::string> command_;
  std::mutex mutex_;
  pid_t child_ = 0;  // while it may be sent a signal: it is not reaped before this is 0
  bool stop_ = false;
};

}  // namespace wicprof::gui
