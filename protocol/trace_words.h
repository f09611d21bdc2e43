// What --trace and WICPROF_TRACE may ask for.
#pragma once

#include <array>
#include <string_view>

namespace wicprof {

/// Of wic-prof itself, not of the collector in the program.
inline constexpr std::string_view kHostWord = "host";
inline constexpr std::string_view kNoneWord = "none";

struct TraceWord {
  std::string_view word;
  std::string_view meaning;  ///< empty: a single source, part of another word
};

/// Groups first, then single sources. The collector says so where it was built without one of them.
inline constexpr std::array kTraceWords{
    TraceWord{"cuda", "kernels, copies, calls, synchronizations, host waits"},
    TraceWord{"nvtx", "ranges and marks"},
    TraceWord{"uvm", "managed memory: faults and migrations"},
    TraceWord{"pcsampling", "where warps stall, by samples of program counters"},
    TraceWord{"graphs", "launches of CUDA graphs as a whole"},
    TraceWord{kHostWord, "what the operating system's scheduler does with threads"},
    TraceWord{kNoneWord, "nothing but what the wic runtime tells"},
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
