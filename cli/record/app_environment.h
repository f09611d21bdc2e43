// The environment of a traced program (protocol/environment.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wicprof::cli {

/// This process's environment plus what a traced program needs, as "NAME=value". Warns where it must replace something.
/// `trace`: for WICPROF_TRACE; `nvtx_open`: whether ranges are to be told of when they begin; `modules_folder`: where
/// sampled modules go, empty = nowhere.
std::vector<std::string> app_environment(const std::string& session_path, const std::string& trace, bool nvtx_open,
                                         const std::string& modules_folder);

/// A libcupti for the program to load: $WICPROF_CUPTI_PATH, else where CUDA installs it. Empty when there is none.
std::string find_cupti();

}  // namespace wicprof::cli
