// The words that --trace and WICPROF_TRACE accept.
#pragma once

#include <array>
#include <string_view>

namespace wicprof {

/// Recorded by wic-prof itself, not by the collector in the program.
inline constexpr std::string_view kHostWord = "host";
/// By a library that is preloaded, not by the collector.
inline constexpr std::string_view kMpiWord = "mpi";
/// By NCCL's plugin.
inline constexpr std::string_view kNcclWord = "nccl";
/// Recorded by wic-prof itself; `run --energy` adds it.
inline constexpr std::string_view kEnergyWord = "energy";
inline constexpr std::string_view kNoneWord = "none";
/// Patches the waiting loops of kernels and records their waits; `run --rewrite` adds it.
inline constexpr std::string_view kRewriteWord = "rewrite";

struct TraceWord {
  std::string_view word;
  std::string_view meaning;  ///< empty: a single source that is part of another word
};

/// Groups first, then single sources. A collector built without a source reports that.
inline constexpr std::array kTraceWords{
    TraceWord{"cuda", "kernels, copies, calls, synchronizations, host waits"},
    TraceWord{"nvtx", "ranges and marks"},
    TraceWord{"uvm", "managed memory: faults and migrations"},
    TraceWord{"pcsampling", "where warps stall, by samples of program counters"},
    TraceWord{"graphs", "launches of CUDA graphs as a whole"},
    TraceWord{"nodes", "kernels and copies of CUDA graphs one by one"},
    TraceWord{"launches", "kernels not ended yet, for wic-prof stuck"},
    TraceWord{kMpiWord, "calls of MPI, also where the program that is started is not itself linked with MPI"},
    TraceWord{kNcclWord, "collectives and messages of NCCL"},
    TraceWord{kHostWord, "what the operating system's scheduler does with threads"},
    TraceWord{kEnergyWord, "what GPUs and processors use, by NVML and RAPL, and clocks and temperatures of GPUs"},
    TraceWord{kNoneWord, "only what the wic runtime records"},
    TraceWord{"devices", ""},
    TraceWord{"kernels", ""},
    TraceWord{"copies", ""},
    TraceWord{"calls", ""},
    TraceWord{"host_waits", ""},
    TraceWord{"syncs", ""},
    TraceWord{"events", ""},
    TraceWord{"overhead", ""},
};

inline constexpr std::string_view kDefaultTrace = "cuda,nvtx,host";

constexpr bool is_trace_word(std::string_view word) {
  for (const TraceWord& known : kTraceWords) {
    if (known.word == word) return true;
  }
  return false;
}

}  // namespace wicprof
