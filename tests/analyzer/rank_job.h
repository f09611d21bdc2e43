// A made job of ranks, whose calls a test adds one by one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/ranks/mpi_waits.h"

namespace wicprof::analyzer {

inline constexpr CommunicatorId kWorld = 77;
inline constexpr std::int32_t kTag = 5;

/// The process of a rank.
inline store::ProcessId process(std::int32_t rank) { return 100 + static_cast<store::ProcessId>(rank); }

/// A job of ranks that all begin at 0. Times in us.
class Job {
 public:
  explicit Job(std::int32_t ranks) : ranks_(ranks) {
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      store::MpiCommunicatorRow row;
      row.communicator = kWorld;
      row.rank = row.world_rank = rank;
      row.size = ranks;
      row.process = process(rank);
      model.mpi_communicators.push_back(row);
    }
  }

  store::MpiCallRow& call(MpiOperation operation, std::int32_t rank, TimeNs begin, TimeNs end) {
    store::MpiCallRow row;
    row.operation = operation;
    row.communicator = kWorld;
    row.process = process(rank);
    row.thread = process(rank);
    row.begin = begin * kMicrosecond;
    row.end = end * kMicrosecond;
    return model.mpi_calls.emplace_back(row);
  }
  /// Each rank arrives at its time; all leave 2 us after the last one, or after `end`.
  void collective(MpiOperation operation, const std::vector<TimeNs>& arrivals, std::optional<std::int32_t> root = {},
                  std::optional<TimeNs> end = {}) {
    ++sequence_;
    const TimeNs last = *std::max_element(arrivals.begin(), arrivals.end());
    for (std::int32_t rank = 0; rank < ranks_; ++rank) {
      const TimeNs begin = arrivals[static_cast<std::size_t>(rank)];
      store::MpiCallRow& row = call(operation, rank, begin, std::max(end.value_or(last + 2), begin + 1));
      row.sequence = sequence_;
      row.peer = root;
    }
  }
  void message(MpiOperation operation, std::int32_t rank, std::int32_t peer, TimeNs begin, TimeNs end,
               std::uint32_t number = 1) {
    store::MpiCallRow& row = call(operation, rank, begin, end);
    row.peer = peer;
    row.tag = kTag;
    row.sequence = number;
  }
  /// The completion of a receive or of a send.
  void completed(MpiOperation operation, std::int32_t rank, std::int32_t peer, TimeNs posted, TimeNs begin,
                 TimeNs end) {
    call(MpiOperation::waitall, rank, begin, end).communicator.reset();
    store::MpiRequestRow row;
    row.operation = operation;
    row.completed_by = MpiOperation::waitall;
    row.communicator = kWorld;
    row.sequence = 1;
    row.peer = peer;
    row.tag = kTag;
    row.process = row.thread = process(rank);
    row.posted = posted * kMicrosecond;
    row.begin = begin * kMicrosecond;
    row.end = end * kMicrosecond;
    model.mpi_requests.push_back(row);
  }
  MpiWaits waits() const { return mpi_waits(model); }
  /// How long others waited for a rank, in us.
  TimeNs cost(std::int32_t rank) const {
    for (const RankCost& each : waits().ranks) {
      if (each.rank == rank) return each.cost_ns / kMicrosecond;
    }
    return -1;
  }
  std::vector<Finding> findings(TimeNs length) {
    model.meta = {{"state", "complete"}, {"started_ns", "1"}, {"ended_ns", std::to_string(length * kMicrosecond)}};
    settle(model);
    std::vector<Finding> found;
    for (const Finding& finding : analyze(model).findings) {
      if (finding.rule == "late_rank") found.push_back(finding);
    }
    return found;
  }

  TraceModel model;

 private:
  std::int32_t ranks_;
  std::uint32_t sequence_ = 0;
};

/// One rank's part of an all-reduce of NCCL: its call, and its kernel. Times in ns.
inline void all_reduce_of(Job& job, std::int32_t rank, std::uint32_t sequence, Interval called, Interval kernel) {
  store::MpiCallRow& call = job.call(MpiOperation::nccl_all_reduce, rank, 0, 0);
  call.sequence = sequence;
  call.begin = called.begin;
  call.end = called.end;
  store::MpiRequestRow row;
  row.operation = row.completed_by = call.operation;
  row.communicator = kWorld;
  row.sequence = sequence;
  row.process = row.thread = process(rank);
  row.posted = called.begin;
  row.begin = kernel.begin;
  row.end = kernel.end;
  job.model.mpi_requests.push_back(row);
}
/// An all-reduce in which the kernels of the ranks begin and end then. Times in us.
inline void all_reduce(Job& job, std::uint32_t sequence, const std::vector<TimeNs>& begins, TimeNs end) {
  for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(begins.size()); ++rank) {
    const TimeNs begin = begins[static_cast<std::size_t>(rank)] * kMicrosecond;
    all_reduce_of(job, rank, sequence, {0, kMicrosecond}, {begin, end * kMicrosecond});
  }
}

inline void device_kernel(Job& job, std::int32_t rank, TimeNs begin, TimeNs end, const char* name = "work",
                          std::uint32_t grid = 1) {
  store::KernelRow kernel{};
  kernel.device = rank;
  kernel.name = name;
  kernel.grid[0] = grid;
  kernel.start = begin * kMicrosecond;
  kernel.end = end * kMicrosecond;
  kernel.process = process(rank);
  job.model.kernels.push_back(kernel);
}

}  // namespace wicprof::analyzer
