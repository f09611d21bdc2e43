#include "simt/block.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

namespace wic::simt {

namespace {

// A sleep lasts this many times longer than requested: a turn of the CPU device takes about that much longer than a GPU
// instruction, and a sleep must be long compared with a turn.
constexpr std::uint64_t kSleepScale = 20;

}  // namespace

/// The thread that has the turn on this OS thread.
struct BlockHooks {
  static thread_local Block* block;
  static thread_local Block::SimtThread* thread;

  static void wait(Block::State state) {
    Block* const my_block = block;
    Block::SimtThread* const me = thread;
    my_block->park(*me, state);
    Fiber::suspend();
  }
  static void before_access(Access access, const void* at) {
    AccessRule* const rule = block->rule_;
    if (rule == nullptr || rule->ends_turn(access, at)) wait(Block::State::ready);
    if (rule != nullptr) rule->will_access(access, at);
  }
  static void sleep(std::uint32_t ns) {
    thread->wake_ns = block->clock_.now_ns() + ns * kSleepScale;
    wait(Block::State::sleeping);
  }
  static void arrive(std::uint32_t id, std::uint32_t expected) { block->arrive(*thread, id, expected); }
  static void release_dependents() { block->release_dependents(); }
  static bool earlier_kernels_ended() {
    const LaunchedKernel& kernel = *block->kernel_;
    return !kernel.earlier_ended || kernel.earlier_ended();
  }
  static std::uint64_t now() { return block->clock_.now_ns(); }
};

thread_local Block* BlockHooks::block = nullptr;
thread_local Block::SimtThread* BlockHooks::thread = nullptr;

void before_access(Access access, const void* at) { BlockHooks::before_access(access, at); }
void switch_thread() { BlockHooks::wait(Block::State::ready); }
void sleep(std::uint32_t ns) { BlockHooks::sleep(ns); }
void barrier(std::uint32_t id, std::uint32_t thread_count) { BlockHooks::arrive(id, thread_count); }
void release_dependents() { BlockHooks::release_dependents(); }
bool earlier_kernels_ended() { return BlockHooks::earlier_kernels_ended(); }
std::uint64_t clock_ns() { return BlockHooks::now(); }
void wake_host(std::uint32_t* bell) { std::atomic_ref(*bell).notify_all(); }

LaunchedKernel::LaunchedKernel(const LaunchShape& launch_shape, const KernelRef& ref)
    : shape(launch_shape), entry(ref.cpu_entry), kernel(ref.size) {
  std::memcpy(kernel.data(), ref.kernel, ref.size);
}

Block::Block(std::shared_ptr<const LaunchedKernel> kernel, std::uint32_t index, std::uint32_t sm, const Clock& clock,
             StackPool& stacks, AccessRule* rule)
    : kernel_(std::move(kernel)),
      clock_(clock),
      rule_(rule),
      shared_(kernel_->shape.shared_bytes),
      threads_(kernel_->shape.threads),
      stopped_((kernel_->shape.threads + kWarpSize - 1) / kWarpSize) {
  for (std::uint32_t i = 0; i < threads_.size(); ++i) {
    SimtThread& thread = threads_[i];
    thread.context = {i, kernel_->shape.threads, index, kernel_->shape.blocks, sm, shared_.data(), scratch_.data()};
    thread.fiber = std::make_unique<Fiber>(stacks, [this, &thread] {
      kernel_->entry(kernel_->kernel.data(), Thread(thread.context));
      park(thread, State::done);
    });
  }
}

bool Block::runnable(std::uint32_t i, std::uint64_t now) const {
  const SimtThread& thread = threads_[i];
  return thread.state == State::ready || (thread.state == State::sleeping && thread.wake_ns <= now);
}

void Block::run_thread(std::uint32_t i) {
  SimtThread& thread = threads_[i];
  thread.state = State::ready;
  BlockHooks::block = this;
  BlockHooks::thread = &thread;
  thread.fiber->resume();
}

std::uint32_t Block::run_warp(std::uint32_t warp, std::uint64_t now) {
  const std::uint32_t begin = warp * kWarpSize;
  const std::uint32_t end = std::min(begin + kWarpSize, thread_count());
  if (stopped_[warp] == end - begin) return 0;
  std::uint32_t turns = 0;
  for (std::uint32_t i = begin; i < end; ++i) {
    if (!runnable(i, now)) continue;
    run_thread(i);
    ++turns;
  }
  return turns;
}

std::uint64_t Block::next_wake() const {
  std::uint64_t earliest = std::numeric_limits<std::uint64_t>::max();
  for (const SimtThread& thread : threads_) {
    if (thread.state == State::sleeping) earliest = std::min(earliest, thread.wake_ns);
  }
  return earliest;
}

void Block::release_dependents() {
  if (released_) return;
  released_ = true;
  if (kernel_->block_released) kernel_->block_released();
}

void Block::park(SimtThread& thread, State state) {
  thread.state = state;
  if (state == State::at_barrier || state == State::done) ++stopped_[thread.context.thread / kWarpSize];
  if (state == State::done) ++done_count_;
}

void Block::arrive(SimtThread& thread, std::uint32_t id, std::uint32_t expected) {
  if (++arrived_[id] < expected) {
    thread.barrier = id;
    park(thread, State::at_barrier);
    Fiber::suspend();
    return;
  }
  arrived_[id] = 0;
  for (SimtThread& other : threads_) {
    if (other.state != State::at_barrier || other.barrier != id) continue;
    other.state = State::ready;
    --stopped_[other.context.thread / kWarpSize];
  }
}

}  // namespace wic::simt
