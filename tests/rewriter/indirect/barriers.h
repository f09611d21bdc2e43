// What the two halves of barriers_*.cu share: mbarriers by PTX, and addresses in a cluster.
#pragma once

#include <cooperative_groups.h>

#include "../waits/common.h"

namespace cg = cooperative_groups;

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void begin(u64* barrier) {
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(blockDim.x) : "memory");
  }
  __syncthreads();
}
__device__ __forceinline__ u64 arrive(u64* barrier) {
  u64 state;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(shared_address(barrier)) : "memory");
  return state;
}
__device__ __forceinline__ bool try_wait(u64* barrier, unsigned phase) {
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(shared_address(barrier)), "r"(phase)
               : "memory");
  return done != 0;
}
__device__ __forceinline__ bool try_wait_hint(u64* barrier, unsigned phase, unsigned ns) {
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(shared_address(barrier)), "r"(phase), "r"(ns)
               : "memory");
  return done != 0;
}
__device__ __forceinline__ bool try_wait_cluster(u64* barrier, unsigned phase) {
  unsigned done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(shared_address(barrier)), "r"(phase)
      : "memory");
  return done != 0;
}
__device__ __forceinline__ bool try_wait_state(u64* barrier, u64 state) {
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(shared_address(barrier)), "l"(state)
               : "memory");
  return done != 0;
}
__device__ __forceinline__ bool test_wait(u64* barrier, unsigned phase) {
  unsigned done;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(shared_address(barrier)), "r"(phase)
               : "memory");
  return done != 0;
}
__device__ __forceinline__ unsigned load_acquire_block(const unsigned* p) {
  unsigned value;
  asm volatile("ld.acquire.cta.shared::cta.u32 %0, [%1];" : "=r"(value) : "r"(shared_address(p)) : "memory");
  return value;
}
__device__ __forceinline__ unsigned address_in_cluster(const void* p, unsigned rank) {
  unsigned address;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(p)), "r"(rank));
  return address;
}
__device__ __forceinline__ unsigned load_acquire_cluster(unsigned address) {
  unsigned value;
  asm volatile("ld.acquire.cluster.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}
__device__ __forceinline__ unsigned load_matrices(const void* p) {
  unsigned a, b, c, d;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(shared_address(p))
               : "memory");
  return a ^ b ^ c ^ d;
}
