// Notices that a producer is gone: a process has ended, or a device has failed. Processes by events (pidfd); devices
// are queried every 20 ms, and only if a site names one.
#pragma once

#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "wic/device.h"

namespace wic {

class ProducerWatch {
 public:
  /// `ask_devices` looks for failed devices and acts on them; it returns whether to call it again.
  explicit ProducerWatch(std::function<bool()> ask_devices);
  ProducerWatch(const ProducerWatch&) = delete;
  ~ProducerWatch();

  /// Calls `ended` on the watch's thread once the process has ended. Error: no such process. Any thread.
  Result<> add_process(int pid, std::function<void()> ended);
  /// Starts the calls of ask_devices. Any thread.
  void start_asking();

 private:
  struct Process {
    int fd;
    std::function<void()> ended;
  };
  void run();
  void wake();
  void start();

  std::function<bool()> ask_devices_;
  std::mutex mutex_;
  std::vector<Process> processes_;
  bool asking_ = false;
  bool stop_ = false;
  int wake_fd_ = -1;
  std::thread thread_;
};

}  // namespace wic
