// Launches a kernel, which is a trivially copyable function object:
//
//   struct Scale {
//     float* data;
//     WIC_DEVICE void operator()(const wic::Thread& thread) const { ... }
//   };
//   wic::launch(*stream, {blocks, threads}, Scale{data});
//
// All blocks of a kernel that wait for each other must fit the GPU at once. Two constants of the kernel ask the
// compiler for that (CUDA's launch bounds): `static constexpr int kMaxThreads = 256, kMinBlocksPerSm = 8;`
#pragma once

#include <type_traits>

#include "wic/device.h"
#include "wic/gpu_entry.h"

namespace wic {

namespace detail {

#if WIC_CUDA_COMPILER
// __grid_constant__: functions out of line take addresses of the argument's parts, without a copy in each thread's
// stack.
template <class Kernel>
__global__ void gpu_entry([[maybe_unused]] const __grid_constant__ Kernel kernel) {
#if WIC_ON_GPU
  kernel(Thread{});
#endif
}

// Threads that an SM of the GPU in question holds.
#if WIC_ON_GPU
inline constexpr int kThreadsPerSm = __CUDA_ARCH__ < 800 ? 1024
                                     : __CUDA_ARCH__ / 10 == 80 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200)
                                         ? 2048
                                         : 1536;
#else
inline constexpr int kThreadsPerSm = 2048;
#endif
template <class Kernel>
inline constexpr int kBlocksPerSm =
    Kernel::kMinBlocksPerSm < kThreadsPerSm / Kernel::kMaxThreads ? Kernel::kMinBlocksPerSm
                                                                  : kThreadsPerSm / Kernel::kMaxThreads;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kMaxThreads, kBlocksPerSm<Kernel>)
    bounded_gpu_entry([[maybe_unused]] const __grid_constant__ Kernel kernel) {
#if WIC_ON_GPU
  kernel(Thread{});
#endif
}

template <class Kernel, class = void>
inline constexpr bool kIsBounded = false;
template <class Kernel>
inline constexpr bool kIsBounded<Kernel, std::void_t<decltype(Kernel::kMaxThreads)>> = true;

template <class Kernel>
const void* gpu_entry_of() {
  if constexpr (kIsBounded<Kernel>) {
    return reinterpret_cast<const void*>(&bounded_gpu_entry<Kernel>);
  } else {
    return reinterpret_cast<const void*>(&gpu_entry<Kernel>);
  }
}

// Before main(), for each kernel that a program names in kernel_ref() or launch().
template <class Kernel>
inline const bool kRegistered = register_gpu_entry(gpu_entry_of<Kernel>());
#endif

template <class Kernel>
void cpu_entry(const void* kernel, const Thread& thread) {
  (*static_cast<const Kernel*>(kernel))(thread);
}

}  // namespace detail

/// The result refers to `kernel`, which must outlive it.
template <class Kernel>
KernelRef kernel_ref(const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel> && sizeof(Kernel) <= 4096);
#if WIC_CUDA_COMPILER
  static_cast<void>(detail::kRegistered<Kernel>);
  const void* gpu_entry = detail::gpu_entry_of<Kernel>();
#else
  const void* gpu_entry = nullptr;
#endif
  return {gpu_entry, &detail::cpu_entry<Kernel>, &kernel, sizeof(Kernel)};
}

template <class Kernel>
Result<> launch(Stream& stream, const LaunchShape& shape, const Kernel& kernel) {
  return stream.launch(shape, kernel_ref(kernel));
}

}  // namespace wic
