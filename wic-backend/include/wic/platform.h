// Which compiler reads a kernel's source: nvcc for the GPU, or the host compiler for the CPU device.
#pragma once

#if defined(__CUDACC__)
#define WIC_DEVICE __host__ __device__
// A function that a kernel calls, so that its instructions and registers are not repeated at each place of a call.
#define WIC_OUT_OF_LINE __noinline__ __host__ __device__
#define WIC_CUDA_COMPILER 1
#else
#define WIC_DEVICE
#define WIC_OUT_OF_LINE
#define WIC_CUDA_COMPILER 0
#endif

// 1 while the compiler generates code for a GPU.
#if defined(__CUDA_ARCH__)
#define WIC_ON_GPU 1
#else
#define WIC_ON_GPU 0
#endif

// Before a loop that spends its time in memory or asleep: unrolled, it would only take more registers.
#if WIC_ON_GPU
#define WIC_ROLLED _Pragma("unroll 1")
#else
#define WIC_ROLLED
#endif
