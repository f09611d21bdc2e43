// One line of `wic-prof doctor`.
#pragma once

#include <string>
#include <vector>

namespace wicprof::cli {

enum class CheckState { ok, missing, not_applicable };

struct Check {
  std::string name;
  CheckState state = CheckState::ok;
  std::string detail;      ///< what was found
  std::string cure;        ///< what to do about a lack; empty otherwise
  bool essential = false;  ///< without it wic-prof cannot do its main job here, not even on the CPU device
};

std::vector<Check> host_checks();
std::vector<Check> gpu_checks();

}  // namespace wicprof::cli
