// What InitializeInjection() sets up, once a process.
#pragma once

namespace wicprof::collector {

/// Attaches to the session, claims a ring, starts the collector. Whatever fails leaves the program as it was; the
/// reason goes to the ring, where there is one.
void start_once() noexcept;

/// NVTX's entry: hands the program's NVTX to the CUPTI that the collector uses. False: nobody listens.
bool connect_nvtx(void* get_export_table) noexcept;

}  // namespace wicprof::collector
