// One SM of the CPU device: an OS thread that gives the warps of its resident blocks turns, round robin.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "simt/block.h"

namespace wic::simt {

class Sm {
 public:
  static constexpr std::uint32_t kMaxThreads = 2048;
  static constexpr std::uint32_t kMaxBlocks = 32;

  /// Calls `ended` on the SM's thread after each block.
  Sm(std::uint32_t index, const Clock& clock, std::function<void(Sm&, const LaunchedKernel*)> ended);
  ~Sm();  ///< no block may be resident

  /// Any thread. The caller ensures that the block fits.
  void place(std::shared_ptr<const LaunchedKernel> kernel, std::uint32_t block);

 private:
  struct Placed {
    std::shared_ptr<const LaunchedKernel> kernel;
    std::uint32_t block;
  };
  void run();
  bool admit_blocks(bool idle, std::uint64_t next_wake);

  const std::uint32_t index_;
  const Clock& clock_;
  const std::function<void(Sm&, const LaunchedKernel*)> ended_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Placed> inbox_;
  bool stop_ = false;
  // Only for the SM's own thread:
  StackPool stacks_;
  std::vector<std::unique_ptr<Block>> resident_;
  std::thread thread_;
};

}  // namespace wic::simt
