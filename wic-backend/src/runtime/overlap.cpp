#include "src/runtime/overlap.h"

#include <cstring>

namespace wic {

namespace {

bool is_on(const char* value) { return value != nullptr && *value != '\0' && std::strcmp(value, "0") != 0; }

}  // namespace

std::string what_prevents_overlap(const Lookup& variable) {
  if (is_on(variable("CUDA_LAUNCH_BLOCKING"))) {
    return "CUDA_LAUNCH_BLOCKING is set: each launch waits for its kernel, so a kernel that waits for a later launch "
           "or for the launching thread runs into its deadline; unset the variable";
  }
  // Nsight Compute sets it for the program that it profiles.
  if (variable("NV_COMPUTE_PROFILER_PERFWORKS_DIR") != nullptr) {
    return "Nsight Compute profiles this program: it runs each kernel alone, and several times, so a kernel that waits "
           "for another one or for the launching thread runs into its deadline; profile ranges (--replay-mode range or "
           "app-range), or leave such kernels out (--kernel-name)";
  }
  return {};
}

}  // namespace wic
