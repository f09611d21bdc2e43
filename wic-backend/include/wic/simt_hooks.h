// What a thread of the CPU device asks of its scheduler. Implemented in wic-backend/simt.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wic::simt {

struct ThreadContext {
  std::uint32_t thread, block_size, block, block_count, sm;
  void* shared;         ///< the block's dynamic shared memory
  void* group_scratch;  ///< the block's array of GroupScratch
};

/// How a thread reaches for memory that others use at the same time.
enum class Access : std::uint8_t { load, store, atomic };

/// Called before each such access: another warp may have its turn first.
void before_access(Access access, const void* at);
void switch_thread();                                        ///< let another warp have its turn
void sleep(std::uint32_t ns);                                ///< no turns until then
void barrier(std::uint32_t id, std::uint32_t thread_count);  ///< no turns until that many threads have come
std::uint64_t clock_ns();
void wake_host(std::uint32_t* bell);  ///< host threads that sleep on a Doorbell's word

}  // namespace wic::simt
