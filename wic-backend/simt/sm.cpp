#include "simt/sm.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace wic::simt {

Sm::Sm(std::uint32_t index, const Clock& clock, std::function<void(Sm&, const LaunchedKernel*)> ended)
    : index_(index), clock_(clock), ended_(std::move(ended)), thread_([this] { run(); }) {}

Sm::~Sm() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Sm::place(std::shared_ptr<const LaunchedKernel> kernel, std::uint32_t block) {
  {
    const std::lock_guard lock(mutex_);
    inbox_.push_back({std::move(kernel), block});
  }
  changed_.notify_one();
}

// Makes arrived blocks resident. With nothing to run, sleeps until a block arrives or a thread wakes.
bool Sm::admit_blocks(bool idle, std::uint64_t next_wake) {
  std::unique_lock lock(mutex_);
  if (idle) {
    const auto has_work = [this] { return stop_ || !inbox_.empty(); };
    if (next_wake == std::numeric_limits<std::uint64_t>::max()) {
      changed_.wait(lock, has_work);
    } else if (const std::uint64_t now = clock_.now_ns(); next_wake > now) {
      changed_.wait_for(lock, std::chrono::nanoseconds(next_wake - now), has_work);
    }
  }
  for (Placed& placed : inbox_) {
    resident_.push_back(std::make_unique<Block>(std::move(placed.kernel), placed.block, index_, clock_, stacks_));
  }
  inbox_.clear();
  return !(stop_ && resident_.empty());
}

void Sm::run() {
  bool idle = true;
  std::uint64_t next_wake = std::numeric_limits<std::uint64_t>::max();
  while (admit_blocks(idle, next_wake)) {
    const std::uint64_t now = clock_.now_ns();
    std::uint32_t turns = 0;
    for (std::size_t i = 0; i < resident_.size();) {
      Block& block = *resident_[i];
      for (std::uint32_t warp = 0; warp < block.warp_count(); ++warp) turns += block.run_warp(warp, now);
      if (block.done()) {
        const std::shared_ptr<const LaunchedKernel> kernel = block.kernel();
        block.release_dependents();
        resident_.erase(resident_.begin() + static_cast<std::ptrdiff_t>(i));
        ended_(*this, kernel.get());
      } else {
        ++i;
      }
    }
    idle = turns == 0;
    next_wake = std::numeric_limits<std::uint64_t>::max();
    if (idle) {
      for (const auto& block : resident_) next_wake = std::min(next_wake, block->next_wake());
    }
  }
}

}  // namespace wic::simt
