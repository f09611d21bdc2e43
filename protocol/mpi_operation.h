// The calls of MPI and of NCCL that are recorded: what the ranks of a job do together.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace wicprof {

/// Stored in traces: numbers are never changed.
enum class MpiOperation : std::uint8_t {
  none = 0,
  init,
  init_thread,
  finalize,
  send,
  ssend,
  recv,
  sendrecv,
  isend,
  issend,
  irecv,
  wait,
  waitall,
  waitany,
  waitsome,
  test,
  testall,
  testany,
  testsome,
  barrier,
  bcast,
  reduce,
  allreduce,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  gather,
  gatherv,
  scatter,
  scatterv,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  ibarrier,
  ibcast,
  ireduce,
  iallreduce,
  comm_dup,
  comm_split,
  comm_create,
  cart_create,
  nccl_all_reduce,
  nccl_broadcast,
  nccl_reduce,
  nccl_all_gather,
  nccl_reduce_scatter,
  nccl_send,
  nccl_recv,
};

inline constexpr std::array<std::string_view, 50> kMpiOperationNames{
    "",
    "MPI_Init",
    "MPI_Init_thread",
    "MPI_Finalize",
    "MPI_Send",
    "MPI_Ssend",
    "MPI_Recv",
    "MPI_Sendrecv",
    "MPI_Isend",
    "MPI_Issend",
    "MPI_Irecv",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Waitany",
    "MPI_Waitsome",
    "MPI_Test",
    "MPI_Testall",
    "MPI_Testany",
    "MPI_Testsome",
    "MPI_Barrier",
    "MPI_Bcast",
    "MPI_Reduce",
    "MPI_Allreduce",
    "MPI_Allgather",
    "MPI_Allgatherv",
    "MPI_Alltoall",
    "MPI_Alltoallv",
    "MPI_Gather",
    "MPI_Gatherv",
    "MPI_Scatter",
    "MPI_Scatterv",
    "MPI_Reduce_scatter",
    "MPI_Reduce_scatter_block",
    "MPI_Scan",
    "MPI_Exscan",
    "MPI_Ibarrier",
    "MPI_Ibcast",
    "MPI_Ireduce",
    "MPI_Iallreduce",
    "MPI_Comm_dup",
    "MPI_Comm_split",
    "MPI_Comm_create",
    "MPI_Cart_create",
    "ncclAllReduce",
    "ncclBroadcast",
    "ncclReduce",
    "ncclAllGather",
    "ncclReduceScatter",
    "ncclSend",
    "ncclRecv",
};

constexpr std::string_view mpi_operation_name(MpiOperation operation) {
  const auto index = static_cast<std::size_t>(operation);
  return index < kMpiOperationNames.size() ? kMpiOperationNames[index] : "another MPI call";
}
static_assert(mpi_operation_name(MpiOperation::cart_create) == "MPI_Cart_create");
static_assert(mpi_operation_name(MpiOperation::nccl_recv) == "ncclRecv");

/// A call of NCCL only enqueues: a kernel of each rank does the work. NCCL numbers the collectives of each operation,
/// not those of a communicator, and names processes by their ranks in the communicator.
constexpr bool is_nccl(MpiOperation operation) { return operation >= MpiOperation::nccl_all_reduce; }

/// How a process takes part in an operation.
enum class MpiKind : std::uint8_t { local, sends, receives, collective };

constexpr MpiKind mpi_kind(MpiOperation operation) {
  switch (operation) {
    case MpiOperation::send:
    case MpiOperation::ssend:
    case MpiOperation::sendrecv:  // its receive is a row of its own
    case MpiOperation::isend:
    case MpiOperation::issend:
    case MpiOperation::nccl_send:
      return MpiKind::sends;
    case MpiOperation::recv:
    case MpiOperation::irecv:
    case MpiOperation::nccl_recv:
      return MpiKind::receives;
    default:
      return operation >= MpiOperation::barrier ? MpiKind::collective : MpiKind::local;
  }
}

/// Who waits for whom in a collective.
enum class MpiFlow : std::uint8_t { all_to_all, from_root, to_root, prefix };

constexpr MpiFlow mpi_flow(MpiOperation operation) {
  switch (operation) {
    case MpiOperation::bcast:
    case MpiOperation::ibcast:
    case MpiOperation::scatter:
    case MpiOperation::scatterv:
    case MpiOperation::nccl_broadcast:
      return MpiFlow::from_root;
    case MpiOperation::reduce:
    case MpiOperation::ireduce:
    case MpiOperation::gather:
    case MpiOperation::gatherv:
    case MpiOperation::nccl_reduce:
      return MpiFlow::to_root;
    case MpiOperation::scan:
    case MpiOperation::exscan:
      return MpiFlow::prefix;
    default:
      return MpiFlow::all_to_all;
  }
}

/// Whether the call only begins a collective, which a request's completion ends. What NCCL's calls begin, their kernels
/// do: their requests, from the kernel's begin to its end.
constexpr bool mpi_begins_only(MpiOperation operation) {
  return operation == MpiOperation::ibarrier || operation == MpiOperation::ibcast ||
         operation == MpiOperation::ireduce || operation == MpiOperation::iallreduce || is_nccl(operation);
}

}  // namespace wicprof
