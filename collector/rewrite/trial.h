// A patched image is tried beside the original before the program gets it: the driver must take it, and its kernels
// must not need more of the device than the original ones.
#pragma once

#include <string>
#include <vector>

#include "collector/rewrite/load_steps.h"
#include "collector/rewrite/rewrite_driver.h"
#include "rewriter/load/replacement.h"

namespace wicprof::collector {

/// What a kernel takes of the device.
struct KernelNeeds {
  int registers = 0;     ///< per thread
  int local_bytes = 0;   ///< per thread
  int shared_bytes = 0;  ///< per block, static
  int most_threads = 0;  ///< per block
};

/// Warps of such a kernel that an SM has registers for, at most 64.
int resident_warps(const KernelNeeds& needs);

/// Empty if `patched` fits as well as `original`; else what it needs more of. `calls`: its looks are calls, whose
/// function has local memory of its own.
std::string worse_needs(const KernelNeeds& original, const KernelNeeds& patched, bool calls = false);

/// The most registers per thread with which an SM has room for so many warps.
int registers_for(int warps);

/// Empty if the program may have `replacement` in the place of `original`; else why not. The driver compiles the text
/// as it will for the program, and keeps the machine code in its own cache. What its kernels need is compared with what
/// those of the original need, which is compiled for that if it has no machine code, but only where the needs of the
/// patched ones may count. Kernels get limits for their registers where fewer warps would fit; the replacement is made
/// without those that need more even so (Replacement::kernels_left_alone). At most three compilations of the
/// replacement.
std::string try_replacement(const RewriteDriver& driver, const void* original, rewriter::Replacement& replacement,
                            CUdevice device, LoadSteps& steps);

}  // namespace wicprof::collector
