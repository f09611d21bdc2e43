// The traced program's process: forked early, so that its pid is known, and held back until recording is ready.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "cli/record/recorded_process.h"
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

class AppProcess final : public RecordedProcess {
 public:
  /// Forks. Call while this process has only one thread. Errors: no pipe or no process to be had.
  static Result<AppProcess> hold(const AppProgram& program);
  AppProcess(AppProcess&& other) noexcept;
  AppProcess& operator=(AppProcess&&) = delete;
  /// Ends and reaps a child that was never started; a started one keeps running.
  ~AppProcess() override;

  pid_t pid() const override { return pid_; }

  /// Starts the program. Error: the system cannot run the file.
  Result<> start() override;

  std::optional<AppEnd> ended() override;

 private:
  AppProcess() = default;
  std::string path_;
  pid_t pid_ = -1;
  int go_ = -1;      // one byte written here starts the program
  int failed_ = -1;  // delivers the errno of a failed exec; a successful exec closes it
};

}  // namespace wicprof::cli
