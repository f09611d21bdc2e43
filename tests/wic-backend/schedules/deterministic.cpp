#include "schedules/deterministic.h"

#include <algorithm>
#include <limits>
#include <string>

namespace wic::simt {

namespace {
constexpr std::uint64_t kTurnNs = 50;
}

DeterministicWorld::DeterministicWorld(std::uint64_t seed) : random_(seed) {}
DeterministicWorld::~DeterministicWorld() = default;

void DeterministicWorld::launch(const LaunchShape& shape, const KernelRef& ref) {
  const auto kernel = std::make_shared<const LaunchedKernel>(shape, ref);
  for (std::uint32_t i = 0; i < shape.blocks; ++i) {
    blocks_.push_back(std::make_unique<Block>(kernel, i, i % 2, clock_, stacks_));
  }
}

void DeterministicWorld::add_host_thread(std::function<void()> body) {
  host_threads_.push_back({std::make_unique<Fiber>(stacks_, std::move(body)), 0});
}

void DeterministicWorld::host_switch() { Fiber::suspend(); }

void DeterministicWorld::host_sleep(std::uint64_t ns) {
  running_host_->wake_ns = clock_.now + ns;
  Fiber::suspend();
}

Result<> DeterministicWorld::run(std::uint64_t max_turns) {
  struct Choice {
    Block* block;  // nullptr for a host thread
    std::uint32_t index;
  };
  std::vector<Choice> choices;
  for (std::uint64_t turn = 0; turn < max_turns; ++turn) {
    choices.clear();
    bool all_done = true;
    std::uint64_t next_wake = std::numeric_limits<std::uint64_t>::max();
    for (const auto& block : blocks_) {
      if (block->done()) continue;
      all_done = false;
      for (std::uint32_t i = 0; i < block->thread_count(); ++i) {
        if (block->runnable(i, clock_.now)) choices.push_back({block.get(), i});
      }
      next_wake = std::min(next_wake, block->next_wake());
    }
    for (std::uint32_t i = 0; i < host_threads_.size(); ++i) {
      const HostThread& host = host_threads_[i];
      if (host.fiber->done()) continue;
      all_done = false;
      if (host.wake_ns <= clock_.now) {
        choices.push_back({nullptr, i});
      } else {
        next_wake = std::min(next_wake, host.wake_ns);
      }
    }
    if (all_done) return wicprof::ok();
    if (choices.empty()) {
      if (next_wake == std::numeric_limits<std::uint64_t>::max()) {
        return wicprof::unavailable("deadlock: no thread can run and none sleeps, at turn " + std::to_string(turn));
      }
      clock_.now = next_wake;
      continue;
    }
    const Choice choice = choices[random_() % choices.size()];
    if (choice.block != nullptr) {
      choice.block->run_thread(choice.index);
    } else {
      running_host_ = &host_threads_[choice.index];
      running_host_->fiber->resume();
    }
    clock_.now += kTurnNs;
  }
  return wicprof::unavailable("not done after " + std::to_string(max_turns) + " turns");
}

}  // namespace wic::simt
