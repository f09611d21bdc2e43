// The environment variables through which `wic-prof run` instruments the program that it starts.
#pragma once

namespace wicprof {

// kSessionVariable (protocol/session.h) names the session file.

/// Read by the CUDA driver at cuInit: the library whose InitializeInjection() it calls.
inline constexpr char kCudaInjectionVariable[] = "CUDA_INJECTION64_PATH";
/// Read by the NVTX headers at their first call: the library that receives the ranges. Name the collector here too: it
/// passes them to the very libcupti that it loads. (Naming that libcupti directly works as well.)
inline constexpr char kNvtxInjectionVariable[] = "NVTX_INJECTION64_PATH";
/// The program's own choice, which `run` leaves as it is: LAZY, the default since CUDA 12.2, or EAGER.
inline constexpr char kModuleLoadingVariable[] = "CUDA_MODULE_LOADING";
inline constexpr char kLaunchBlockingVariable[] = "CUDA_LAUNCH_BLOCKING";
/// The program's own choice: the driver writes dumps of the GPU at faults, or when somebody asks for one.
inline constexpr const char* kGpuDumpVariables[] = {"CUDA_ENABLE_COREDUMP_ON_EXCEPTION",
                                                    "CUDA_ENABLE_USER_TRIGGERED_COREDUMP"};
/// What the collector records: a comma list, by default "cuda,nvtx". Words: cuda (devices, kernels, copies, calls,
/// host_waits, syncs, events, overhead, graphs), nvtx, uvm, graphs, nodes, pcsampling, or single sources by name. The
/// collector ignores the tool's own words (host).
inline constexpr char kTraceVariable[] = "WICPROF_TRACE";
/// The folder for sampled modules (cubins), one file <crc>.cubin per module.
inline constexpr char kModulesVariable[] = "WICPROF_MODULES";
/// Largest number of program counters sampled per second, over all GPUs of a process; by default a million.
inline constexpr char kPcSamplesVariable[] = "WICPROF_PC_SAMPLES";
/// The path of libcupti, where the collector does not find it.
inline constexpr char kCuptiPathVariable[] = "WICPROF_CUPTI_PATH";
/// Milliseconds between two flushes of CUPTI's buffers, by default 100; 0 = flush only at exit.
inline constexpr char kFlushVariable[] = "WICPROF_FLUSH_MS";
/// Milliseconds until `run` says that something may hang (cli/record/long_wait.h).
inline constexpr char kLongWaitVariable[] = "WICPROF_LONG_WAIT_MS";
/// "1": the collector also reports NVTX ranges when they begin (protocol/events/nvtx.h: NvtxOpenEvent).
inline constexpr char kNvtxOpenVariable[] = "WICPROF_NVTX_OPEN";

/// For measurements of what the source `rewrite` does. "recompile": what it would patch is compiled by the driver
/// without the patch, since the driver's compiler is not that of the program. "uncounted": patched loops do not count
/// waits.
inline constexpr char kRewriteVariable[] = "WICPROF_REWRITE";

/// The collector's file name.
inline constexpr char kInjectionLibrary[] = "libwicprof_inject.so";
/// Preloaded where code is patched: it keeps the PTX of what the program compiles with NVRTC.
inline constexpr char kNvrtcLibrary[] = "libwicprof_nvrtc.so";
/// Preloaded into programs of MPI: it records their calls.
inline constexpr char kMpiLibrary[] = "libwicprof_mpi.so";
/// NCCL's plugin: it records collectives and messages.
inline constexpr char kNcclLibrary[] = "libwicprof_nccl.so";
/// Read by NCCL when a communicator is made: the plugin that it loads.
inline constexpr char kNcclPluginVariable[] = "NCCL_PROFILER_PLUGIN";
inline constexpr char kPreloadVariable[] = "LD_PRELOAD";

}  // namespace wicprof
