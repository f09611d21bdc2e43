// What the environment asks of the collector. The names, and which of them `wic-prof run` has to set, are in
// protocol/environment.h: CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH = the collector, WICPROF_SESSION = the
// session file, CUDA_MODULE_LOADING=EAGER unless the user chose otherwise, WICPROF_TRACE when something else than the
// default is wanted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/environment.h"

namespace wicprof::collector {

struct Environment {
  std::string session;             ///< empty: nobody listens
  std::string cupti_path;          ///< empty: look for it
  std::string nvtx_cupti;          ///< a libcupti that gets the NVTX ranges already; empty: none
  std::vector<std::string> trace;  ///< words of kTraceVariable
  unsigned flush_ms = 100;         ///< 0: only at exit
};

Environment read_environment();

/// kModulesVariable; empty: modules are not saved.
std::string modules_folder();

/// kPcSamplesVariable, or a million.
std::uint64_t samples_a_second();

/// Whether kNvtxOpenVariable asks for the begins of NVTX ranges.
bool nvtx_open_wanted();

/// The words of a comma list; spaces around them and empty ones do not count.
std::vector<std::string> split_list(const std::string& text);

}  // namespace wicprof::collector
