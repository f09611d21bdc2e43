// The environment variables through which `wic-prof run` reaches into the program that it starts.
#pragma once

namespace wicprof {

// kSessionVariable (protocol/session.h) names the session file.

/// Read by the CUDA driver at cuInit: the library whose InitializeInjection() it calls.
inline constexpr char kCudaInjectionVariable[] = "CUDA_INJECTION64_PATH";
/// Read by the NVTX headers at their first call: the library that receives the ranges. Name the collector here too: it
/// passes them to the very libcupti that it loads. (Naming that libcupti directly works as well.)
inline constexpr char kNvtxInjectionVariable[] = "NVTX_INJECTION64_PATH";
/// Eager loading: a kernel that spins must not stand in the way of the first launch of another one.
inline constexpr char kModuleLoadingVariable[] = "CUDA_MODULE_LOADING";
/// What the collector records: a comma list, by default "cuda,nvtx". Words: cuda (all but nvtx), nvtx, or single sources:
/// devices, kernels, copies, calls, host_waits.
inline constexpr char kTraceVariable[] = "WICPROF_TRACE";
/// Where libcupti lies, when it is not where the collector looks.
inline constexpr char kCuptiPathVariable[] = "WICPROF_CUPTI_PATH";
/// Milliseconds between two hand-overs of what CUPTI has gathered, by default 100; 0 hands over at exit only.
inline constexpr char kFlushVariable[] = "WICPROF_FLUSH_MS";

/// A folder for the modules (cubins) that were sampled, one file each: <crc>.cubin.
inline constexpr char kModulesVariable[] = "WICPROF_MODULES";

/// The collector's file name.
inline constexpr char kInjectionLibrary[] = "libwicprof_inject.so";

}  // namespace wicprof
