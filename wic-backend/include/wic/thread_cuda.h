// wic::Thread on a GPU: for sm_90 and newer; older ones, from sm_75 on, have slower forms of what they lack.
#pragma once

#define WIC_HAS_HOPPERS_PTX (__CUDA_ARCH__ >= 900)

namespace wic {

namespace detail {
WIC_DEVICE inline std::uint32_t shared_address(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}
}  // namespace detail

WIC_DEVICE inline std::uint32_t Thread::index() const {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
WIC_DEVICE inline std::uint32_t Thread::block_size() const { return blockDim.x * blockDim.y * blockDim.z; }
WIC_DEVICE inline std::uint32_t Thread::barrier_size() const {
  return (block_size() + kWarpSize - 1) / kWarpSize * kWarpSize;
}
WIC_DEVICE inline std::uint32_t Thread::block() const {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}
WIC_DEVICE inline std::uint32_t Thread::block_count() const { return gridDim.x * gridDim.y * gridDim.z; }

WIC_DEVICE inline std::uint32_t Thread::sm() const {
  std::uint32_t sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}

WIC_DEVICE inline void* Thread::shared() const {
  extern __shared__ uint4 wic_dynamic_shared[];
  return wic_dynamic_shared;
}
WIC_DEVICE inline GroupScratch& Thread::group_scratch(std::uint32_t barrier) const {
  __shared__ GroupScratch scratch[kGroupBarriers];
  return scratch[barrier];
}

WIC_DEVICE inline void Thread::barrier(std::uint32_t id, std::uint32_t threads) const {
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
WIC_DEVICE inline void Thread::sync_warp() const { __syncwarp(); }

WIC_DEVICE inline std::uint64_t Thread::clock_ns() const {
  std::uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}
WIC_DEVICE inline std::uint32_t Thread::cycles() const {
  std::uint32_t cycles;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles));
  return cycles;
}
WIC_DEVICE inline void Thread::sleep_ns(std::uint32_t ns) const { __nanosleep(ns); }
WIC_DEVICE inline void Thread::step() const {}

WIC_DEVICE inline std::uint32_t Thread::load(const std::uint32_t* from) const {
  std::uint32_t value;
  asm volatile("ld.relaxed.sys.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}
WIC_DEVICE inline std::uint64_t Thread::load(const std::uint64_t* from) const {
  std::uint64_t value;
  asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
WIC_DEVICE inline void Thread::load_quad(const std::uint32_t* from, std::uint32_t (&values)[4]) const {
  asm volatile("ld.relaxed.sys.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(values[0]), "=r"(values[1]), "=r"(values[2]), "=r"(values[3])
               : "l"(from)
               : "memory");
}
WIC_DEVICE inline void Thread::store(std::uint32_t* to, std::uint32_t value) const {
  asm volatile("st.relaxed.sys.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
WIC_DEVICE inline void Thread::store(std::uint64_t* to, std::uint64_t value) const {
  asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
WIC_DEVICE inline void Thread::store_release(std::uint32_t* to, std::uint32_t value) const {
  asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}
WIC_DEVICE inline void Thread::store_release(std::uint64_t* to, std::uint64_t value) const {
  asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
WIC_DEVICE inline void Thread::fence_release() const { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
WIC_DEVICE inline void Thread::fence_release_system() const { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

WIC_DEVICE inline std::uint32_t Thread::fetch_add(std::uint32_t* at, std::uint32_t value) const {
  std::uint32_t old;
  asm volatile("atom.relaxed.gpu.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(value) : "memory");
  return old;
}
WIC_DEVICE inline std::uint64_t Thread::fetch_add(std::uint64_t* at, std::uint64_t value) const {
  std::uint64_t old;
  asm volatile("atom.relaxed.gpu.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(at), "l"(value) : "memory");
  return old;
}
WIC_DEVICE inline void Thread::add(std::uint64_t* at, std::uint64_t value) const {
  asm volatile("red.relaxed.gpu.add.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}
WIC_DEVICE inline std::uint32_t Thread::fetch_add_acq_rel(std::uint32_t* at, std::uint32_t value) const {
  std::uint32_t old;
  asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(value) : "memory");
  return old;
}
WIC_DEVICE inline std::uint32_t Thread::fetch_add_system(std::uint32_t* at, std::uint32_t value) const {
  std::uint32_t old;
  asm volatile("atom.relaxed.sys.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(value) : "memory");
  return old;
}
WIC_DEVICE inline std::uint32_t Thread::exchange(std::uint32_t* at, std::uint32_t value) const {
  std::uint32_t old;
  asm volatile("atom.relaxed.gpu.exch.b32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(value) : "memory");
  return old;
}
WIC_DEVICE inline std::uint32_t Thread::fetch_add_acq_rel_system(std::uint32_t* at, std::uint32_t value) const {
  std::uint32_t old;
  asm volatile("atom.acq_rel.sys.add.u32 %0, [%1], %2;" : "=r"(old) : "l"(at), "r"(value) : "memory");
  return old;
}
WIC_DEVICE inline void Thread::flip_bits(std::uint32_t* at, std::uint32_t mask) const {
  asm volatile("red.release.sys.xor.b32 [%0], %1;" ::"l"(at), "r"(mask) : "memory");
}
WIC_DEVICE inline void Thread::ring(std::uint32_t* bell) const {
  asm volatile("red.release.sys.add.u32 [%0], %1;" ::"l"(bell), "r"(1u) : "memory");
}
WIC_DEVICE inline bool Thread::compare_exchange(std::uint64_t* at, std::uint64_t& expected,
                                                std::uint64_t desired) const {
  std::uint64_t old;
  asm volatile("atom.acq_rel.gpu.cas.b64 %0, [%1], %2, %3;"
               : "=l"(old)
               : "l"(at), "l"(expected), "l"(desired)
               : "memory");
  const bool done = old == expected;
  expected = old;
  return done;
}
WIC_DEVICE inline void Thread::store_quad(void* to, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                          std::uint32_t d) const {
  // One scalar access: PTX lets the parts of a vector arrive apart.
  const std::uint64_t low = (std::uint64_t{b} << 32) | a, high = (std::uint64_t{d} << 32) | c;
  asm volatile("{ .reg .b128 quad; mov.b128 quad, {%1, %2}; st.relaxed.sys.b128 [%0], quad; }" ::"l"(to), "l"(low),
               "l"(high)
               : "memory");
}

#if WIC_HAS_HOPPERS_PTX

WIC_DEVICE inline void Thread::fence_acquire() const { asm volatile("fence.acquire.sys;" ::: "memory"); }
WIC_DEVICE inline void Thread::fence_async_copies() const { asm volatile("fence.proxy.async;" ::: "memory"); }
WIC_DEVICE inline void Thread::release_dependents() const {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
WIC_DEVICE inline void Thread::wait_for_earlier_kernels() const { asm volatile("griddepcontrol.wait;" ::: "memory"); }

WIC_DEVICE inline void Thread::mbarrier_init(std::uint64_t* mbarrier) const {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(detail::shared_address(mbarrier)) : "memory");
}
WIC_DEVICE inline void Thread::mbarrier_arrive(std::uint64_t* mbarrier) const {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(detail::shared_address(mbarrier)) : "memory");
}
WIC_DEVICE inline bool Thread::mbarrier_try_wait(std::uint64_t* mbarrier) const {
  std::uint32_t done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(detail::shared_address(mbarrier))
               : "memory");
  return done != 0;
}
WIC_DEVICE inline bool Thread::mbarrier_try_wait(std::uint64_t* mbarrier, std::uint32_t hint_ns) const {
  std::uint32_t done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0, %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(detail::shared_address(mbarrier)), "r"(hint_ns)
               : "memory");
  return done != 0;
}
WIC_DEVICE inline void Thread::mbarrier_invalidate(std::uint64_t* mbarrier) const {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(detail::shared_address(mbarrier)) : "memory");
}

#else

WIC_DEVICE inline void Thread::fence_acquire() const { asm volatile("fence.acq_rel.sys;" ::: "memory"); }
// These have neither asynchronous copies of tiles nor kernels that begin before the one ahead of them has ended.
WIC_DEVICE inline void Thread::fence_async_copies() const {}
WIC_DEVICE inline void Thread::release_dependents() const {}
WIC_DEVICE inline void Thread::wait_for_earlier_kernels() const {}

// A word in shared memory, at which the others nap.
WIC_DEVICE inline void Thread::mbarrier_init(std::uint64_t* mbarrier) const {
  *static_cast<volatile std::uint64_t*>(mbarrier) = 0;
}
WIC_DEVICE inline void Thread::mbarrier_arrive(std::uint64_t* mbarrier) const {
  __threadfence_block();
  *static_cast<volatile std::uint64_t*>(mbarrier) = 1;
}
WIC_DEVICE inline bool Thread::mbarrier_try_wait(std::uint64_t* mbarrier) const {
  return mbarrier_try_wait(mbarrier, 1'000);
}
WIC_DEVICE inline bool Thread::mbarrier_try_wait(std::uint64_t* mbarrier, std::uint32_t hint_ns) const {
  if (*static_cast<volatile std::uint64_t*>(mbarrier) == 0) sleep_ns(hint_ns < 1'000 ? hint_ns : 1'000);
  const bool done = *static_cast<volatile std::uint64_t*>(mbarrier) != 0;
  __threadfence_block();
  return done;
}
WIC_DEVICE inline void Thread::mbarrier_invalidate(std::uint64_t*) const {}

#endif

}  // namespace wic
