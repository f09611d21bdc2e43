// The environment of a traced program (protocol/environment.h).
#pragma once

#include <string>
#include <vector>

#include "cli/record/capture.h"

namespace wicprof::cli {

struct AppEnvironment {
  std::vector<std::string> entries;  ///< "NAME=value"
  std::vector<std::string> files;    ///< paths that the program needs to be recorded
  std::vector<std::string>
      not_seen;  ///< what is not recorded, since the program does not load a library of ours, and why
};

/// This process's environment plus the variables that a traced program needs, without those that name a library which
/// `program` cannot load. Warns about every variable whose value it replaces. `program`: the path of its file;
/// `modules_folder`: receives the sampled modules, empty = do not save them; `mpi_program`: whose calls of MPI are
/// recorded, empty = none.
AppEnvironment app_environment(const std::string& program, const std::string& session_path, const CapturePlan& capture,
                               const std::string& modules_folder, const std::string& mpi_program);

/// The libcupti that the program loads: $WICPROF_CUPTI_PATH, else the one in CUDA's install folders or the loader's
/// search path. Empty when none is found.
std::string find_cupti();

}  // namespace wicprof::cli
