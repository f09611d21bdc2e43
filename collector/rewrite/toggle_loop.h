// The thread that brings patched loops to what the session wants, reports each change, and reads the waits that the
// loops record.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "collector/rewrite/patched_modules.h"
#include "protocol/control.h"
#include "protocol/event_sink.h"

namespace wicprof::collector {

class ToggleLoop {
 public:
  /// `control`: the session's; nullptr: nothing is ever wanted. `modules` must outlive it.
  ToggleLoop(ControlBlock* control, PatchedModules& modules) : control_(control), modules_(modules) {}
  ~ToggleLoop() { stop(); }
  ToggleLoop(const ToggleLoop&) = delete;
  ToggleLoop& operator=(const ToggleLoop&) = delete;

  /// Joins the session as a runtime and starts the thread; once. Not within cuInit().
  void begin(const RewriteDriver& driver, EventSink& sink);
  void stop();

 private:
  void run(std::uint32_t sequence);
  void follow(std::uint32_t sequence);
  void report(std::uint32_t old_word, std::uint32_t new_word, std::uint32_t sequence);

  ControlBlock* control_;
  PatchedModules& modules_;
  const RewriteDriver* driver_ = nullptr;
  EventSink* sink_ = nullptr;
  std::uint32_t program_ = WantedWait::kNothing;  // what the session wanted last of the whole program
  RuntimeControl* place_ = nullptr;
  std::mutex mutex_;
  bool begun_ = false;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace wicprof::collector
