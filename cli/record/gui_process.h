// The window beside a run: a process of its own, so that neither takes the other with it.
#pragma once

#include <sys/types.h>

#include <string>

#include "protocol/result.h"

namespace wicprof::cli {

class GuiProcess {
 public:
  /// Starts this wic-prof's `gui --session NAME`. Error: it cannot be started.
  static Result<GuiProcess> start(const std::string& session, const std::string& script);
  GuiProcess(GuiProcess&& other) noexcept : pid_(other.pid_) { other.pid_ = 0; }
  GuiProcess& operator=(GuiProcess&&) = delete;
  ~GuiProcess() = default;

  /// Until the user has closed it.
  void wait();

 private:
  explicit GuiProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_ = 0;
};

}  // namespace wicprof::cli
