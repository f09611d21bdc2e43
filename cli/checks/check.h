// What one check of `wic-prof doctor` looks at and reports.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/checks/cuda_driver.h"
#include "cli/checks/patched_code.h"
#include "protocol/result.h"

namespace wicprof::cli {

enum class CheckState { ok, missing, not_applicable };

/// One line of the answer.
struct Check {
  std::string name;
  CheckState state = CheckState::ok;
  std::string detail;      ///< what the check found
  std::string cure;        ///< how to fix what is missing; otherwise empty
  bool essential = false;  ///< without this, wic-prof cannot do its main job here, not even on the CPU device
};

/// What several checks need, probed once.
struct Machine {
  Result<std::string> session_folder;
  std::optional<std::string> collector;  ///< path of the collector's library
  PatchedCode patched_code;              ///< asked before `driver`, in this order of the members
  Result<CudaDriver> driver;
};

/// Runs one check; returns its lines, none if the check does not apply. Declared only: each check's file specializes it
/// for the check's tag, which list.h names.
template <class Tag>
std::vector<Check> run_check(const Machine& machine);

}  // namespace wicprof::cli
