// The program that shows the window, wic-prof-gui: a separate process, so that the recorder needs no graphics
// libraries and a crash of either process does not end the other.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "protocol/result.h"

namespace wicprof::cli {

/// Whether a window can be opened. Errors: wic-prof-gui is not installed; a library is missing; no display.
Result<> can_open_window();

/// Replaces this process by wic-prof-gui with `words` as its arguments; returns only on an error: the program is not
/// installed, or a library is missing.
Result<> become_window(const std::vector<std::string>& words);

/// The window beside a run.
class WindowProcess {
 public:
  /// Starts `wic-prof-gui --session NAME`, with `--drive script` unless `script` is empty. Error: it cannot be started.
  static Result<WindowProcess> start(const std::string& session, const std::string& script);
  WindowProcess(WindowProcess&& other) noexcept : pid_(other.pid_) { other.pid_ = 0; }
  WindowProcess& operator=(WindowProcess&&) = delete;
  ~WindowProcess() = default;

  pid_t pid() const { return pid_; }

  /// Returns when the user has closed the window.
  void wait();

 private:
  explicit WindowProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_ = 0;
};

}  // namespace wicprof::cli
