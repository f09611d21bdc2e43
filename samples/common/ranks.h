// What programs between devices have in common: how a whole is split among them, how many blocks a kernel gets of which
// some wait, and what becomes of a deadline that has passed.
//
// Kernels of this kind have two sorts of blocks. The first ones, as many as there are messages ("tasks") an iteration,
// send and wait; all others compute what needs no message. Where there are fewer blocks than tasks, a block has
// several.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/app.h"
#include "wic/device.h"
#include "wic/launch.h"
#include "wic/runtime.h"

namespace sample {

/// Where the i-th of `parts` parts of 0..count-1 begins, no part being more than 1 longer than another; i == parts:
/// count.
WIC_DEVICE constexpr std::uint32_t part_begin(std::uint32_t count, std::uint32_t parts, std::uint32_t i) {
  return static_cast<std::uint32_t>(std::uint64_t{count} * i / parts);
}

/// A number for a place, as good as random, so that no word of a field looks like another.
WIC_DEVICE constexpr std::uint32_t scrambled(std::uint64_t place) {
  place = (place + 1) * 0x9e3779b97f4a7c15u;
  place = (place ^ (place >> 30)) * 0xbf58476d1ce4e5b9u;
  return static_cast<std::uint32_t>(place >> 32);
}

/// Modulo 2^32; `odd` is odd. Newton's iteration: each round doubles the bits that are right, of which there are 3 at
/// first.
WIC_DEVICE constexpr std::uint32_t inverse_of(std::uint32_t odd) {
  std::uint32_t inverse = odd;
  for (int round = 0; round < 4; ++round) inverse *= 2 - odd * inverse;
  return inverse;
}

/// What has gone wrong on a device; in its memory, all zero while nothing has.
struct Trouble {
  std::uint32_t failed_at;  ///< the communication iteration of the first deadline that passed, from 1 on; 0 = none
  std::uint32_t missed;     ///< deadlines that passed
  // Of the first one:
  std::uint32_t peer;  ///< the device waited for, or whose room
  std::uint32_t tag;
  std::uint32_t room;  ///< 1: it waited for room to send, not for a message

  /// Whether an earlier iteration has failed: then nothing more is sent. The same answer for all threads of a kernel.
  WIC_DEVICE bool stops(const wic::Thread& thread, std::uint32_t iteration) const {
    const std::uint32_t failed = thread.load(&failed_at);
    return failed != 0 && failed < iteration;
  }
  /// One thread of the group whose wait was not satisfied.
  WIC_DEVICE void report(const wic::Thread& thread, std::uint32_t iteration, std::uint32_t of_peer,
                         std::uint32_t of_tag, bool for_room) {
    if (thread.fetch_add(&missed, 1) == 0) {
      thread.store(&peer, of_peer);
      thread.store(&tag, of_tag);
      thread.store(&room, for_room ? 1u : 0u);
    }
    thread.store(&failed_at, iteration);
  }
};

/// Deals `chunks` of work out to the blocks: one to each of the first `waiting`, which have other things to do, the
/// rest to those after them; to all alike where no block is after them. Calls work(chunk) for those of this block.
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

/// A device's stream, and its trouble.
class RankQueue {
 public:
  static wicprof::Result<RankQueue> make(wic::Device& device) {
    RankQueue queue;
    auto trouble = wic::Array<Trouble>::make(device, 1, wic::Memory::device);
    if (!trouble) return trouble.error();
    auto seen = wic::Array<Trouble>::make(device, 1, wic::Memory::pinned_host);
    if (!seen) return seen.error();
    auto stream = device.make_stream();
    if (!stream) return stream.error();
    queue.trouble_ = *std::move(trouble);
    queue.seen_ = *std::move(seen);
    queue.stream_ = *std::move(stream);
    return wicprof::Result<RankQueue>(std::move(queue));
  }

  wic::Stream& stream() const { return *stream_; }
  Trouble* trouble() const { return trouble_.data(); }  ///< for kernels

  /// Behind the last kernel: has the trouble brought over.
  wicprof::Result<> close() { return stream_->copy(seen_.data(), trouble_.data(), sizeof(Trouble)); }
  /// Until all is done, close() included; then what went wrong.
  wicprof::Result<Trouble> finish() {
    if (wicprof::Result<> done = stream_->synchronize(); !done) return done.error();
    return seen_[0];
  }

