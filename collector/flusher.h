// A thread that asks CUPTI again and again for what is complete, and reads the buffers that are. CUPTI's own period
// hands over full buffers only; a live view, and a program that ends by _exit or a signal, need the half-full ones too.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

namespace wicprof::collector {

/// start() and stop() from any thread, once each. Outlives its thread: never destroyed while that may run.
class Flusher {
 public:
  /// Calls flush() every period, and read() after every poke. The thread blocks all signals: the program's handlers run
  /// on the program's threads.
  bool start(std::chrono::milliseconds period, std::function<void()> flush, std::function<void()> read);

  /// There is something to read. False: nobody will, since the thread does not run. Any thread.
  bool poke();

  /// Asks the thread to end and waits for it up to `patience`; a flush that hangs must not hang the program's exit.
  /// False: the thread has not ended.
  bool stop(std::chrono::milliseconds patience);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::chrono::milliseconds period_{0};
  std::function<void()> flush_;
  std::function<void()> read_;
  bool poked_ = false;
  bool stop_ = false;
  bool running_ = false;
};

}  // namespace wicprof::collector
