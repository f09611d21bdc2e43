// Runs independent tasks on all cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <thread>
#include <utility>
#include <vector>

namespace wicprof::analyzer {

class Tasks {
 public:
  /// Tasks must not write to shared data. They start in the order of add(); add the longest first.
  void add(std::function<void()> task) { tasks_.push_back(std::move(task)); }

  /// Returns when all tasks are done; rethrows an exception of a task.
  void run() {
    std::atomic<std::size_t> next = 0;
    const auto help = [&] {
      for (std::size_t i = next++; i < tasks_.size(); i = next++) tasks_[i]();
    };
    const std::size_t threads = std::min<std::size_t>(std::max(1u, std::thread::hardware_concurrency()), tasks_.size());
    std::vector<std::future<void>> helpers;
    // Deferred where the system refuses a thread: then nothing is left for it to do.
    for (std::size_t i = 1; i < threads; ++i) {
      helpers.push_back(std::async(std::launch::async | std::launch::deferred, help));
    }
    help();
    for (std::future<void>& helper : helpers) helper.get();
    tasks_.clear();
  }

 private:
  std::vector<std::function<void()>> tasks_;
};

}  // namespace wicprof::analyzer
