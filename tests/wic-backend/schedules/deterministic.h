// The CPU device under a seeded schedule: one OS thread, a virtual clock, and a random choice of the next thread to
// run. The same seed gives the same run. Tests use it to try races of a GPU under many schedules.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "simt/block.h"

namespace wic::simt {

class DeterministicWorld {
 public:
  explicit DeterministicWorld(std::uint64_t seed);
  ~DeterministicWorld();

  /// Makes all blocks of the kernel runnable, together with those of other launches.
  void launch(const LaunchShape& shape, const KernelRef& kernel);
  /// Adds a host thread, which calls host_switch() and host_sleep() to let others run.
  void add_host_thread(std::function<void()> body);
  void host_switch();
  void host_sleep(std::uint64_t ns);

  /// Runs until every thread has ended. Errors: no thread can run and none sleeps (a deadlock); not done after
  /// `max_turns`.
  Result<> run(std::uint64_t max_turns);

  std::uint64_t now_ns() const { return clock_.now; }

 private:
  struct VirtualClock final : Clock {
    std::uint64_t now = 1;
    std::uint64_t now_ns() const override { return now; }
  };
  struct HostThread {
    std::unique_ptr<Fiber> fiber;
    std::uint64_t wake_ns = 0;
  };

  VirtualClock clock_;
  std::mt19937_64 random_;
  StackPool stacks_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<HostThread> host_threads_;
  HostThread* running_host_ = nullptr;
};

}  // namespace wic::simt
