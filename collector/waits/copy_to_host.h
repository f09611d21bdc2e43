// Copies to the host, for which a host thread may wait: for synchronous ones, and for asynchronous ones to memory that
// is not pinned: "for transfers from device memory to pageable host memory, the function will return only once the copy
// has completed" (CUDA Runtime API, API synchronization behavior). PyTorch makes such copies in tolist(), cpu() and
// numpy().
#pragma once

#include <cupti.h>

#include <cstdint>
#include <optional>

#include "collector/waits/driver_api.h"

namespace wicprof::collector {

/// What the parameters of a call say of its copy. The driver finds out whether an address is the host's or a device's
/// where the call does not say so.
struct CopyToHost {
  std::uintptr_t to = 0;
  bool surely_to_host = false;
  std::optional<std::uintptr_t> from;  ///< none: surely memory of a device
  CUstream stream = nullptr;           ///< in whose order the copy is; CU_STREAM_LEGACY for the default stream
};

/// nullopt: the call is no copy in waiting_calls.h, or surely goes elsewhere. Of the runtime's calls, asynchronous ones
/// alone. Any thread.
std::optional<CopyToHost> copy_to_host(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* params);

/// Whether an asynchronous copy waits: it goes from a device to memory that is not pinned, and no stream records it
/// into a graph. Asks the driver, so that the caller must not take these calls for the program's. Any thread.
bool waits_for_pageable(const DriverApi& api, const CopyToHost& copy);

}  // namespace wicprof::collector
