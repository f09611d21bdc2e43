// One thread of a kernel: who it is, and the primitives that waiting is built from. The same source runs on a GPU and
// on the CPU device; this header is where the two part.
#pragma once

#include <atomic>
#include <cstdint>

#include "wic/platform.h"
#include "wic/simt_hooks.h"

namespace wic {

inline constexpr std::uint32_t kWarpSize = 32;
inline constexpr std::uint32_t kGroupBarriers = 8;  ///< barrier ids 0..7 may be used by groups; 0 is the block's

/// What the leader of a group tells the others, in the block's shared memory: one for each barrier id.
struct GroupScratch {
  std::uint32_t strategy;
  std::uint32_t status;
  std::uint32_t value;
  std::uint32_t unfinished;
  std::uint32_t waited;             ///< whether the leader did not find the word ready
  std::uint32_t long_status;        ///< as `status`, of the part after the first look
  std::uint32_t finished;           ///< see steward.h
  alignas(8) std::uint64_t parked;  ///< an mbarrier, while the others of the group stand there
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
  WIC_DEVICE std::uint32_t block() const;       ///< linear, within the grid
  WIC_DEVICE std::uint32_t block_count() const;
  WIC_DEVICE std::uint32_t warp() const { return index() / kWarpSize; }
  WIC_DEVICE std::uint32_t lane() const { return index() % kWarpSize; }
  WIC_DEVICE std::uint32_t sm() const;

  /// The block's dynamic shared memory, as many bytes as the launch asked for; 16-byte aligned.
  WIC_DEVICE void* shared() const;
  WIC_DEVICE GroupScratch& group_scratch(std::uint32_t barrier) const;

  /// Stands until `threads` threads (a multiple of 32) have come to barrier `id`. Orders their memory accesses.
  WIC_DEVICE void barrier(std::uint32_t id, std::uint32_t threads) const;
  WIC_DEVICE void sync_block() const { barrier(0, block_size()); }
  /// Brings the lanes of a warp together again after one of them went its own way.
  WIC_DEVICE void sync_warp() const;

  // An mbarrier, in shared memory, of which one phase is used: one thread sets it up (with a barrier() before the
  // others use it), one arrives, any number wait for that, one takes it down.
  WIC_DEVICE void mbarrier_init(std::uint64_t* mbarrier) const;
  WIC_DEVICE void mbarrier_arrive(std::uint64_t* mbarrier) const;
  /// Whether the one arrival has come. May wait for it, for as long as the device likes.
  WIC_DEVICE bool mbarrier_try_wait(std::uint64_t* mbarrier) const;
  /// The same, for about hint_ns at most.
  WIC_DEVICE bool mbarrier_try_wait(std::uint64_t* mbarrier, std::uint32_t hint_ns) const;
  WIC_DEVICE void mbarrier_invalidate(std::uint64_t* mbarrier) const;

  /// The device clock: nanoseconds since some start, the same for all SMs of a device.
  WIC_DEVICE std::uint64_t clock_ns() const;
  /// A counter that costs next to nothing to read: about 0.5 to 1 ns a step, wraps around after some seconds. Only
  /// differences between readings of one thread mean something.
  WIC_DEVICE std::uint32_t cycles() const;
  /// Sleeps for somewhere between 0 and 2 * ns; ns at most 1,000,000.
  WIC_DEVICE void sleep_ns(std::uint32_t ns) const;
  /// Nothing on a GPU; on the CPU device another warp may have its turn here. Put one in every long loop.
  WIC_DEVICE void step() const;

  // Memory that others write or read at the same time. Relaxed, system scope; naturally aligned addresses.
  WIC_DEVICE std::uint32_t load(const std::uint32_t* from) const;
  WIC_DEVICE std::uint64_t load(const std::uint64_t* from) const;
  /// Four words of a 16-byte aligned place in one access.
  WIC_DEVICE void load_quad(const std::uint32_t* from, std::uint32_t (&values)[4]) const;
  WIC_DEVICE void store(std::uint32_t* to, std::uint32_t value) const;
  WIC_DEVICE void store(std::uint64_t* to, std::uint64_t value) const;
  /// Everything this thread (and, after a barrier, its block) wrote before is seen by whoever sees the value.
  WIC_DEVICE void store_release(std::uint32_t* to, std::uint32_t value) const;
  WIC_DEVICE void store_release(std::uint64_t* to, std::uint64_t value) const;
  /// After a relaxed load that saw a released value: what was written before that release is seen from here on.
  WIC_DEVICE void fence_acquire() const;
  /// What this thread has written, or seen by a load and fence_acquire(), is seen by those threads of this device that
  /// see (and acquire) a value that it stores after this.
  WIC_DEVICE void fence_release() const;
  /// The same for the host and other devices too.
  WIC_DEVICE void fence_release_system() const;
  /// Device and shared memory only: atomics on host memory lose updates where the device lacks host-native atomics.
  WIC_DEVICE std::uint32_t fetch_add(std::uint32_t* at, std::uint32_t value) const;
  WIC_DEVICE std::uint64_t fetch_add(std::uint64_t* at, std::uint64_t value) const;
  WIC_DEVICE void add(std::uint64_t* at, std::uint64_t value) const;  ///< the same without waiting for what was there
  /// Releases what this thread knows to whoever acquires the value, and acquires itself.
  WIC_DEVICE std::uint32_t fetch_add_acq_rel(std::uint32_t* at, std::uint32_t value) const;
  /// Against other devices and the host too; still not on host memory.
  WIC_DEVICE std::uint32_t fetch_add_system(std::uint32_t* at, std::uint32_t value) const;
  /// fetch_add_acq_rel for what other devices or the host are to see. Device, peer and managed memory.
  WIC_DEVICE std::uint32_t fetch_add_acq_rel_system(std::uint32_t* at, std::uint32_t value) const;
  WIC_DEVICE std::uint32_t exchange(std::uint32_t* at,
                                    std::uint32_t value) const;  ///< relaxed; device and shared memory
  /// Turns the bits of `mask` over in a word of device or peer memory that other threads of any device change too.
  /// Publishes as store_release() does, and does not wait for the word.
  WIC_DEVICE void flip_bits(std::uint32_t* at, std::uint32_t mask) const;
  /// Rings a Doorbell of this device. What was written before is there when the host thread wakes.
  WIC_DEVICE void ring(std::uint32_t* bell) const;
  WIC_DEVICE bool compare_exchange(std::uint64_t* at, std::uint64_t& expected, std::uint64_t desired) const;
  /// Four words at once, seen together by a reader that checks the last one.
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
