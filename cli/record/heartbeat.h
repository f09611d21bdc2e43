// Tells the program that its recorder lives: without it, the program waits in its own way again.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "protocol/control.h"

namespace wicprof::cli {

/// Beats from its construction to its destruction, on a thread that does nothing else: the others may wait for a disk.
class Heartbeat {
 public:
  explicit Heartbeat(ControlBlock& control);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void beat();

  ControlBlock& control_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace wicprof::cli