 private:
  wic::Array<Trouble> trouble_, seen_;
  std::unique_ptr<wic::Stream> stream_;  // last: its work must be over before the memory goes
};

/// Waits until all ranks are done with what was launched. Error: wicprof::failed for a deadline that passed, and says
/// whose wait it was. `name`: of the lanes, which are called NAME.FROM-TO.
inline wicprof::Result<> finish_all(std::vector<RankQueue>& queues, const std::string& name) {
  for (RankQueue& queue : queues) {
    if (wicprof::Result<> closed = queue.close(); !closed) return closed;
  }
  std::string first;
  for (std::uint32_t d = 0; d < queues.size(); ++d) {
    const auto trouble = queues[d].finish();
    if (!trouble) return trouble.error();
    if (trouble->missed == 0 || !first.empty()) continue;
    const std::string self = std::to_string(d), peer = std::to_string(trouble->peer);
    const std::string lane = trouble->room != 0 ? self + "-" + peer + ".room" : peer + "-" + self + ".data";
    first = "a deadline passed in iteration " + std::to_string(trouble->failed_at) + ": device " + self +
            " waited at " + name + "." + lane + " for message " + std::to_string(trouble->tag) +
            "; raise --timeout if the machine is busy";
  }
  if (!first.empty()) return wicprof::failed(first);
  return wicprof::ok();
}

inline std::string lane_name(const std::string& name, std::uint32_t from, std::uint32_t to) {
  return name + "." + std::to_string(from) + "-" + std::to_string(to);
}

/// How many of the runtime's devices are this very one.
inline std::uint32_t ranks_on(const wic::Runtime& runtime, const wic::Device& device) {
  std::uint32_t count = 0;
  for (std::size_t d = 0; d < runtime.device_count(); ++d) {
    count += runtime.device(d).properties().id == device.properties().id ? 1 : 0;
  }
  return count;
}

/// A block's threads: what was asked for, or by the kind of device. Error: no multiple of 32, or above `most`.
inline wicprof::Result<std::uint32_t> choose_threads(const AppOptions& options, std::uint32_t on_gpu,
                                                     std::uint32_t most) {
  const std::uint32_t threads = options.block_size != 0 ? options.block_size : options.on_gpu ? on_gpu : 64;
  if (threads % wic::kWarpSize == 0 && threads >= wic::kWarpSize && threads <= most) return threads;
  return wicprof::bad_input("--block-size " + std::to_string(threads) + ": choose a multiple of 32, at most " +
                            std::to_string(most));
}

/// The grid of a kernel whose first `tasks` blocks wait. `block`: its threads and shared memory. `chunks`: of work for
/// deal_chunks(). By default as many blocks as the device holds at once, or less where there is less to do; --blocks
/// may ask for more, since blocks that wait come first and the others end by themselves. Error: the blocks of all ranks
/// on the device that wait, and one more each that does not, are not there together.
inline wicprof::Result<wic::LaunchShape> choose_grid(wic::Device& device, const wic::KernelRef& kernel,
                                                     wic::LaunchShape block, const AppOptions& options,
                                                     std::uint32_t tasks, std::uint32_t chunks, std::uint32_t sharing) {
  block.blocks = 1;
  const auto room = device.resident_blocks(block, kernel);
  if (!room) return room.error();
  const bool gpu = device.properties().kind == wicprof::DeviceKind::cuda;
  // On the CPU device more blocks than SMs compute nothing sooner.
  const std::uint32_t fair = *room / sharing;
  const std::uint32_t most = gpu ? (fair > tasks ? fair - tasks : 1) : device.properties().sm_count;
  block.blocks = options.blocks != 0 ? options.blocks : tasks + std::clamp(chunks, 1u, std::max(most, 1u));
  wic::LaunchShape waiting = block;
  waiting.blocks = std::min(block.blocks, tasks + 1);
  const std::vector<wic::PlannedLaunch> together(sharing, {waiting, kernel});
  if (wicprof::Result<> fits = wic::check_co_resident(device, together); !fits) return fits.error();
  return block;
}

}  // namespace sample
