// Calls of MPI in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/stuck/mpi_ranks.h"

namespace wicprof::analyzer {

/// "rank 3", "ranks 0 to 2, 5"
std::string ranks_text(const std::vector<std::int32_t>& ranks);
/// "MPI_Barrier", "nccl:all_to_all"
std::string operation_name(const MpiJob& job, const OpenMpiCall& call);
/// "MPI_Barrier number 3 of MPI_COMM_WORLD"
std::string collective_name(const MpiJob& job, const OpenMpiCall& call);
/// The same, "MPI_Recv from rank 1 with tag 7", "MPI_Waitall for MPI_Irecv from rank 1, MPI_Isend to rank 2"
std::string call_name(const MpiJob& job, const OpenMpiCall& call);

}  // namespace wicprof::analyzer
