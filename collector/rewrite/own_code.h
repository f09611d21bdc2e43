// While our own calls of the driver load or start code of ours: their callbacks are not the program's.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <optional>

#include "collector/rewrite/rewrite_driver.h"
#include "collector/waits/own_calls.h"

namespace wicprof::collector {

/// For the object's lifetime the calling thread's calls are ours. Objects may be nested.
class OwnCode {
 public:
  explicit OwnCode(const RewriteDriver& driver) {
    if (driver.own_calls != nullptr)
      recorded_.emplace(*driver.own_calls, static_cast<std::uint32_t>(syscall(SYS_gettid)));
    ++depth_;
  }
  ~OwnCode() { --depth_; }
  OwnCode(const OwnCode&) = delete;
  OwnCode& operator=(const OwnCode&) = delete;

  static bool runs() { return depth_ != 0; }

 private:
  static inline thread_local int depth_ = 0;
  std::optional<OwnCalls::Span> recorded_;
};

}  // namespace wicprof::collector
