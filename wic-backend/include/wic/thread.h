// One thread of a kernel: its place in the grid, and the primitives that waits are made of. The same source runs on a
// GPU and on the CPU device; thread_cuda.h and thread_simt.h implement this class for each.
#pragma once

#include <atomic>
#include <cstdint>

#include "wic/platform.h"
#include "wic/simt_atomic.h"
#include "wic/simt_hooks.h"

namespace wic {

inline constexpr std::uint32_t kWarpSize = 32;
inline constexpr std::uint32_t kGroupBarriers = 8;  ///< barrier ids 0..7 may be used by groups; 0 is the block's

/// Passes a group leader's results to the other threads. In the block's shared memory, one per barrier id.
struct GroupScratch {
  std::uint32_t strategy;
  std::uint32_t status;
  std::uint32_t value;
  std::uint32_t unfinished;
  std::uint32_t waited;             ///< 1: the word was not ready at the leader's first look
  std::uint32_t long_status;        ///< `status` of the part after the first look
  std::uint32_t finished;           ///< see steward.h
  alignas(8) std::uint64_t parked;  ///< an mbarrier, while the other threads wait at it
};

class Thread {
 public:
#if WIC_ON_GPU
  WIC_DEVICE Thread() {}
#else
  WIC_DEVICE explicit Thread(const simt::ThreadContext& context) : context_(&context) {}
#endif

  WIC_DEVICE std::uint32_t index() const;       ///< linear, within the block
  WIC_DEVICE std::uint32_t block_size() const;  ///< threads
  /// What a barrier of the whole block counts: on a GPU whole warps, also the last one where it has fewer threads.
  WIC_DEVICE std::uint32_t barrier_size() const;
  WIC_DEVICE std::uint32_t block() const;  ///< linear, within the grid
  WIC_DEVICE std::uint32_t block_count() const;
  WIC_DEVICE std::uint32_t warp() const { return index() / kWarpSize; }
  WIC_DEVICE std::uint32_t lane() const { return index() % kWarpSize; }
  WIC_DEVICE std::uint32_t sm() const;

  /// The block's dynamic shared memory, LaunchShape::shared_bytes long, 16-byte aligned.
  WIC_DEVICE void* shared() const;
  WIC_DEVICE GroupScratch& group_scratch(std::uint32_t barrier) const;

  /// Waits until `threads` threads (a multiple of 32, or barrier_size()) have reached barrier `id`. Orders their memory
  /// accesses.
  WIC_DEVICE void barrier(std::uint32_t id, std::uint32_t threads) const;
  WIC_DEVICE void sync_block() const { barrier(0, barrier_size()); }
  /// Reconverges the lanes of a warp after divergence.
  WIC_DEVICE void sync_warp() const;

  // An mbarrier in shared memory, used for one phase: one thread initialises it (a barrier() must follow before other
  // threads use it), one thread arrives, any number wait, one thread invalidates it.
  WIC_DEVICE void mbarrier_init(std::uint64_t* mbarrier) const;
  WIC_DEVICE void mbarrier_arrive(std::uint64_t* mbarrier) const;
  /// Whether the arrival has happened. May wait for it, for a time that the device chooses.
  WIC_DEVICE bool mbarrier_try_wait(std::uint64_t* mbarrier) const;
  /// The same, for about hint_ns at most.
  WIC_DEVICE bool mbarrier_try_wait(std::uint64_t* mbarrier, std::uint32_t hint_ns) const;
  WIC_DEVICE void mbarrier_invalidate(std::uint64_t* mbarrier) const;

  /// The device clock: nanoseconds, the same for all SMs of a device.
  WIC_DEVICE std::uint64_t clock_ns() const;
  /// A counter that is nearly free to read: about 0.5 to 1 ns per step, wraps around after some seconds. Only
  /// differences between readings of one thread are meaningful.
  WIC_DEVICE std::uint32_t cycles() const;
  /// Sleeps for 0 to 2 * ns; ns at most 1,000,000.
  WIC_DEVICE void sleep_ns(std::uint32_t ns) const;
  /// The block no longer holds up the start of a dependent kernel (LaunchShape::dependent). Nothing that the block has
  /// written is visible to that kernel by this call alone.
  WIC_DEVICE void release_dependents() const;
  /// In a dependent kernel: waits until the kernels before it in the stream have ended, and sees what they wrote.
  WIC_DEVICE void wait_for_earlier_kernels() const;
  /// Does nothing on a GPU; on the CPU device another warp may take its turn. Put a step() in every long loop.
  WIC_DEVICE void step() const;

