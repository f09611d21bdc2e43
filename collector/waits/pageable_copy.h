// Asynchronous copies that wait all the same: "for transfers from device memory to pageable host memory, the function
// returns only once the copy has completed" (CUDA Runtime API, API synchronization behavior). PyTorch makes them in
// tolist(), cpu() and numpy().
#pragma once

#include <cupti.h>

#include "collector/waits/driver_api.h"

namespace wicprof::collector {

/// Whether the call, one of those with WaitingCall::waits_if_pageable, is such a copy, and no stream records it into a
/// graph. Asks the driver, so that the caller must not take these calls for the program's. Any thread.
bool waits_for_pageable_copy(const DriverApi& api, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             const void* params);

}  // namespace wicprof::collector
