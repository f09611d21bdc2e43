// Launches a kernel, which is a trivially copyable function object:
//
//   struct Scale {
//     float* data;
//     WIC_DEVICE void operator()(const wic::Thread& thread) const { ... }
//   };
//   wic::launch(*stream, {blocks, threads}, Scale{data});
//
// A kernel whose blocks wait for each other has to fit the GPU as a whole. It can ask the compiler for it with two
// constants: `static constexpr int kMaxThreads = 256, kMinBlocksAnSm = 8;` (CUDA's launch bounds).
#pragma once

#include <type_traits>

#include "wic/device.h"

namespace wic {

namespace detail {

#if WIC_CUDA_COMPILER
template <class Kernel>
__global__ void gpu_entry([[maybe_unused]] const Kernel kernel) {
#if WIC_ON_GPU
  kernel(Thread{});
#endif
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kMaxThreads, Kernel::kMinBlocksAnSm)
    bounded_gpu_entry([[maybe_unused]] const Kernel kernel) {
#if WIC_ON_GPU
  kernel(Thread{});
#endif
}

template <class Kernel>
const void* gpu_entry_of() {
  if constexpr (requires { Kernel::kMaxThreads; }) {
    return reinterpret_cast<const void*>(&bounded_gpu_entry<Kernel>);
  } else {
    return reinterpret_cast<const void*>(&gpu_entry<Kernel>);
  }
}
#endif

template <class Kernel>
void cpu_entry(const void* kernel, const Thread& thread) {
  (*static_cast<const Kernel*>(kernel))(thread);
}

}  // namespace detail

/// Refers to `kernel`, which must outlive the result.
template <class Kernel>
KernelRef kernel_ref(const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel> && sizeof(Kernel) <= 4096);
#if WIC_CUDA_COMPILER
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
