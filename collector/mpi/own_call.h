// The call of MPI that a thread is in, where `wic-prof stuck` sees it.
#pragma once

#include <cstddef>

#include "protocol/open_work.h"

namespace wicprof::collector {

/// Before the others, once per process. `work` is never unmapped.
void show_mpi_calls(OpenWork& work);

/// The calling thread enters a call, whose first `awaited` requests are known. Adds the thread to `call`.
void enter_mpi_call(OpenMpiCall& call, std::size_t awaited) noexcept;
void leave_mpi_call(TimeNs at) noexcept;

}  // namespace wicprof::collector
