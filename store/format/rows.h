// The rows of a trace as values. Times are host nanoseconds; NULL columns are std::optional. docs/schema.md has the
// SQL.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "protocol/events/copy.h"
#include "protocol/events/device.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/loss.h"
#include "protocol/events/nvtx.h"
#include "protocol/events/site.h"
#include "protocol/events/sync.h"
#include "protocol/events/uvm.h"
#include "protocol/events/wait.h"
#include "protocol/strategy.h"
#include "protocol/time.h"
#include "store/format/name.h"

namespace wicprof::store {

using RowId = std::int64_t;
using ProcessId = std::uint32_t;  ///< the process's pid; 0 = not known

/// A time, or nothing, in the room of a time: there may be millions of waits. Otherwise as std::optional<TimeNs>.
class OptionalTime {
 public:
  constexpr OptionalTime() = default;
  constexpr OptionalTime(std::nullopt_t) {}
  constexpr OptionalTime(TimeNs time) : time_(time) {}
  constexpr OptionalTime(const std::optional<TimeNs>& time) : time_(time.value_or(kNothing)) {}
  constexpr operator std::optional<TimeNs>() const { return has_value() ? std::optional(time_) : std::nullopt; }

  constexpr bool has_value() const { return time_ != kNothing; }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr TimeNs& operator*() { return time_; }
  constexpr const TimeNs& operator*() const { return time_; }
  constexpr TimeNs value_or(TimeNs otherwise) const { return has_value() ? time_ : otherwise; }
  constexpr void reset() { time_ = kNothing; }
  constexpr bool operator==(const OptionalTime&) const = default;

