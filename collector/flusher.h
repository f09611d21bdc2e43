// A thread that flushes CUPTI periodically and reads the delivered buffers. CUPTI's own periodic flush delivers full
// buffers only; a live view, and a program that ends by _exit or a signal, need partly filled buffers too.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace wicprof::collector {

/// Call start() and stop() once each, from any thread. Must outlive its thread: never destroy it while the thread may
/// run.
class Flusher {
 public:
  /// Starts a thread that calls flush() every period and read() after every request_read(). The thread blocks all
  /// signals, so that the program's handlers run on the program's threads. After stop(), starts none. False: the system
  /// refused the thread.
  bool start(std::chrono::milliseconds period, std::function<void()> flush, std::function<void()> read);

  /// Makes the thread call read() soon. False: the thread does not run. Any thread.
  bool request_read();

  /// Tells the thread to end and waits up to `timeout`, since a hanging flush must not block the program's exit.
  /// False: the thread has not ended.
  bool stop(std::chrono::milliseconds timeout);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::chrono::milliseconds period_{0};
  std::function<void()> flush_;
  std::function<void()> read_;
  bool read_requested_ = false;
  bool stop_ = false;
  bool running_ = false;
};

}  // namespace wicprof::collector
