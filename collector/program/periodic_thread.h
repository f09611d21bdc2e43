// A thread of ours that does something now and then, and whose end nobody has to wait for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace wicprof::collector {

/// Call start() and stop() once each, from any thread. Must outlive its thread: never destroy it while the thread may
/// run.
class PeriodicThread {
 public:
  /// Starts a thread that calls work() every period and answer() after every request(). The thread blocks all signals,
  /// so that the program's handlers run on the program's threads. `name`: at most 15 characters, never freed. After
  /// stop(), starts none. False: the system refused the thread.
  bool start(const char* name, std::chrono::milliseconds period, std::function<void()> work,
             std::function<void()> answer = {});

  /// Makes the thread call answer() soon. False: the thread does not run. Any thread.
  bool request();

  /// Tells the thread to end and waits up to `timeout`, since work that hangs must not block the program's exit.
  /// False: the thread has not ended.
  bool stop(std::chrono::milliseconds timeout);

 private:
  void run(const char* name);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::chrono::milliseconds period_{0};
  std::function<void()> work_, answer_;
  bool requested_ = false;
  bool stop_ = false;
  bool running_ = false;
};

}  // namespace wicprof::collector
