// Work of ours on another thread, in the calling thread's context.
#pragma once

#include <functional>
#include <thread>

#include "collector/rewrite/own_code.h"
#include "collector/rewrite/rewrite_driver.h"

namespace wicprof::collector {

/// Runs `work` on a thread of its own; the destructor waits for its end. Without work there is no thread.
class InContext {
 public:
  InContext(const RewriteDriver& driver, std::function<void()> work) {
    if (!work) return;
    CUcontext current = nullptr;
    driver.current_context(&current);
    thread_ = std::thread([&driver, current, work = std::move(work)] {
      const OwnCode own;
      const bool pushed = current != nullptr && driver.push_context(current) == CUDA_SUCCESS;
      work();
      CUcontext popped = nullptr;
      if (pushed) driver.pop_context(&popped);
    });
  }
  ~InContext() { join(); }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

}  // namespace wicprof::collector
