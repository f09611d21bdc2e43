// Reads a trace, finished or still being written. The only access of the other layers to a trace.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/result.h"
#include "store/format/rows.h"
#include "store/summaries/overview.h"

namespace wicprof::store {

/// Rows found by name.
struct NamedRows {
  struct One {
    RowKind kind = RowKind::wait;
    RowId id = 0;
    TimeNs begin = 0, end = 0;
  };
  std::vector<One> rows;  ///< in order of time
  std::uint64_t total = 0;
};

/// The state of a trace whose log is missing (trace_file.h, lacks_log()).
inline constexpr char kWithoutLog[] = "without log";

/// For what needs more than the digest in a file has. `trace`: of which it is the digest.
Error refused_digest(const std::string& path, const std::string& trace);

/// One thread at a time. A trace that is still being recorded is open only during each call, so that its recorder can
/// complete it. A trace whose recorder was killed is repaired at opening, if its folder is writable. The call that
/// meets damage fails and names the file. Every list is ordered by time, then by id.
class Reader {
 public:
  /// Also opens traces packed with gzip. Errors (which name file and remedy): no such file, not a trace, truncated, an
  /// unsupported version, a digest.
  static Result<Reader> open(const std::string& path);
  /// Opens the traces of a file one after the other: one, or those of a digest. Errors: open()'s but for digests, and
  /// those of `visit`, which end the visits.
  static Result<> each(const std::string& path, const std::function<Result<>(Reader)>& visit);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  /// A reader of the same trace for another thread; must not outlive this one. Nothing for a trace that may still
  /// change, nor for a digest.
  std::optional<Reader> another() const;

  /// Meta keys: app, command, session, pid, host, started_ns, started_utc, ended_ns, state ("recording", "complete" or
  /// kWithoutLog),
  /// app_status, app_signal, mode, schedule, wic_prof_version, trace, sass_missing, and capture_* where only a part was
  /// captured.
  Result<std::map<std::string, std::string>> meta() const;
  /// The trace's summaries. Where the trace has none, they are computed now, outside the file; `watch` gets the
  /// progress.
  Result<Overview> overview(const SummaryWatch& watch = {}) const;
  /// From here on, lists of rows that lanes show (waits, signals, host waits, kernels, copies, calls, NVTX, uvm, thread
  /// samples) have only rows that overlap `range`; nothing = all again.
  void within(std::optional<RowRange> range);
  /// The rows of a table of ReadTables (store/format/event_tables.h) with id > after, for a live tail; 0 for all.
  /// Tables whose events carry their id are always read as a whole. Empty for a table that an older trace does not
  /// have.
  template <class Table>
  Result<RowsOf<Table>> rows(RowId after = 0) const;
  /// Of the newest million signals, the last one of each writer, site and word. By id.
  struct SignalOfProcess {
    std::optional<std::uint32_t> process;
    SignalRow signal;
  };
  Result<std::vector<SignalOfProcess>> last_signals() const;
  /// Of the newest million calls of MPI: how many messages a process has sent to another one, or received from it. A
  /// call that has not ended has no row.
  struct MessagesOfProcess {
    ProcessId process = 0;  ///< that sent or received
    bool received = false;
    CommunicatorId communicator = 0;
    std::int32_t peer = 0;  ///< the other one's rank in MPI_COMM_WORLD
    std::int32_t tag = 0;
    std::uint32_t number = 0;  ///< of the last one (mpi_call.sequence)
    TimeNs at = 0;             ///< when that call ended
  };
  Result<std::vector<MessagesOfProcess>> last_messages() const;
  /// Summed in the database: a long run has very many samples of few program counters. Ordered by function and offset.
  Result<std::vector<PcTotalRow>> pc_totals() const;
  /// Ordered by module, function and offset.
  Result<std::vector<SassRow>> sass() const;
  Result<std::vector<StatRow>> stats() const;
  /// Empty for a trace that is no digest.
  Result<std::vector<DigestSumRow>> digest_sums() const;
  /// Finds kernels, calls and NVTX ranges by name, and waits and signals by their site's name: the first `most` rows,
  /// and their total. Calls `wanted` once per name.
  using NameFilter = std::function<bool(RowKind kind, std::string_view name)>;
  /// Only rows that take longer than `longer` and less time than `shorter`.
  Result<NamedRows> named(const NameFilter& wanted, std::size_t most, TimeNs longer = -1,
                          TimeNs shorter = std::numeric_limits<TimeNs>::max()) const;

 private:
  struct State;
  explicit Reader(std::unique_ptr<State> state);
  static Result<Reader> open_unpacked(const std::string& path);
  std::unique_ptr<State> state_;
};

}  // namespace wicprof::store
