// A trace as values: the rows of the store, in memory, plus facts about the whole trace that every analysis needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/measure/statistics.h"
#include "protocol/result.h"
#include "store/format/meta_key.h"
#include "store/format/rows.h"
#include "store/read/reader.h"

namespace wicprof::analyzer {

/// One of the traces that a model was joined from (analyzer/ranks/join.h).
struct JoinedTrace {
  std::string name, host;
  std::uint32_t clock = 0;     ///< traces that one clock timed have one number
  TimeNs shift = 0;            ///< added to the trace's times, at its begin
  TimeNs error = 0;            ///< the most that the shifted times are off the clock of the first trace
  bool aligned_by_mpi = true;  ///< else by the time of day
  bool digest = false;
};

/// The lists of events are members of store::Lists (`waits`, `signals`, ...: store/format/tables/), each ordered by
/// time.
struct TraceModel : store::Lists {
  std::string name;       ///< for people: the trace's file name
  std::string read_from;  ///< of a digest: its own file, where `name` is that of the trace; empty: not known
  std::map<std::string, std::string> meta;
  std::vector<store::PcTotalRow> pc_totals;
  std::vector<store::SassRow> sass;
  std::vector<store::StatRow> stats;
  std::vector<store::DigestSumRow> digest_sums;  ///< of digests: what they do not have row by row
  // Of a trace that keeps what its processes were in when its recording ended:
  std::vector<store::Reader::SignalOfProcess> last_signals;
  std::vector<store::Reader::MessagesOfProcess> last_messages;
  std::vector<JoinedTrace> joined;                       ///< empty for one trace
  std::map<store::ProcessId, std::size_t> joined_trace;  ///< of a process, where traces were joined

  // Derived by settle().
  // The traced time: from the first to the last wait, signal, kernel or copy. Excludes the program's start-up. Without
  // any of these: the recorded part of the program's run.
  TimeNs begin = 0, end = 0;
  bool complete = false;
  std::string incomplete_reason;  ///< why the trace does not reach the program's end; empty if complete

  TimeNs span() const { return end - begin; }
  /// The value of a meta key; empty if the trace does not have the key.
  std::string meta_value(store::MetaKey key) const;
  /// The process that wic-prof started, or attached to; 0: not known.
  store::ProcessId app() const;
  /// Whether this is a digest, or one of the traces that it was joined from is: only rows of MPI, processes, threads
  /// and counters are sure to be here.
  bool is_digest() const { return !meta_value(store::MetaKey::digest_of).empty(); }
  bool has_gpu() const;                        ///< one of the devices is a GPU
  std::set<std::string> device_names() const;  ///< without the CPU
  /// nullptr for an id that was never declared.
  const store::SiteRow* site(SiteId id) const;
  const store::DeviceRow* device(DeviceId id) const;
  const store::ProcessRow* process(store::ProcessId id) const;
  /// The most by which the times of two processes are off one another; 0 where one clock timed both.
  TimeNs clock_error(store::ProcessId first, store::ProcessId second) const;
  /// The number of the program's processes, without wic-prof's own.
  std::size_t program_processes() const;
  /// For people; an undeclared site or device is named by its number.
  std::string site_name(SiteId id) const;
  /// Where the call of a site stands: "FILE:LINE", "MODULE+0xOFFSET" or "NVTX range"; empty: not known.
  std::string site_place(SiteId id) const;
  std::string device_name(DeviceId id) const;
  /// "cuda:0", "simt:0", "cpu": as options name devices.
  std::string device_key(DeviceId id) const;
};

/// Whether the process is wic-prof's own.
bool is_own(const store::ProcessRow& process);

/// From the start of the recording to its end, as the trace's meta says; nothing if the trace does not say, as while it
/// is being written.
std::optional<Interval> recorded_run(const TraceModel& model);

/// Computes the derived members, and sorts every list by time. For models that were not loaded from a trace.
void settle(TraceModel& model);

/// Called before each part of a trace is read, with the number of parts begun and of all. False cancels the reading.
/// Several threads call it, but never two at the same time.
using LoadWatch = std::function<bool(std::size_t done, std::size_t of)>;

/// Loads a whole trace; two threads read a finished one. `name`: for people (the file's name). Error also after `watch`
/// returned false.
Result<TraceModel> load(const store::Reader& reader, std::string name, const LoadWatch& watch = {});

}  // namespace wicprof::analyzer
