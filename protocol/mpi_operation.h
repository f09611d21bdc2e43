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
  // Messages
  bsend,
  rsend,
  ibsend,
  irsend,
  sendrecv_replace,
  start_send,  // a persistent request's
  start_recv,
  probe,
  mprobe,
  other,  // waits for other processes in a way that is not told
  // Collectives
  ialltoall,
  ialltoallv,
  ialltoallw,
  iallgather,
  iallgatherv,
  igather,
  igatherv,
  iscatter,
  iscatterv,
  ireduce_scatter,
  ireduce_scatter_block,
  iscan,
  iexscan,
  alltoallw,
  cart_sub,
  graph_create,
  dist_graph_create,
  win_create,  // in each of its ways
  win_fence,
  win_free,
};

inline constexpr std::array<std::string_view, 80> kMpiOperationNames{
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
    "MPI_Bsend",
    "MPI_Rsend",
    "MPI_Ibsend",
    "MPI_Irsend",
    "MPI_Sendrecv_replace",
    "MPI_Start of a send",
    "MPI_Start of a receive",
    "MPI_Probe",
    "MPI_Mprobe",
    "another call of MPI",
    "MPI_Ialltoall",
    "MPI_Ialltoallv",
    "MPI_Ialltoallw",
    "MPI_Iallgather",
    "MPI_Iallgatherv",
    "MPI_Igather",
    "MPI_Igatherv",
    "MPI_Iscatter",
    "MPI_Iscatterv",
    "MPI_Ireduce_scatter",
    "MPI_Ireduce_scatter_block",
    "MPI_Iscan",
    "MPI_Iexscan",
    "MPI_Alltoallw",
    "MPI_Cart_sub",
    "MPI_Graph_create",
    "MPI_Dist_graph_create",
    "MPI_Win_create",
    "MPI_Win_fence",
    "MPI_Win_free",
};

constexpr std::string_view mpi_operation_name(MpiOperation operation) {
  const auto index = static_cast<std::size_t>(operation);
  return index < kMpiOperationNames.size() ? kMpiOperationNames[index] : "another MPI call";
}
static_assert(mpi_operation_name(MpiOperation::cart_create) == "MPI_Cart_create");
static_assert(mpi_operation_name(MpiOperation::nccl_recv) == "ncclRecv");
static_assert(mpi_operation_name(MpiOperation::win_free) == "MPI_Win_free");

/// A call of NCCL only enqueues: a kernel of each rank does the work. NCCL numbers the collectives of each operation,
/// not those of a communicator, and names processes by their ranks in the communicator.
constexpr bool is_nccl(MpiOperation operation) {
  return operation >= MpiOperation::nccl_all_reduce && operation <= MpiOperation::nccl_recv;
}

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
    case MpiOperation::bsend:
    case MpiOperation::rsend:
    case MpiOperation::ibsend:
    case MpiOperation::irsend:
    case MpiOperation::sendrecv_replace:
    case MpiOperation::start_send:
      return MpiKind::sends;
    case MpiOperation::recv:
    case MpiOperation::irecv:
    case MpiOperation::nccl_recv:
    case MpiOperation::start_recv:
    case MpiOperation::probe:  // which leaves the message to a receive
    case MpiOperation::mprobe:
      return MpiKind::receives;
    case MpiOperation::other:
      return MpiKind::local;
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
    case MpiOperation::iscatter:
    case MpiOperation::iscatterv:
    case MpiOperation::nccl_broadcast:
      return MpiFlow::from_root;
    case MpiOperation::reduce:
    case MpiOperation::ireduce:
    case MpiOperation::gather:
    case MpiOperation::gatherv:
    case MpiOperation::igather:
    case MpiOperation::igatherv:
    case MpiOperation::nccl_reduce:
      return MpiFlow::to_root;
    case MpiOperation::scan:
    case MpiOperation::exscan:
    case MpiOperation::iscan:
    case MpiOperation::iexscan:
      return MpiFlow::prefix;
    default:
      return MpiFlow::all_to_all;
  }
}

/// Whether the call only begins a collective, which a request's completion ends. What NCCL's calls begin, their kernels
/// do: their requests, from the kernel's begin to its end.
constexpr bool mpi_begins_only(MpiOperation operation) {
  return operation == MpiOperation::ibarrier || operation == MpiOperation::ibcast ||
         operation == MpiOperation::ireduce || operation == MpiOperation::iallreduce || is_nccl(operation) ||
         (operation >= MpiOperation::ialltoall && operation <= MpiOperation::iexscan);
}

/// Whether the call begins a message, which a request's completion ends.
constexpr bool mpi_begins_message(MpiOperation operation) {
  switch (operation) {
    case MpiOperation::isend:
    case MpiOperation::issend:
    case MpiOperation::ibsend:
    case MpiOperation::irsend:
    case MpiOperation::irecv:
    case MpiOperation::start_send:
    case MpiOperation::start_recv:
      return true;
    default:
      return false;
  }
}

}  // namespace wicprof
