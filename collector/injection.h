// What InitializeInjection() sets up, once per process.
#pragma once

namespace wicprof::collector {

/// Attaches to the session, claims a ring and starts the collector. A failure leaves the program unchanged and writes
/// the reason to the ring if one was claimed.
void start_once() noexcept;

/// NVTX's entry point: connects the program's NVTX to the collector's CUPTI. False: NVTX stays unconnected.
bool connect_nvtx(void* get_export_table) noexcept;

}  // namespace wicprof::collector
