// A GPU through the CUDA runtime.
#pragma once

#include <memory>
#include <vector>

#include "wic/device.h"

namespace wic::cuda {

/// Opens GPU number `ordinal`. Error: no driver, no such GPU.
Result<std::unique_ptr<Device>> open_cuda_device(int ordinal);

/// Enables each GPU's access to the others' memory where the hardware supports it.
void enable_peer_access(const std::vector<int>& ordinals);

}  // namespace wic::cuda
