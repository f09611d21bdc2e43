// The environment of a traced program (protocol/environment.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wicprof::cli {

/// This process's environment plus the variables that a traced program needs, as "NAME=value". Warns about every
/// variable whose value it replaces. `trace`: the value of WICPROF_TRACE; `nvtx_open`: also report NVTX ranges when
/// they begin; `modules_folder`: receives the sampled modules, empty = do not save them.
std::vector<std::string> app_environment(const std::string& session_path, const std::string& trace, bool nvtx_open,
                                         const std::string& modules_folder);

/// The libcupti that the program loads: $WICPROF_CUPTI_PATH, else the one in CUDA's install folders or the loader's
/// search path. Empty when none is found.
std::string find_cupti();

}  // namespace wicprof::cli