  // For memory that other threads access at the same time. Relaxed, system scope; naturally aligned addresses.
  WIC_DEVICE std::uint32_t load(const std::uint32_t* from) const;
  WIC_DEVICE std::uint64_t load(const std::uint64_t* from) const;
  /// Loads four words from a 16-byte aligned address in one access. Each word is whole, but the four may be of several
  /// stores.
  WIC_DEVICE void load_quad(const std::uint32_t* from, std::uint32_t (&values)[4]) const;
  WIC_DEVICE void store(std::uint32_t* to, std::uint32_t value) const;
  WIC_DEVICE void store(std::uint64_t* to, std::uint64_t value) const;
  /// A thread that sees the value also sees everything that this thread (and, after a barrier, its block) wrote before.
  WIC_DEVICE void store_release(std::uint32_t* to, std::uint32_t value) const;
  WIC_DEVICE void store_release(std::uint64_t* to, std::uint64_t value) const;
  /// After a relaxed load that saw a released value: all writes before that release are visible from here on.
  WIC_DEVICE void fence_acquire() const;
  /// Threads of this device that see (and acquire) a value which this thread stores later also see everything that this
  /// thread has written, or has seen by a load and fence_acquire().
  WIC_DEVICE void fence_release() const;
  /// The same, also for the host and other devices.
  WIC_DEVICE void fence_release_system() const;
  /// Between this thread's accesses and those of the GPU's copy engine for tiles (TMA, cp.async.bulk), in both
  /// directions: after a wait and before a bulk copy that reads the data, and after a bulk copy and before the signal.
  WIC_DEVICE void fence_async_copies() const;
  /// Device and shared memory only: atomics on host memory lose updates where the device lacks host-native atomics.
  WIC_DEVICE std::uint32_t fetch_add(std::uint32_t* at, std::uint32_t value) const;
  WIC_DEVICE std::uint64_t fetch_add(std::uint64_t* at, std::uint64_t value) const;
  WIC_DEVICE void add(std::uint64_t* at, std::uint64_t value) const;  ///< the same, does not wait for the old value
  /// Like fetch_add(), with acquire and release.
  WIC_DEVICE std::uint32_t fetch_add_acq_rel(std::uint32_t* at, std::uint32_t value) const;
  /// Like fetch_add(), atomic also against other devices and the host; still not for host memory.
  WIC_DEVICE std::uint32_t fetch_add_system(std::uint32_t* at, std::uint32_t value) const;
  /// Like fetch_add_acq_rel(), also towards other devices and the host. Device, peer and managed memory.
  WIC_DEVICE std::uint32_t fetch_add_acq_rel_system(std::uint32_t* at, std::uint32_t value) const;
  WIC_DEVICE std::uint32_t exchange(std::uint32_t* at,
                                    std::uint32_t value) const;  ///< relaxed; device and shared memory
  /// Flips the bits of `mask` in a word of device or peer memory; threads of any device may do so at the same time.
  /// Publishes like store_release(), and does not wait for the word.
  WIC_DEVICE void flip_bits(std::uint32_t* at, std::uint32_t mask) const;
  /// Rings a Doorbell of this device. The host thread that wakes sees all earlier writes.
  WIC_DEVICE void ring(std::uint32_t* bell) const;
  WIC_DEVICE bool compare_exchange(std::uint64_t* at, std::uint64_t& expected, std::uint64_t desired) const;
  /// Stores four words at once, to a 16-byte aligned address: a reader that sees the last word sees all four.
  WIC_DEVICE void store_quad(void* to, std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) const;

 private:
#if !WIC_ON_GPU
  const simt::ThreadContext* context_;
#endif
};

}  // namespace wic

#if WIC_CUDA_COMPILER && WIC_ON_GPU
#include "wic/thread_cuda.h"
#else
#include "wic/thread_simt.h"
#endif
