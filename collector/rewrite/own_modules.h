// Modules of ours for the driver. Their machine code is made when this library is built, so that no process waits for
// the driver's compiler.
#pragma once

#include "collector/rewrite/rewrite_driver.h"

namespace wicprof::collector {

/// A module in two forms, both for cuLibraryLoadData().
struct OwnModule {
  /// For the major architectures that the build's compiler knows; nullptr: it was built without one.
  const void* machine_code = nullptr;
  const char* ptx = nullptr;  ///< for sm_70 and later
};

/// Kernels __wic_asked and __wic_answer, which do nothing.
OwnModule asked_module();
OwnModule answer_module();
/// Kernel __wic_clock, which answers DeviceClock.
OwnModule clock_module();

/// Loads the machine code, or else the PTX, which the driver compiles in some 10 ms.
CUresult load_own(const RewriteDriver& driver, const OwnModule& module, CUlibrary& library);

}  // namespace wicprof::collector
