// The parts of a Hopper GPU that a fast matrix product needs, as thin functions over PTX: mbarriers with phases, bulk
// tensor copies (TMA) and the descriptors of swizzled tiles in shared memory. Only in device code for sm_90a.
#pragma once

#include <cstdint>

#include "tiles/wgmma.h"

namespace sample::tiles::hopper {

__device__ inline std::uint32_t shared_address(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

__device__ inline void barrier_init(std::uint64_t* barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
/// Makes initialised mbarriers visible to bulk copies.
__device__ inline void barrier_init_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ inline void barrier_arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
/// Arrives, and lets the phase wait for that many bytes of bulk copies, too.
__device__ inline void barrier_arrive_expecting(std::uint64_t* barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
/// Waits for the end of the phase with this parity.
__device__ inline void barrier_wait(std::uint64_t* barrier, std::uint32_t parity) {
  asm volatile(
      "{ .reg .pred p;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@!p bra again; }" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

/// Copies the box of the tensor at (column, row) to shared memory; its bytes count at `barrier`.
__device__ inline void copy_box(void* to, const void* tensor_map, std::uint64_t* barrier, std::uint32_t column,
                                std::uint32_t row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::
          "r"(shared_address(to)),
      "l"(tensor_map), "r"(shared_address(barrier)), "r"(column), "r"(row)
      : "memory");
}
/// The same for data that nobody else reads: it leaves the L2 cache first.
__device__ inline void copy_box_read_once(void* to, const void* tensor_map, std::uint64_t* barrier,
                                          std::uint32_t column, std::uint32_t row) {
  asm volatile(
      "{ .reg .b64 policy; createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
      "[%1, {%3, %4}], [%2], policy; }" ::"r"(shared_address(to)),
      "l"(tensor_map), "r"(shared_address(barrier)), "r"(column), "r"(row)
      : "memory");
}
/// Brings the box to the L2 cache.
__device__ inline void prefetch_box(const void* tensor_map, std::uint32_t column, std::uint32_t row) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(tensor_map), "r"(column),
               "r"(row)
               : "memory");
}
/// A pixel of a convolution's result: where its filter's first tap lies.
struct Pixel {
  int column, row, image;
};
/// Copies the box's channels, from `channel` on, of consecutive pixels' taps: the rows of an implicit matrix.
__device__ inline void copy_pixels(void* to, const void* tensor_map, std::uint64_t* barrier, std::uint32_t channel,
                                   const Pixel& first, std::uint32_t tap_column, std::uint32_t tap_row) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, "
      "%6}], "
      "[%2], {%7, %8};" ::"r"(shared_address(to)),
      "l"(tensor_map), "r"(shared_address(barrier)), "r"(channel), "r"(first.column), "r"(first.row), "r"(first.image),
      "h"(static_cast<std::uint16_t>(tap_column)), "h"(static_cast<std::uint16_t>(tap_row))
      : "memory");
}
__device__ inline void prefetch_map(const void* tensor_map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(tensor_map) : "memory");
}

/// Of rows of 128 bytes with the 128-byte swizzle, eight rows every 1,024 bytes; `rows` at such a boundary. The next 16
/// columns of 2 bytes are 2 further. `next_columns`: bytes to the next 64 columns of a tile that is stored by rows of
/// the common dimension, whose next 16 rows are 128 further.
__device__ inline std::uint64_t tile_descriptor(const void* rows, std::uint32_t next_columns = 16) {
  const std::uint64_t address = shared_address(rows) & 0x3ffff;
  return (address >> 4) | (std::uint64_t{next_columns >> 4} << 16) | (std::uint64_t{1024 >> 4} << 32) |
         (std::uint64_t{1} << 62);
}

__device__ inline void wgmma_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits until at most kPending groups are not done.
template <int kPending>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

}  // namespace sample::tiles::hopper
