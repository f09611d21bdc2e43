// Helpers for programs that span several devices: splitting the problem, sizing grids in which some blocks wait, and
// reporting missed deadlines.
//
// These kernels have two kinds of blocks. The first blocks, one per message ("task") of an iteration, send and wait.
// All other blocks compute what needs no message. With fewer blocks than tasks, a block handles several tasks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/app.h"
#include "common/mix.h"
#include "wic/device.h"
#include "wic/launch.h"
#include "wic/runtime.h"

namespace sample {

/// First element of part i when 0..count-1 is split into `parts` parts whose lengths differ by at most 1.
/// part_begin(count, parts, parts) == count.
WIC_DEVICE constexpr std::uint32_t part_begin(std::uint32_t count, std::uint32_t parts, std::uint32_t i) {
  return static_cast<std::uint32_t>(std::uint64_t{count} * i / parts);
}

/// Inverse of an odd number modulo 2^32. Newton's iteration: starts with 3 correct bits and doubles them per round.
WIC_DEVICE constexpr std::uint32_t inverse_of(std::uint32_t odd) {
  std::uint32_t inverse = odd;
  for (int round = 0; round < 4; ++round) inverse *= 2 - odd * inverse;
  return inverse;
}

/// Missed deadlines on one device. In device memory; all zero means none.
struct Failure {
  std::uint32_t failed_at;  ///< communication iteration of the first missed deadline, from 1; 0 = none
  std::uint32_t missed;     ///< number of missed deadlines
  // The first missed deadline:
  std::uint32_t peer;  ///< the device whose message or buffer space the wait was for
  std::uint32_t tag;
  std::uint32_t space;  ///< 1: the wait was for buffer space to send into; 0: for a message

  /// Whether an earlier iteration has failed; then the kernel sends nothing. Uniform over all threads of a kernel.
  WIC_DEVICE bool stops(const wic::Thread& thread, std::uint32_t iteration) const {
    const std::uint32_t failed = thread.load(&failed_at);
    return failed != 0 && failed < iteration;
  }
  /// Called by one thread of the group whose wait was not satisfied.
  WIC_DEVICE void report(const wic::Thread& thread, std::uint32_t iteration, std::uint32_t of_peer,
                         std::uint32_t of_tag, bool for_space) {
    if (thread.fetch_add(&missed, 1) == 0) {
      thread.store(&peer, of_peer);
      thread.store(&tag, of_tag);
      thread.store(&space, for_space ? 1u : 0u);
    }
    thread.store(&failed_at, iteration);
  }
};

/// Other devices that a device sends to, at most.
inline constexpr std::uint32_t kMaxOutgoing = 7;

/// Distributes `chunks` units of work over the blocks and calls work(chunk) for those of this block. Each of the first
/// `waiting` blocks, which also communicate, gets one chunk; the blocks after them share the rest. If there are no
/// blocks after them, all blocks share equally.
template <class Work>
WIC_DEVICE void deal_chunks(const wic::Thread& thread, std::uint32_t waiting, std::uint32_t chunks, const Work& work) {
  const std::uint32_t blocks = thread.block_count();
  const std::uint32_t stride = blocks > waiting ? blocks - waiting : blocks;
  const bool once = blocks > waiting && thread.block() < waiting;
  for (std::uint32_t chunk = thread.block(); chunk < chunks; chunk += stride) {
    work(chunk);
    if (once) break;
  }
}

/// The stream of one device and its missed deadlines.
class RankQueue {
 public:
  static wic::Result<RankQueue> make(wic::Device& device) {
    RankQueue queue;
    auto failure = wic::Array<Failure>::make(device, 1, wic::Memory::device);
    if (!failure) return failure.error();
    auto seen = wic::Array<Failure>::make(device, 1, wic::Memory::pinned_host);
    if (!seen) return seen.error();
    auto stream = device.make_stream();
    if (!stream) return stream.error();
    queue.failure_ = *std::move(failure);
    queue.seen_ = *std::move(seen);
    queue.stream_ = *std::move(stream);
    return wic::Result<RankQueue>(std::move(queue));
  }

  wic::Stream& stream() const { return *stream_; }
  Failure* failure() const { return failure_.data(); }  ///< for kernels

  /// Queues the copy of the failure record to the host. Call after the last launch.
  wic::Result<> close() { return stream_->copy(seen_.data(), failure_.data(), sizeof(Failure)); }
  /// Waits for all queued work, close() included, and returns the failure record.
  wic::Result<Failure> finish() {
    if (wic::Result<> done = stream_->synchronize(); !done) return done.error();
    return seen_[0];
  }

