// What the ranks of a job did between their calls of MPI, or beside their kernels of NCCL, and so why one of them came
// late.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/ranks/device_states.h"
#include "analyzer/ranks/rank_devices.h"
#include "analyzer/ranks/rank_places.h"
#include "analyzer/ranks/same_work.h"
#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// Why a rank came late: what it did longer than the others.
enum class RankCause : std::uint8_t {
  unknown,        ///< the trace does not show it
  computed,       ///< it was on a CPU longer
  more_data,      ///< the same, and its messages and collectives had more bytes in proportion
  slept,          ///< it was neither on a CPU nor ready to run
  other_thread,   ///< the same, while other threads of the process ran, or wanted to, longer than those of other ranks
  child_process,  ///< the same, of processes that it had started
  throttled,      ///< a CPU quota had stopped it
  no_cpu,         ///< it was ready to run longer without a CPU
  kernels,        ///< it waited for its device longer, which ran kernels longer
  copies,         ///< the same, of copies
  slow_device,    ///< its device took longer for the kernels that the others ran, too
  slow_link,      ///< the same, of copies from and to its device
  shared_device,  ///< its kernels took longer since another program had its device by turns
  host,           ///< its host enqueued NCCL's kernels later, and the trace does not show why
};
struct RankCauseWords {
  std::string_view name;    ///< in JSON: "more data"
  std::string_view text;    ///< "it slept longer {}", with when for {}; empty: the trace does not show it
  std::string_view remedy;  ///< empty: none
};
const RankCauseWords& words_of(RankCause cause);

/// Of one rank. The times between calls of MPI are sums over its threads that call MPI. Of NCCL, whose calls only
/// enqueue, `outside` is the time in which the rank's devices did anything but only run kernels of NCCL, from the first
/// of these to the last one; the times of threads are those of threads that call NCCL, or of the program's first thread
/// where that waits for the device instead, without waits in calls of CUDA, which last as long as other ranks let them.
struct RankWork {
  store::ProcessId process = 0;
  TimeNs outside = 0;  ///< between calls of MPI: the sum of the next three; of NCCL: of kernels, copies and idle
  TimeNs cpu = 0, run_delay = 0, slept = 0;
  TimeNs run = 0;          ///< from the end of the first call to the begin of the last one; of NCCL: of all its kernels
  bool known = false;      ///< the trace has these times
  bool on_device = false;  ///< of NCCL
  TimeNs other_threads = 0;        ///< on a CPU or ready to run: threads of the process that do not call MPI, or NCCL
  TimeNs children = 0;             ///< the same, of processes that it started, and of theirs
  TimeNs device_waits = 0;         ///< waits in calls of CUDA
  TimeNs kernels = 0, copies = 0;  ///< of NCCL: kernels of others, and copies without kernels beside them
  TimeNs idle = 0;                 ///< of NCCL: the devices did nothing
  std::uint64_t bytes = 0;         ///< sent, and of its own buffers in collectives
  PlaceTimes places;
  CommonWork common;
};

/// By process, ascending: one for each that is in a communicator. `devices`: nullptr for times between calls of MPI;
/// for ranks that wait by NCCL, rank_devices(): where it has all ranks, the devices' times count.
std::vector<RankWork> rank_work(const TraceModel& model,
                                const std::map<store::ProcessId, RankDevices>* devices = nullptr);

/// Where the rank spends its further time.
struct LateRankPlace {
  RankPlace place;
  TimeNs longer_ns = 0;   ///< there, than the median of the others
  double confidence = 0;  ///< as the cause's: the part of the rank's further time that this one explains
};

struct LateRankCause {
  RankCause cause = RankCause::unknown;
  /// From 0 to 1: the part of the rank's further time between calls that the cause explains; less where that time is
  /// shorter than the waits of the others.
  double confidence = 0;
  TimeNs longer_ns = 0;  ///< RankWork::outside, than the median of the others
  TimeNs of_cause_ns = 0;
  std::optional<LateRankPlace> place;      ///< empty: no place explains half of the further time
  std::optional<SlowerWork> slower;        ///< of slow_device and slow_link
  std::optional<ComparedDevices> devices;  ///< of slow_device, where the trace has their clocks
};

/// Why the process came late, for which each other one waited `each` in the mean.
LateRankCause late_rank_cause(const TraceModel& model, const std::vector<RankWork>& ranks, store::ProcessId late,
                              TimeNs each);

}  // namespace wicprof::analyzer
