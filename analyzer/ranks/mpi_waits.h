// Which processes of a job waited for which others in calls of MPI and NCCL, in Scalasca's words: late sender, late
// receiver, wait at a collective.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/ranks/efficiency.h"
#include "analyzer/ranks/rank_work.h"
#include "analyzer/trace/trace_model.h"
#include "protocol/mpi_operation.h"

namespace wicprof::analyzer {

/// What makes the calls of different ranks one collective.
struct CollectiveKey {
  CommunicatorId communicator = 0;
  MpiOperation operation = MpiOperation::none;  ///< only of NCCL, which numbers the collectives of each operation
  std::uint32_t sequence = 0;
  auto operator<=>(const CollectiveKey&) const = default;
};
/// `row`: with communicator and sequence.
constexpr CollectiveKey collective_key(const auto& row) {
  return {*row.communicator, is_nccl(row.operation) ? row.operation : MpiOperation::none, *row.sequence};
}

/// The numbers by which calls name processes: ranks in MPI_COMM_WORLD, and in NCCL's calls, ranks in the communicator.
class RankNumbers {
 public:
  explicit RankNumbers(const TraceModel& model);
  /// Of the process of a row of MPI or NCCL; empty: not known.
  std::optional<std::int32_t> of(const auto& row) const {
    if (!is_nccl(row.operation)) return find(world_, row.process);
    return row.communicator ? find(in_, std::pair(*row.communicator, row.process)) : std::nullopt;
  }
  const std::map<store::ProcessId, std::int32_t>& world() const { return world_; }
  const std::map<std::pair<CommunicatorId, store::ProcessId>, std::int32_t>& in_communicators() const { return in_; }

 private:
  static std::optional<std::int32_t> find(const auto& numbers, const auto& key) {
    const auto found = numbers.find(key);
    return found == numbers.end() ? std::nullopt : std::optional(found->second);
  }
  std::map<store::ProcessId, std::int32_t> world_;
  std::map<std::pair<CommunicatorId, store::ProcessId>, std::int32_t> in_;
};

/// No wait is shorter: the clocks of two processes of one machine agree within this. Nor than the error of the
/// clocks of two machines.
inline constexpr TimeNs kShortestMpiWait = kMicrosecond;
/// The same of kernels on two devices: the ends of matched kernels of NCCL on two H100 of one machine differed by 22 us
/// in the median, and by 27 us at most.
inline constexpr TimeNs kShortestNcclWait = 30 * kMicrosecond;

enum class MpiWaitKind : std::uint8_t { collective, late_sender, late_receiver };
/// "wait at collective", ...
std::string_view mpi_wait_kind_name(MpiWaitKind kind);

/// A part of a call in which a process could not go on, since another one had not come.
struct MpiWait {
  MpiWaitKind kind = MpiWaitKind::collective;
  MpiOperation operation = MpiOperation::none;  ///< the call that waited
  CommunicatorId communicator = 0;
  std::uint32_t sequence = 0;
  TimeNs begin = 0, end = 0;  ///< from the call's begin to the other's arrival, or to the call's end
  store::ProcessId waiter = 0, late = 0;
  std::uint32_t weight = 1;  ///< in sums: more than 1 where a digest kept one of so many
  /// Of NCCL: how long it also waited while the rank's devices had other work, which is not in [begin, end).
  TimeNs beside_ns = 0;
  TimeNs enqueued = 0;    ///< of NCCL: when the host called for the kernel that waited; else the call's begin
  TimeNs counted_ns = 0;  ///< of length(): what it costs; of NCCL less where waits repeat (count_repeated_once())
  TimeNs length() const { return end - begin; }
  TimeNs weighted() const { return length() * weight; }
};

/// The calls of one operation; of NCCL, the kernels that they enqueued.
struct MpiOperationStats {
  MpiOperation operation = MpiOperation::none;
  std::uint64_t calls = 0;
  TimeNs total_ns = 0, max_ns = 0;
  TimeNs waited_ns = 0;  ///< of total_ns: waits for late processes
};

/// A collective whose processes are all in the trace.
struct MpiCollective {
  MpiOperation operation = MpiOperation::none;
  CommunicatorId communicator = 0;
  std::uint32_t sequence = 0;
  store::ProcessId last = 0;  ///< to arrive
  TimeNs late_ns = 0;         ///< how much later than the last but one
  TimeNs waited_ns = 0;       ///< of all others, for the last one
  std::uint32_t weight = 1;   ///< as a wait's
};

/// What a rank costs the others by waits as far as they count; sums are weighted. A process that was late since it
/// waited itself passes that part on to whom it waited for.
struct RankCost {
  std::int32_t rank = 0;
  store::ProcessId process = 0;
  /// Time that others waited for it, summed; of NCCL with the transfers that would have run beside the others' work,
  /// and with the time by which kernels that waited slowed that work.
  TimeNs cost_ns = 0;
  TimeNs beyond_waits_ns = 0;                   ///< the part of cost_ns that is no wait
  TimeNs largest_ns = 0;                        ///< the longest of these waits
  std::uint64_t times = 0;                      ///< calls of others that waited for it
  std::uint64_t collectives = 0;                ///< in which it came last and others waited
  MpiOperation operation = MpiOperation::none;  ///< in which others waited longest for it
  TimeNs waited_ns = 0;                         ///< its own waits for others
};

/// The waits for one process in one collective or for one message.
struct LateArrival {
  TimeNs cost_ns = 0;  ///< weighted
  store::ProcessId late = 0;
};

struct MpiWaits {
  std::vector<MpiOperationStats> operations;  ///< most time first
  std::vector<MpiWait> waits;                 ///< in order of begin
  std::vector<MpiCollective> collectives;     ///< most waiting first
  std::vector<RankCost> ranks;                ///< most cost first; one per process that called MPI
  std::vector<LateArrival> arrivals;          ///< most cost first
  std::vector<RankWork> work;                 ///< what the ranks did between calls; empty: the trace does not have it
  LateRankCause why;                          ///< why the first of `ranks` came late
  std::optional<RankEfficiency> efficiency;   ///< empty: the trace does not show it
  std::uint64_t incomplete = 0;               ///< collectives that lack a process, or whose operations differ
  std::uint64_t without_kernel = 0;           ///< calls of NCCL whose kernel is not in the trace
  std::uint64_t messages = 0, unmatched = 0;  ///< messages with both ends in the trace; receives without their send
};

MpiWaits mpi_waits(const TraceModel& model);
/// Whether the job's calls are all of NCCL.
bool only_nccl(const MpiWaits& mpi);

/// Calls of MPI by all processes, with those that digests do not have one by one: where the model has fewer rows, waits
/// are estimates.
std::uint64_t count_mpi_calls(const TraceModel& model);
/// The processes of the communicators.
std::size_t mpi_processes(const TraceModel& model);

}  // namespace wicprof::analyzer
