// The traced program's process: forked early, so that its pid is known, and held back until everything is ready for it.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "protocol/result.h"

namespace wicprof::cli {

struct AppProgram {
  std::string path;
  std::vector<std::string> words;        ///< argv, the program's own name first
  std::vector<std::string> environment;  ///< "NAME=value"
  sigset_t signal_mask;                  ///< the one that the program shall start with
  int output = -1;                       ///< becomes its stdout and stderr; below 0: it keeps wic-prof's
};

struct AppEnd {
  int status = 0;               ///< as a shell says it: the exit status, or 128 + the signal
  std::optional<int> signal{};  ///< which signal killed it, if one did
};

class AppProcess {
 public:
  /// Forks. Call while this process has one thread.
  static Result<AppProcess> hold(const AppProgram& program);
  AppProcess(AppProcess&& other) noexcept;
  AppProcess& operator=(AppProcess&&) = delete;
  /// A program that was never started is let go without a trace; a started one is left alone.
  ~AppProcess();

  pid_t pid() const { return pid_; }

  /// Lets the program start. Error: the system cannot run that file.
  Result<> start();

  /// How it ended, once it has; does not wait.
  std::optional<AppEnd> ended();

 private:
  AppProcess() = default;
  std::string path_;
  pid_t pid_ = -1;
  int go_ = -1;      // one byte written here starts the program
  int failed_ = -1;  // the errno of a failed exec comes out here; closed by a successful one
};

}  // namespace wicprof::cli
