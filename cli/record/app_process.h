// The traced program's process: forked early, so that its pid is known, and held back until recording is ready.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/record/terminal_signals.h"
#include "protocol/result.h"

namespace wicprof::cli {

struct AppProgram {
  std::string path;
  std::vector<std::string> words;        ///< argv, the program's own name first
  std::vector<std::string> environment;  ///< "NAME=value"
  const PreviousSignals* signals;        ///< the program starts with these
  int output = -1;                       ///< file descriptor for its stdout and stderr; below 0: it inherits wic-prof's
};

struct AppEnd {
  int status = 0;               ///< as a shell reports it: the exit status, or 128 + the signal
  std::optional<int> signal{};  ///< the signal that killed it; empty = it exited
};

class AppProcess {
 public:
  /// Forks. Call while this process has only one thread. Errors: no pipe or no process to be had.
  static Result<AppProcess> hold(const AppProgram& program);
  AppProcess(AppProcess&& other) noexcept;
  AppProcess& operator=(AppProcess&&) = delete;
  /// Ends and reaps a child that was never started; a started one keeps running.
  ~AppProcess();

  pid_t pid() const { return pid_; }

  /// Starts the program. Error: the system cannot run the file.
  Result<> start();

  /// How the program ended; empty while it runs. Does not block. Call again only while it runs.
  std::optional<AppEnd> ended();

  /// Whether the program handles this signal itself instead of leaving it to the system.
  bool handles(int signal) const;

  /// Whether the terminal's signals reach the program without wic-prof: both are in one process group.
  bool shares_terminal_signals() const;

 private:
  AppProcess() = default;
  std::string path_;
  pid_t pid_ = -1;
  int go_ = -1;      // one byte written here starts the program
  int failed_ = -1;  // delivers the errno of a failed exec; a successful exec closes it
};

}  // namespace wicprof::cli
