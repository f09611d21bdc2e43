// The GPUs that the driver sees.
#include <fmt/format.h>

#include "cli/checks/check.h"

namespace wicprof::cli {

template <>
std::vector<Check> run_check<struct Gpus>(const Machine& machine) {
  Check check{"GPU", CheckState::missing, {}, {}, false};
  if (!machine.driver) {
    check.detail = "none, since there is no usable driver";
    check.cure = "programs run on the CPU device: --devices simt:1";
  } else if (machine.driver->devices.empty()) {
    check.detail = "the driver sees none";
    check.cure = "see nvidia-smi and CUDA_VISIBLE_DEVICES; programs run on the CPU device: --devices simt:1";
  } else {
    check.state = CheckState::ok;
    for (const CudaDevice& device : machine.driver->devices) {
      check.detail += fmt::format("{}cuda:{} {}", check.detail.empty() ? "" : ", ", device.ordinal, device.name);
    }
  }
  return {check};
}

}  // namespace wicprof::cli
