// The process that is recorded, whoever has started it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "protocol/result.h"

namespace wicprof::cli {

struct AppEnd {
  int status = 0;               ///< as a shell reports it: the exit status, or 128 + the signal; 0 where nobody knows
  std::optional<int> signal{};  ///< the signal that killed it; empty = it exited
};

class RecordedProcess {
 public:
  virtual ~RecordedProcess() = default;

  virtual pid_t pid() const = 0;

  /// From now on it is recorded. Error: it is not, and runs as before, or not at all.
  virtual Result<> start() = 0;

  /// How the program ended; empty while it runs. Does not block. Call again only while it runs.
  virtual std::optional<AppEnd> ended() = 0;

  /// Whether it goes on, and is not recorded any more.
  virtual bool has_left() const { return false; }

  /// Ends the recording of a program that goes on. Returns why it may last longer; empty: it has ended.
  virtual std::string leave() { return {}; }

  /// Whether the program handles this signal itself instead of leaving it to the system.
  bool handles(int signal) const;

  /// Whether the terminal's signals reach the program without wic-prof: both are in one process group.
  bool shares_terminal_signals() const;
};

}  // namespace wicprof::cli
