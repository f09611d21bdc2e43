// Matches the calls of NCCL in a trace with the kernels that carry them out: adds their rows of `mpi_request`.
#pragma once

#include "store/sqlite/sqlite.h"

namespace wicprof::store {

/// A call of NCCL ends when NCCL has launched its kernel on the calling thread: the last kernel of NCCL's that the
/// thread has launched by then. Calls of one group share one. A call whose kernel or whose launch is not in the trace
/// gets no row. Requires an open transaction. Returns SQLite's result code, 0 for success. Reads `call` once where the
/// trace has calls of NCCL, else nothing but `mpi_call`.
int match_nccl(Database& database);

}  // namespace wicprof::store
