// The rows of a trace as values. Times are host nanoseconds; NULL columns are std::optional. docs/schema.md has the
// SQL. Rows that come from events: store/format/tables/; the others are here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "store/format/event_tables.h"

namespace wicprof::store {

/// Samples of one program counter with one stall reason, over the whole run.
struct PcTotalRow {
  std::optional<std::uint32_t> process;
  DeviceId device;
  std::string function;  ///< demangled
  std::string symbol;    ///< as in its module
  std::uint64_t module;
  std::uint64_t offset;  ///< bytes from the start of the function
  std::string reason;    ///< CUPTI's name without its prefix
  std::uint64_t samples;
  std::string file;    ///< empty = not known
  std::uint32_t line;  ///< 0 = not known
  TimeNs begin, end;   ///< of the intervals that the samples come from
};

/// One machine instruction of a function that has samples.
struct SassRow {
  std::uint64_t module;
  std::string symbol;
  std::uint64_t offset;                 ///< bytes from the start of the function
  std::string text;                     ///< guard predicate, operation, operands
  std::optional<std::uint64_t> target;  ///< of a branch, in the same function
  std::string file;                     ///< empty = not known
  std::uint32_t line;                   ///< 0 = not known
};

/// A counter about the trace itself: what was lost, what could not be observed, what recording cost.
struct StatRow {
  enum class Severity : std::uint8_t { info = 0, data_loss = 1, error = 2 };
  std::string name;    ///< from store/format/stat_list.h
  std::string detail;  ///< which ring, device or reason; may be empty
  Severity severity;
  std::int64_t value;
};

/// What a digest sums up.
enum class SumOf : std::uint8_t {
  mpi_call,
  wait,
  signal,
  host_wait,
  kernel,
  copy,
  call,
  nvtx,
  thread_sample,
  iteration,
  work,          ///< what a rank did between calls of MPI; its parts are no rows of the trace
  work_of_nccl,  ///< the same beside kernels of NCCL
  turns,         ///< what turns of others on a device cost a context; no rows of the trace, as what follows
  turn_parts,    ///< more of the row of turns before
};

/// Of a digest: rows of one process that the digest does not have one by one.
struct DigestSumRow {
  SumOf of = SumOf::mpi_call;
  std::uint32_t detail = 0;  ///< of MPI calls: the operation; of host waits: what was awaited; else 0.
                             ///< Of work: the part, as in analyzer/ranks/work_sums.cpp. Of turns: the device; of
                             ///< their parts: which, as in analyzer/waits/turn_sums.cpp
  std::string name;          ///< of the site, call or kernel; empty: of all, or of those that have no sum of their own
  std::uint64_t rows = 0;
  TimeNs begin = 0, end = 0;  ///< from the first begin to the last end
  TimeNs total = 0, longest = 0;
  ProcessId process = 0;
};

}  // namespace wicprof::store
