// What InitializeInjection() sets up, once per process.
#pragma once

#include "protocol/dormant.h"

namespace wicprof::collector {

/// Attaches to the session, claims a ring and starts the collector. A failure leaves the program unchanged and writes
/// the reason to the ring if one was claimed. Without a session the library waits to be woken (collector/dormant.h).
void start_once() noexcept;

/// What InitializeInjection() returns: 1 tells the driver that a tool is in the process. The driver writes no dumps of
/// the GPU then, so it is 0 where the program wants them and CUPTI is not in use. The driver keeps the library in both
/// cases.
int answer_to_driver() noexcept;

/// Records what `wic-prof attach` wants, until it wants no more. On a thread of ours, outside of cuInit().
void record_request(const WakeRequest& request) noexcept;

/// NVTX's entry point: connects the program's NVTX to the collector's CUPTI. False: NVTX stays unconnected.
bool connect_nvtx(void* get_export_table) noexcept;

}  // namespace wicprof::collector
