// Loads a module's kernels at once where the driver would load each of them at its first launch, which can wait for a
// kernel that runs: for good, if that one waits for the launch.
#pragma once

#include "collector/rewrite/rewrite_driver.h"

namespace wicprof::collector {

/// All kernels of `library` or of `module` (the other one is nullptr), in the current context. Call while nothing
/// waits. What cannot be loaded, and all of it with a driver older than CUDA 12.4, is left to its first launch.
void load_functions(const RewriteDriver& driver, CUlibrary library, CUmodule module);

}  // namespace wicprof::collector