 private:
  wic::Array<Failure> failure_, seen_;
  std::unique_ptr<wic::Stream> stream_;  // last: destroyed first, so its work ends before the memory is freed
};

/// Waits for the launched work of all ranks. The lanes are called `name`.FROM-TO. Error: wic::failed for a missed
/// deadline; names the wait.
inline wic::Result<> finish_all(std::vector<RankQueue>& queues, const std::string& name) {
  for (RankQueue& queue : queues) {
    if (wic::Result<> closed = queue.close(); !closed) return closed;
  }
  std::string first;
  for (std::uint32_t d = 0; d < queues.size(); ++d) {
    const auto failure = queues[d].finish();
    if (!failure) return failure.error();
    if (failure->missed == 0 || !first.empty()) continue;
    const std::string self = std::to_string(d), peer = std::to_string(failure->peer);
    const std::string lane = failure->space != 0 ? self + "-" + peer + ".room" : peer + "-" + self + ".data";
    first = "a deadline passed in iteration " + std::to_string(failure->failed_at) + ": device " + self +
            " waited at " + name + "." + lane + " for message " + std::to_string(failure->tag) +
            "; raise --timeout if the machine is busy";
  }
  if (!first.empty()) return wic::failed(first);
  return wic::ok();
}

inline std::string lane_name(const std::string& name, std::uint32_t from, std::uint32_t to) {
  return name + "." + std::to_string(from) + "-" + std::to_string(to);
}

/// How many of the runtime's devices are the same physical device as `device`.
inline std::uint32_t ranks_on(const wic::Runtime& runtime, const wic::Device& device) {
  std::uint32_t count = 0;
  for (std::size_t d = 0; d < runtime.device_count(); ++d) {
    count += runtime.device(d).properties().id == device.properties().id ? 1 : 0;
  }
  return count;
}

/// Threads per block: --block-size, or a default by kind of device. Error: not a multiple of 32, or above `max`.
inline wic::Result<std::uint32_t> choose_threads(const AppOptions& options, std::uint32_t on_gpu, std::uint32_t max) {
  const std::uint32_t threads = options.block_size != 0 ? options.block_size : options.on_gpu ? on_gpu : 64;
  if (threads % wic::kWarpSize == 0 && threads >= wic::kWarpSize && threads <= max) return threads;
  return wic::bad_input("--block-size " + std::to_string(threads) + ": choose a multiple of 32, at most " +
                        std::to_string(max));
}

/// The grid of a kernel whose first `tasks` blocks wait. `block`: threads and shared memory of a block. `chunks`: units
/// of work for deal_chunks(). `sharing`: ranks on this device. The default is as many blocks as the device holds at
/// once, or fewer if there is less work; --blocks may ask for more, because waiting blocks are scheduled first and all
/// other blocks end without waiting. Error: the waiting blocks plus one other block of each rank on the device, and the
/// blocks that move messages for it, cannot be resident together.
inline wic::Result<wic::LaunchShape> choose_grid(wic::Device& device, const wic::KernelRef& kernel,
                                                 wic::LaunchShape block, const AppOptions& options, std::uint32_t tasks,
                                                 std::uint32_t chunks, std::uint32_t sharing) {
  block.blocks = 1;
  const auto resident = device.resident_blocks(block, kernel);
  if (!resident) return resident.error();
  const bool gpu = device.properties().kind == wic::DeviceKind::cuda;
  const std::uint32_t share = *resident / sharing;
  // On the CPU device more blocks than SMs give no speed-up.
  const std::uint32_t max = gpu ? (share > tasks ? share - tasks : 1) : device.properties().sm_count;
  block.blocks = options.blocks != 0 ? options.blocks : tasks + std::clamp(chunks, 1u, std::max(max, 1u));
  wic::LaunchShape waiting = block;
  // A device has at most as many outgoing lanes as tasks, and blocks that move messages are no larger than these.
  waiting.blocks = std::min(block.blocks, tasks + 1) + agent_blocks(options.rival, gpu, std::min(tasks, kMaxOutgoing));
  const std::vector<wic::PlannedLaunch> together(sharing, {waiting, kernel});
  if (wic::Result<> fits = wic::check_co_resident(device, together); !fits) return fits.error();
  return block;
}

}  // namespace sample
