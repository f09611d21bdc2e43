// A thread block of the CPU device: threads as fibers, barriers, shared memory. One OS thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "simt/fiber.h"
#include "wic/device.h"
#include "wic/simt_hooks.h"

namespace wic::simt {

/// A device's clock, which also times its sleeps.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::uint64_t now_ns() const = 0;
};

/// Decides where threads give up their turn. Without a rule, as on the real CPU device: before every access.
class AccessRule {
 public:
  virtual ~AccessRule() = default;
  virtual bool ends_turn(Access access, const void* at) = 0;
  virtual void will_access(Access access,
                           const void* at) = 0;  ///< the thread has its turn again, and makes the access next
};

struct LaunchedKernel {
  LaunchShape shape;
  void (*entry)(const void* kernel, const Thread& thread);
  std::vector<std::byte> kernel;  ///< the function object's bytes
  // For the stream; any of them may be empty. Any thread calls them.
  std::function<void()> block_released;  ///< a block no longer holds up a dependent kernel: once per block
  std::function<void()> block_ended;
  std::function<bool()> earlier_ended;  ///< whether the kernels before a dependent one have ended

  LaunchedKernel(const LaunchShape& launch_shape, const KernelRef& ref);
};

class Block {
 public:
  enum class State : std::uint8_t { ready, sleeping, at_barrier, done };

  Block(std::shared_ptr<const LaunchedKernel> kernel, std::uint32_t index, std::uint32_t sm, const Clock& clock,
        StackPool& stacks, AccessRule* rule = nullptr);

  std::uint32_t thread_count() const { return static_cast<std::uint32_t>(threads_.size()); }
  std::uint32_t warp_count() const { return (thread_count() + kWarpSize - 1) / kWarpSize; }
  bool done() const { return done_count_ == threads_.size(); }
  /// Tells the stream, the first time.
  void release_dependents();
  State state(std::uint32_t i) const { return threads_[i].state; }

  /// Whether thread i can take a turn at that time.
  bool runnable(std::uint32_t i, std::uint64_t now) const;
  void run_thread(std::uint32_t i);
  /// Gives one turn to each runnable thread of the warp; returns their number.
  std::uint32_t run_warp(std::uint32_t warp, std::uint64_t now);
  /// The earliest end of a sleep; UINT64_MAX if no thread sleeps.
  std::uint64_t next_wake() const;
  const std::shared_ptr<const LaunchedKernel>& kernel() const { return kernel_; }

 private:
  friend struct BlockHooks;
  struct SimtThread {
    ThreadContext context;
    std::unique_ptr<Fiber> fiber;
    std::uint64_t wake_ns = 0;
    std::uint32_t barrier = 0;
    State state = State::ready;
  };

  void park(SimtThread& thread, State state);
  void arrive(SimtThread& thread, std::uint32_t id, std::uint32_t expected);

  std::shared_ptr<const LaunchedKernel> kernel_;
  const Clock& clock_;
  AccessRule* const rule_;
  std::vector<std::byte> shared_;
  std::array<GroupScratch, kGroupBarriers> scratch_{};
  std::array<std::uint32_t, 16> arrived_{};
  std::vector<SimtThread> threads_;
  std::vector<std::uint32_t> stopped_;  ///< per warp: threads at a barrier or done
  std::size_t done_count_ = 0;
  bool released_ = false;
};

}  // namespace wic::simt
