// The rows of a trace as values. Times are host nanoseconds; NULL columns are std::optional. docs/schema.md has the
// SQL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/events/copy.h"
#include "protocol/events/device.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/loss.h"
#include "protocol/events/nvtx.h"
#include "protocol/events/site.h"
#include "protocol/events/wait.h"
#include "protocol/strategy.h"
#include "protocol/time.h"

namespace wicprof::store {

using RowId = std::int64_t;

struct DeviceRow {
  DeviceId id;
  DeviceKind kind;
  std::string name;
  std::uint32_t sm_count;
  std::uint64_t memory_bytes;
  std::optional<TimeNs> clock_error_ns;  ///< the worst error bound of the readings used; nothing without a clock
};

struct SiteRow {
  SiteId id;
  std::string name;
  WordMemory word_memory;
  Pollers pollers;
  std::uint32_t words;
};

struct WaitRow {
  RowId id;
  SiteId site;
  DeviceId device;
  std::uint32_t block, warp, sm, iteration;
  TimeNs arrived, resumed;
  std::optional<TimeNs> ready;  ///< when the word was signalled, where a signal is known
  std::uint32_t polls;
  StrategyId strategy;
  WaitStatus status;
  std::uint32_t value;
  std::optional<TimeNs> switched;  ///< when this wait first noticed a change of strategy
  std::optional<WordTag> word;     ///< tells the words of a site apart; two may share one
};

struct SignalRow {
  RowId id;
  SiteId site;
  DeviceId device;
  std::uint32_t block, warp, sm, iteration, value;
  TimeNs at;
  std::optional<WordTag> word;  ///< that of a wait on the same word, where both sides see it at one address
};

struct HostWaitRow {
  RowId id;
  SiteId site;       ///< 0 for a call
  std::string call;  ///< empty for a site
  std::uint32_t thread, iteration;
  TimeNs begin, end;
  std::optional<TimeNs> cpu;
  std::optional<std::uint32_t> polls;
  std::optional<std::uint32_t> correlation;
  WaitStatus status;
  std::optional<WordTag> word;  ///< nothing for a call
};

struct KernelRow {
  RowId id;
  DeviceId device;
  std::string name;
  TimeNs start, end;
  std::uint32_t context, stream, correlation;
  std::uint32_t grid[3], block[3];
  std::uint32_t registers_per_thread, static_shared_bytes, dynamic_shared_bytes;
};

struct CopyRow {
  RowId id;
  DeviceId device, peer_device;
  CopyKind kind;
  TimeNs start, end;
  std::uint64_t bytes;
  std::uint32_t context, stream, correlation;
};

struct CallRow {
  RowId id;
  std::string name;
  std::uint8_t api;  ///< CallApi
  std::uint32_t thread, correlation;
  std::int32_t result;
  TimeNs start, end;
};

struct NvtxRow {
  RowId id;
  NvtxKind kind;
  std::string name, domain;
  std::uint32_t thread;
  TimeNs start, end;
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
  std::string file;  ///< empty = not known
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
  std::uint64_t offset;  ///< bytes from the start of the function
  std::string text;      ///< guard predicate, operation, operands
  std::optional<std::uint64_t> target;  ///< of a branch, in the same function
  std::string file;    ///< empty = not known
  std::uint32_t line;  ///< 0 = not known
};

/// A counter about the trace itself: what was lost, what could not be looked at, what recording cost.
struct StatRow {
  enum class Severity : std::uint8_t { info = 0, data_loss = 1, error = 2 };
  std::string name;    ///< from store/stat_list.h
  std::string detail;  ///< which ring, device or reason; may be empty
  Severity severity;
  std::int64_t value;
};

}  // namespace wicprof::store
