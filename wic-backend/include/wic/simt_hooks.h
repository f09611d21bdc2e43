// The calls from a thread of the CPU device to its scheduler. wic-backend/simt implements them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wic::simt {

struct ThreadContext {
  std::uint32_t thread, block_size, block, block_count, sm;
  void* shared;         ///< the block's dynamic shared memory
  void* group_scratch;  ///< the block's array of GroupScratch
};

/// How a thread accesses memory that other threads use at the same time.
enum class Access : std::uint8_t { load, store, atomic };

/// Called before each such access: another warp may take its turn first.
void before_access(Access access, const void* at);
void switch_thread();          ///< lets another warp take its turn
void sleep(std::uint32_t ns);  ///< the thread gets no turn until then
void barrier(std::uint32_t id,
             std::uint32_t thread_count);  ///< the thread gets no turn until so many threads have arrived
void release_dependents();                 ///< the block no longer holds up a dependent kernel
bool earlier_kernels_ended();
std::uint64_t clock_ns();
void wake_host(std::uint32_t* bell);  ///< wakes host threads that sleep on a Doorbell's word

}  // namespace wic::simt
