// How wic-prof ends while a thread of it waits for a disk that does not answer.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <mutex>
#include <string>

namespace wicprof::cli {

/// Gives up the trace, but neither the program's exit status nor the session's files. What it has to know is set as the
/// run gets there. Any thread.
class LastWay {
 public:
  explicit LastWay(bool leaves_program) : leaves_program_(leaves_program) {}

  void session(const std::string& path);
  void trace(const std::string& path);
  /// The program runs as this child from now on.
  void started(pid_t app);
  /// The exit status of wic-prof from now on.
  void ended(int status) { status_.store(status); }

  /// Says that the trace may be given up.
  void warn();
  /// Ends the program, if it still runs, as the signal asks; then this process.
  [[noreturn]] void take(int signal);

 private:
  int end_program(int signal);

  const bool leaves_program_;  // --kill none
  std::mutex mutex_;           // guards the paths
  std::string session_, trace_;
  std::atomic<pid_t> app_{0};
  std::atomic<int> status_{kUnknown};
  static constexpr int kUnknown = -1;
};

}  // namespace wicprof::cli
