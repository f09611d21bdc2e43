// Reads a trace, finished or still being written. Sole way for the other layers to see what a trace holds.
#pragma once

#include <functional>
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

/// Rows that were asked for by name.
struct NamedRows {
  struct One {
    RowKind kind = RowKind::wait;
    RowId id = 0;
    TimeNs begin = 0, end = 0;
  };
  std::vector<One> rows;  ///< in order of time
  std::uint64_t total = 0;
};

/// One thread at a time. A trace that is still being recorded is held open only during each call, so that its recorder
/// can complete it; one whose recorder was killed is put in order when it is opened, where its folder allows. A file
/// that turns out damaged makes the call that finds it fail, by name. Every list is ordered by time (then id).
class Reader {
 public:
  /// Packed with gzip, too. Errors (file and cure named): no such file, no trace, truncated, a newer or older version.
  static Result<Reader> open(const std::string& path);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  /// Of the same trace, for another thread, while this one is there. Nothing of a trace that may still change.
  std::optional<Reader> another() const;

  /// Meta keys: app, command, session, pid, host, started_ns, started_utc, ended_ns, state ("recording" or "complete"),
  /// app_status, app_signal, mode, schedule, wic_prof_version, trace, sass_missing, and capture_* where only a part was
  /// captured.
  Result<std::map<std::string, std::string>> meta() const;
  /// The trace's summaries. Where it has none they are made now, beside the file; `watch` hears how far that is.
  Result<Overview> overview(const SummaryWatch& watch = {}) const;
  /// From here on, lists of what is shown on lanes (waits, signals, host waits, kernels, copies, calls, NVTX, uvm,
  /// thread samples) hold only rows that reach into a stretch of time; nothing = all again.
  void within(std::optional<RowRange> range);
  /// The rows of a table of ReadTables (store/format/event_tables.h) with id > after, for a live tail; 0 for all.
  /// Tables whose events carry their id are always read as a whole. Empty for a table that an older trace does not
  /// have.
  template <class Table>
  Result<std::vector<typename Table::Row>> rows(RowId after = 0) const;
  /// Summed in the database: a long run has very many samples of few program counters. Ordered by function and offset.
  Result<std::vector<PcTotalRow>> pc_totals() const;
  /// Ordered by module, function and offset.
  Result<std::vector<SassRow>> sass() const;
  Result<std::vector<StatRow>> stats() const;
  /// Kernels, calls, NVTX ranges, and waits and signals by their site; the first of them, and how many there are in
  /// all. Each name is asked about once.
  using NameFilter = std::function<bool(RowKind kind, std::string_view name)>;
  Result<NamedRows> named(const NameFilter& wanted, std::size_t most) const;

 private:
  struct State;
  explicit Reader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wicprof::store
