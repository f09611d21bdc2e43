// The collector's settings from environment variables. Their names, and which of them `wic-prof run` sets, are in
// protocol/environment.h: CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH = the collector, WICPROF_SESSION = the
// session file, WICPROF_TRACE if the user wants other sources than
// the default.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/environment.h"

namespace wicprof::collector {

struct Environment {
  std::string session;             ///< empty: no session, nothing is recorded
  std::string cupti_path;          ///< empty: load_cupti() searches
  std::string nvtx_cupti;          ///< the libcupti that already receives the NVTX ranges; empty: none
  std::vector<std::string> trace;  ///< words of kTraceVariable
  unsigned flush_ms = 100;         ///< flush period; 0: flush only at exit
};

Environment read_environment();

/// The value of kModulesVariable; empty: modules are not saved.
std::string modules_folder();

/// The value of kPcSamplesVariable; a million by default.
std::uint64_t samples_per_second();

/// Whether kRewriteVariable asks for the driver's compilation of a module without a patch.
bool recompile_only();

/// Whether patched loops count their waits: unless kRewriteVariable says otherwise.
bool counts_waits();

/// Whether kNvtxOpenVariable requests an event at the start of each NVTX range.
bool nvtx_open_wanted();

/// The variable that has the driver write dumps of the GPU; empty: none is set.
std::string gpu_dump_variable();

/// The words of a comma-separated list, without spaces and empty words.
std::vector<std::string> split_list(const std::string& text);

}  // namespace wicprof::collector
