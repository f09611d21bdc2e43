// The CPU device under a seeded schedule: one OS thread, a virtual clock, the next thread to run drawn at random. The
// same seed gives the same run. For tests: what races on a GPU can be tried here under as many schedules as one likes.
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

  /// All blocks of the kernel become runnable, together with those of other launches.
  void launch(const LaunchShape& shape, const KernelRef& kernel);
  /// A host thread; inside, host_switch() and host_sleep() let others run.
  void add_host_thread(std::function<void()> body);
  void host_switch();
  void host_sleep(std::uint64_t ns);

  /// Until everything has ended. Error: nothing can run and nothing sleeps (a deadlock), or `max_turns` were not
  /// enough.
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
