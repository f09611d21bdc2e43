// The kernels that the program has launched and whose end is not known, in the session's table
// (protocol/open_work.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "protocol/open_work.h"

namespace wicprof::collector {

/// Any thread. CUPTI reports the end of a kernel late: with its buffer, which a kernel that runs on may hold back. The
/// end of a wait for a stream or a device is known at once.
class OpenKernels {
 public:
  /// Whether a launch has been seen: else a wait's end says nothing here.
  bool any() const { return any_.load(std::memory_order_relaxed); }

  /// `work`: the session's; nullptr: none, and nothing is kept.
  void attach(OpenWork* work);
  /// Gives all entries back: the session's memory is about to go.
  void detach();
  void launched(const OpenKernel& kernel);
  /// The kernel of that launch has ended at that time.
  void ended(std::uint32_t correlation, TimeNs at) {
    if (any() && at != 0 && at <= now_ns()) end(correlation);
  }
  /// All kernels of the stream that were launched before that time have ended; `all`: of every stream of the context,
  /// or, without a context, of the process.
  void waited(std::uint64_t stream, std::uint64_t context, bool all, TimeNs before);

 private:
  struct Open {
    OpenEntry<OpenKernel>* entry = nullptr;
    std::uint64_t stream = 0, context = 0;
    TimeNs launched = 0;
  };
  void end(std::uint32_t correlation);

  std::atomic<bool> any_{false};
  std::mutex mutex_;
  OpenWork* work_ = nullptr;
  std::unordered_map<std::uint32_t, Open> by_correlation_;
};

}  // namespace wicprof::collector