 private:
  static constexpr TimeNs kNothing = std::numeric_limits<TimeNs>::min();
  TimeNs time_ = kNothing;
};

struct ProcessRow {
  ProcessId id = 0;
  ProcessId parent = 0;
  std::string name, command;  ///< name: of the executable file
  std::optional<std::int32_t> rank, local_rank;
  TimeNs seen = 0;
};

struct DeviceRow {
  DeviceId id;
  DeviceKind kind;
  std::string name;
  std::uint32_t sm_count;
  std::uint64_t memory_bytes;
  std::optional<TimeNs> clock_error_ns;  ///< the worst error bound of the readings used; nothing without a clock
  std::uint32_t compute_major = 0, compute_minor = 0;  ///< 0 where it has no meaning
  // What a kernel's occupancy depends on; 0 = not known.
  std::uint32_t max_threads_per_sm = 0, max_blocks_per_sm = 0, registers_per_sm = 0, shared_bytes_per_sm = 0;
  std::uint32_t reserved_shared_bytes_per_block = 0, clock_khz = 0;
  std::string uuid = {};
};

struct SiteRow {
  SiteId id;
  std::string name;
  WordMemory word_memory;
  Pollers pollers;
  std::uint32_t words;
  SitePurpose purpose = SitePurpose::unknown;
  SiteEnd releasing = 0, waiting = 0;  ///< 0 = not known
};

struct WaitRow {
  RowId id;
  SiteId site;
  DeviceId device;
  std::uint32_t block, warp, sm, iteration;
  TimeNs arrived, resumed;
  OptionalTime ready;  ///< when the word was signalled, where a signal is known
  std::uint32_t polls;
  std::uint32_t value;
  StrategyId strategy;
  WaitStatus status;
  std::optional<WordTag> word;  ///< tells the words of a site apart; two may share one
  OptionalTime switched;        ///< when this wait first noticed a change of strategy
};

struct SignalRow {
  RowId id;
  SiteId site;
  DeviceId device;
  std::uint32_t block, warp, sm, iteration, value;
  std::optional<WordTag> word;  ///< that of a wait on the same word, where both sides see it at one address
  TimeNs at;
  std::uint32_t bytes = 0;   ///< that it announces; 0 = not known
  std::uint32_t pieces = 0;  ///< runs of adjoining bytes that they lie in; 0 = where they lie is not known
  std::uint64_t offset = 0;  ///< bytes: of the first, in the datum that the site is about
  std::uint64_t span = 0;    ///< bytes from there to behind the last
  bool regular = false;      ///< the pieces are of one length and equally far apart
  std::uint32_t thread = 0;  ///< of the CPU: which; 0 = not known. Its block is then 0.
};

struct HostWaitRow {
  RowId id;
  SiteId site;  ///< 0 for a call
  Name call;    ///< empty for a site
  std::uint32_t thread, iteration;
  TimeNs begin, end;
  std::optional<TimeNs> cpu;
  std::optional<std::uint32_t> polls;
  std::optional<std::uint32_t> correlation;
  WaitStatus status;
  std::optional<WordTag> word;                             ///< nothing for a call
  std::optional<std::uint32_t> involuntary_switches = {};  ///< times that the thread was taken off its CPU meanwhile
  std::optional<TimeNs> run_delay = {};                    ///< ready to run meanwhile, but on no CPU
  ProcessId process = 0;
};

struct KernelRow {
  RowId id;
  DeviceId device;
  Name name;
  TimeNs start, end;
  std::uint32_t context, stream, correlation;
  std::uint32_t grid[3], block[3];
  std::uint32_t registers_per_thread, static_shared_bytes, dynamic_shared_bytes;
  std::optional<std::uint32_t> shared_executed_bytes = {};  ///< shared memory that an SM was set up with for it
  std::uint32_t local_bytes_per_thread = 0;
  std::uint32_t cluster[3] = {};  ///< 0 = no clusters
  std::uint32_t graph = 0;        ///< 0 = not part of a graph
  std::uint64_t graph_node = 0;
  ProcessId process = 0;
};

struct CopyRow {
  RowId id;
  DeviceId device, peer_device;
  CopyKind kind;
  TimeNs start, end;
  std::uint64_t bytes;
  std::uint32_t context, stream, correlation;
  CopyMemory source = CopyMemory::unknown, destination = CopyMemory::unknown;
  bool asynchronous = false;  ///< the call returned before it was done
  std::uint32_t graph = 0;    ///< 0 = not part of a graph
  std::uint64_t graph_node = 0;
  ProcessId process = 0;
};

struct CallRow {
  RowId id;
  Name name;
  std::uint8_t api;  ///< CallApi
  std::uint32_t thread, correlation;
  std::int32_t result;
  TimeNs start, end;
  ProcessId process = 0;
};

/// A host thread, or a stream, that waits for a stream, an event or a context.
struct SyncRow {
  RowId id = 0;
  SyncKind kind = SyncKind::unknown;
  TimeNs start = 0, end = 0;
  std::uint32_t context = 0;
  std::optional<std::uint32_t> stream;      ///< of `stream_waits_for_event`: the one that waits
  std::optional<std::uint32_t> event;       ///< the CUDA event's id, which is used again
  std::optional<std::uint64_t> event_sync;  ///< one recording of the event: joins with CudaEventRow
  std::uint32_t correlation = 0;
  std::int32_t result = 0;
  ProcessId process = 0;
};

/// A CUDA event that was recorded on a stream.
struct CudaEventRow {
  RowId id = 0;
  DeviceId device = 0;
  std::uint32_t event = 0;
  std::optional<std::uint64_t> event_sync;
  std::optional<TimeNs> at;  ///< when the device reached it
  std::uint32_t context = 0, stream = 0, correlation = 0;
  ProcessId process = 0;
};

/// Time that CUPTI or the driver took for itself.
struct OverheadRow {
  RowId id = 0;
  Name what;
  std::optional<std::uint32_t> thread, correlation;
  TimeNs start = 0, end = 0;
  ProcessId process = 0;
};

/// What the operating system's scheduler did with a thread in an interval.
struct ThreadSampleRow {
  RowId id = 0;
  std::uint32_t thread = 0;
  Name name;
  TimeNs begin = 0, end = 0, cpu = 0;
  std::optional<TimeNs> run_delay;  ///< ready to run, but on no CPU
  std::uint64_t voluntary_switches = 0, involuntary_switches = 0;
  ProcessId process = 0;
};

struct NvtxRow {
  RowId id;
  NvtxKind kind;
  Name name, domain;
  std::uint32_t thread;
  TimeNs start, end;
  ProcessId process = 0;
};

/// Managed memory: a page fault, a migration, thrashing.
struct UvmRow {
  RowId id = 0;
  UvmKind kind = UvmKind::cpu_fault;
  DeviceId device = 0;       ///< who faulted, or where a migration went to
  DeviceId peer_device = 0;  ///< where a migration came from, else the same as `device`
  std::uint64_t address = 0, bytes = 0;
  TimeNs start = 0, end = 0;
  std::uint64_t count = 1;  ///< faults of a group of faults
  Name cause;               ///< empty = not known
  ProcessId process = 0;
};

struct InterventionRow {
  RowId id;
  SiteId site;  ///< 0 = the whole program
  Mode old_mode, new_mode;
  StrategyId old_strategy, new_strategy;
  TimeNs requested, effective;
};

/// What `auto` stood for at a site from a moment on, and what it was chosen from.
struct ChoiceRow {
  RowId id;
  SiteId site;
  StrategyId strategy;
  TimeNs at;
  std::string reason;
  std::uint32_t waits;  ///< seen before the choice; 0 = the site's declaration decided
  std::optional<std::uint32_t> waiters_a_word, words;
  std::optional<TimeNs> median_wait, look;
};

/// Samples of one program counter with one stall reason, over the whole run.
struct PcTotalRow {
  std::optional<std::uint32_t> process;
  DeviceId device;
  std::string function;  ///< as people read it
  std::string symbol;    ///< as its module has it
  std::uint64_t module;
  std::uint64_t offset;  ///< bytes from the start of the function
  std::string reason;    ///< CUPTI's name without its prefix
  std::uint64_t samples;
  std::string file;    ///< empty = not known
  std::uint32_t line;  ///< 0 = not known
  TimeNs begin, end;   ///< of the intervals that the samples come from
};

/// What was sampled on one device in one interval.
struct PcIntervalRow {
  RowId id;
  DeviceId device;
  TimeNs begin, end;
  std::uint64_t samples, dropped, foreign, period_cycles;
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

/// A counter about the trace itself: what was lost, what could not be looked at, what recording cost.
struct StatRow {
  enum class Severity : std::uint8_t { info = 0, data_loss = 1, error = 2 };
  std::string name;    ///< from store/format/stat_list.h
  std::string detail;  ///< which ring, device or reason; may be empty
  Severity severity;
  std::int64_t value;
};

}  // namespace wicprof::store
