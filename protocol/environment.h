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
/// What the collector records: a comma list, by default "cuda,nvtx". Words: cuda (devices, kernels, copies, calls,
/// host_waits, syncs, events, overhead), nvtx, uvm, graphs, pcsampling, or single sources by name. The tool's own words
/// (host) are none of the collector's business.
inline constexpr char kTraceVariable[] = "WICPROF_TRACE";
/// A folder for the modules (cubins) that were sampled, one file each: <crc>.cubin.
inline constexpr char kModulesVariable[] = "WICPROF_MODULES";
/// How many program counters a second PC sampling may take at most, over all GPUs of a process; by default a million.
inline constexpr char kPcSamplesVariable[] = "WICPROF_PC_SAMPLES";
/// Where libcupti lies, when it is not where the collector looks.
inline constexpr char kCuptiPathVariable[] = "WICPROF_CUPTI_PATH";
/// Milliseconds between two hand-overs of what CUPTI has gathered, by default 100; 0 hands over at exit only.
inline constexpr char kFlushVariable[] = "WICPROF_FLUSH_MS";
/// "1": the collector tells of NVTX ranges when they begin, too (protocol/events/nvtx.h: NvtxOpenEvent).
inline constexpr char kNvtxOpenVariable[] = "WICPROF_NVTX_OPEN";

/// The collector's file name.
inline constexpr char kInjectionLibrary[] = "libwicprof_inject.so";

}  // namespace wicprof
