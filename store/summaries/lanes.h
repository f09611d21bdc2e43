// Which lane shows a trace's row, and in which state: a lane is a row of a picture with a time axis. Shared by the
// summaries in a trace (lane_block.h) and by pictures drawn from the rows themselves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "protocol/strategy.h"
#include "store/format/rows.h"

namespace wicprof::store {

/// What a warp, a thread or a stream is doing.
enum class State : std::uint8_t {
  computing,     ///< a kernel runs; a warp between its waits
  polling,       ///< waits and reads the word repeatedly
  parked,        ///< waits without competing for issue slots
  host_waiting,  ///< a host thread waits, and neither spins nor is parked by wic-prof
  transferring,  ///< a copy or a migration
  descheduled,   ///< ready to run without a CPU
  calling,       ///< a host thread is within a call
  range,         ///< an NVTX range
  signalling,    ///< a signal, a message
  at_barrier,    ///< waits at its group's barrier, while another warp of the group waits for the word
};
inline constexpr std::size_t kStates = 10;
constexpr std::size_t index_of(State state) { return static_cast<std::size_t>(state); }

/// The tables whose rows lanes show.
enum class RowKind : std::uint8_t { wait, signal, host_wait, kernel, copy, call, nvtx, migration, thread_sample };
inline constexpr std::size_t kRowKinds = 9;

/// The table of a kind, and its columns for begin and end.
struct LaneTable {
  const char* name;
  const char* begin;
  const char* end;
};
inline constexpr std::array<LaneTable, kRowKinds> kLaneTables{{{"wait", "arrived_ns", "resumed_ns"},
                                                               {"signal", "at_ns", "at_ns"},
                                                               {"host_wait", "begin_ns", "end_ns"},
                                                               {"kernel", "start_ns", "end_ns"},
                                                               {"copy", "start_ns", "end_ns"},
                                                               {"call", "start_ns", "end_ns"},
                                                               {"nvtx", "start_ns", "end_ns"},
                                                               {"uvm", "start_ns", "end_ns"},
                                                               {"thread_sample", "begin_ns", "end_ns"}}};
constexpr const LaneTable& table_of(RowKind kind) { return kLaneTables[static_cast<std::size_t>(kind)]; }

/// The kind of a type of rows; nothing for rows that lanes do not show.
template <class Row>
constexpr std::optional<RowKind> row_kind_of() {
  if constexpr (std::is_same_v<Row, WaitRow>) return RowKind::wait;
  if constexpr (std::is_same_v<Row, SignalRow>) return RowKind::signal;
  if constexpr (std::is_same_v<Row, HostWaitRow>) return RowKind::host_wait;
  if constexpr (std::is_same_v<Row, KernelRow>) return RowKind::kernel;
  if constexpr (std::is_same_v<Row, CopyRow>) return RowKind::copy;
  if constexpr (std::is_same_v<Row, CallRow>) return RowKind::call;
  if constexpr (std::is_same_v<Row, NvtxRow>) return RowKind::nvtx;
  if constexpr (std::is_same_v<Row, UvmRow>) return RowKind::migration;
  if constexpr (std::is_same_v<Row, ThreadSampleRow>) return RowKind::thread_sample;
  return std::nullopt;
}

enum class LaneKind : std::uint8_t {
  nvtx,     ///< of a process, a thread and a domain
  thread,   ///< of a process and a thread: calls and waits
  delay,    ///< the same: times when it was ready without a CPU
  stream,   ///< of a process, a device, a context and a stream
  managed,  ///< of a device
  signals,  ///< of a site
  sm,       ///< of a device and an SM: how many warps are in each state; one lane, however many warps
};

/// Identifies a track; members that do not apply to the kind are 0.
struct TrackKey {
  LaneKind kind = LaneKind::sm;
  ProcessId process = 0;
  DeviceId device = 0;
  std::uint32_t context = 0;
  std::uint32_t number = 0;  ///< of the SM, the stream, the thread, the site
  std::string domain = {};   ///< of NVTX
  auto operator<=>(const TrackKey&) const = default;
};

constexpr TrackKey track_of_thread(ProcessId process, std::uint32_t thread, LaneKind kind = LaneKind::thread) {
  return {kind, process, 0, 0, thread};
}
/// The track that shows a row. A thread's sample: that of the thread; the sample's delay is on LaneKind::delay.
inline TrackKey track_of(const WaitRow& row) { return {LaneKind::sm, 0, row.device, 0, row.sm}; }
inline TrackKey track_of(const SignalRow& row) { return {LaneKind::signals, 0, 0, 0, row.site}; }
inline TrackKey track_of(const UvmRow& row) { return {LaneKind::managed, 0, row.device}; }
inline TrackKey track_of(const NvtxRow& row) { return {LaneKind::nvtx, row.process, 0, 0, row.thread, row.domain}; }
template <class Row>
requires requires(const Row& row) { row.stream; }
TrackKey track_of(const Row& row) { return {LaneKind::stream, row.process, row.device, row.context, row.stream}; }
template <class Row>
requires requires(const Row& row) { row.thread; }
TrackKey track_of(const Row& row) { return track_of_thread(row.process, row.thread); }

/// When a row begins and ends; equal for rows without length.
inline std::pair<TimeNs, TimeNs> times_of(const WaitRow& row) { return {row.arrived, row.resumed}; }
inline std::pair<TimeNs, TimeNs> times_of(const SignalRow& row) { return {row.at, row.at}; }
template <class Row>
requires requires(const Row& row) { row.start; }
std::pair<TimeNs, TimeNs> times_of(const Row& row) { return {row.start, row.end}; }
template <class Row>
requires requires(const Row& row) { row.begin; }
std::pair<TimeNs, TimeNs> times_of(const Row& row) { return {row.begin, row.end}; }

/// Under the other strategies at most one thread of many reads the word. predicted_sleep polls only at its end;
/// measured on an H200, it costs other work nothing even on a host word.
constexpr bool every_waiter_polls(StrategyId strategy) {
  return strategy == StrategyId::poll || strategy == StrategyId::backoff;
}
/// The state of a warp that waits and reads the word itself.
constexpr State state_under(StrategyId strategy) {
  return every_waiter_polls(strategy) || strategy == StrategyId::naive ? State::polling : State::parked;
}
constexpr State other_way(State state) { return state == State::polling ? State::parked : State::polling; }

/// Of a host thread that looks at its word more often, it polls, however little of a CPU others leave to it.
inline constexpr TimeNs kMostBetweenPolls = 10'000;

/// By CPU time over wall time: spins from four fifths on, sleeps up to one fifth. `cpu` below 0: not known. `polls`:
/// how often the thread looked, 0 if that is not known. `own_way`: in a call of CUDA in which wic-prof did not wait, so
/// that a thread that sleeps is not parked.
constexpr State state_of_host_wait(TimeNs begin, TimeNs end, TimeNs cpu, std::int64_t polls, bool own_way) {
  if (cpu < 0 || end <= begin) return State::host_waiting;
  if (polls > (end - begin) / kMostBetweenPolls + 1) return State::polling;
  const double share = static_cast<double>(cpu) / static_cast<double>(end - begin);
  if (share >= 0.8) return State::polling;
  return share <= 0.2 && !own_way ? State::parked : State::host_waiting;
}
inline State state_of_host_wait(const HostWaitRow& row) {
  return state_of_host_wait(row.begin, row.end, row.cpu.value_or(-1), row.polls.value_or(0),
                            row.in_call() && row.strategy == StrategyId::poll);
}

constexpr State state_of_migration(UvmKind kind) {
  const bool travels =
      kind == UvmKind::host_to_device || kind == UvmKind::device_to_host || kind == UvmKind::device_to_device;
  return travels ? State::transferring : State::host_waiting;
}

/// Of kinds whose rows are all in one state. The others: state_of_host_wait(), state_of_migration(), WaitStates.
constexpr State state_of(RowKind kind) {
  switch (kind) {
    case RowKind::copy:
      return State::transferring;
    case RowKind::call:
      return State::calling;
    case RowKind::nvtx:
      return State::range;
    case RowKind::signal:
      return State::signalling;
    default:
      return State::computing;
  }
}
/// Of a row that has one state from its begin to its end.
template <class Row>
State state_of(const Row& row) {
  if constexpr (std::is_same_v<Row, HostWaitRow>) return state_of_host_wait(row);
  if constexpr (std::is_same_v<Row, UvmRow>) return state_of_migration(row.kind);
  static_assert(row_kind_of<Row>() && !std::is_same_v<Row, WaitRow>);
  return state_of(*row_kind_of<Row>());
}

/// How long a thread was ready without a CPU in an interval; nothing below a twentieth of the interval. A sample has
/// the length of the delay and not its time: pictures place the delay at the interval's end.
inline std::optional<TimeNs> noticeable_delay(TimeNs begin, TimeNs end, std::optional<TimeNs> run_delay) {
  constexpr double kNoticeable = 0.05;
  if (!run_delay || static_cast<double>(*run_delay) < kNoticeable * static_cast<double>(end - begin))
    return std::nullopt;
  return *run_delay < end - begin ? *run_delay : end - begin;
}

/// A warp computes between two waits of one launch; a new launch begins where its iterations restart or its SM changes.
/// One object per warp; waits in order of arrival.
struct Stay {
  std::uint32_t sm = 0, iteration = 0;
  TimeNs last = 0;
  bool known = false;

  /// The time that the warp computed before this wait.
  std::optional<TimeNs> computed_since(std::uint32_t on_sm, std::uint32_t in_iteration) const {
    if (!known || sm != on_sm || in_iteration < iteration) return std::nullopt;
    return last;
  }
  void add(std::uint32_t on_sm, std::uint32_t in_iteration, TimeNs resumed) {
    last = known && last > resumed ? last : resumed;
    sm = on_sm;
    iteration = in_iteration;
    known = true;
  }
};

}  // namespace wicprof::store
