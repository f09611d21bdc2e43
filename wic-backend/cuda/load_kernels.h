// Loads the program's kernels before one of them waits.
#pragma once

namespace wic::cuda {

/// Loads the kernels of src/device/gpu_entries.h and all others of their modules, in the current context. A driver
/// older than CUDA 12.4 loads the former only. What cannot be loaded is left to its first launch.
void load_kernels();

}  // namespace wic::cuda
