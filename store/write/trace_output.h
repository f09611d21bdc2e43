// The trace file of a recorder: commits rows in batches together with the counters, and survives a full disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>

#include "protocol/result.h"
#include "protocol/time.h"
#include "store/format/rows.h"
#include "store/sqlite/text_table.h"
#include "store/write/ballast.h"
#include "store/write/counters.h"
#include "store/write/device_clocks.h"
#include "store/write/finish_watch.h"
#include "store/write/trace_meta.h"
#include "store/write/writer.h"

namespace wicprof::store {

/// One thread. When writing fails, usually because the disk is full, the open batch and all later rows are lost and
/// counted as such; the ballast's space takes the counters.
class TraceOutput {
 public:
  /// `max_bytes`: size at which the trace stops growing, 0 = no limit but the system's. `clocks`: their errors are
  /// written with each commit.
  TraceOutput(std::string path, std::uint64_t max_bytes, Writer writer, Ballast ballast, DeviceClocks& clocks);
  TraceOutput(const TraceOutput&) = delete;

  bool stopped() const { return !stopped_.empty(); }
  /// Why nothing more is written, with the cure; empty while all is well.
  const std::string& why_stopped() const { return stopped_; }
  std::uint64_t events() const { return events_; }  ///< rows, including the open batch
  std::uint64_t waits() const { return waits_; }
  std::uint64_t unknown() const { return unknown_; }  ///< records of kinds that this version does not know

  Counters& counters() { return counters_; }
  const Counters& counters() const { return counters_; }
  TraceMeta& meta() { return meta_; }
  const TextTable& texts() const { return texts_; }

  /// From now on `number` in `ring` refers to this text, which gets a row if it is new.
  void bind_text(std::size_t ring, TextId number, const std::string& text);
  void forget_ring(std::size_t ring) { texts_.forget_ring(ring); }

  /// False: the row is lost, and counted so.
  template <class Table>
  bool insert(const typename Table::Event& event, const Lookup& lookup) {
    if (stopped()) return lose_row();
    const int code = writer_.insert<Table>(event, lookup);
    if (code == Writer::kIncomplete) {
      counters_.add(Stat::damaged_records, "", 1);
      return false;
    }
    return count_row(code, std::is_same_v<Table, WaitTable>);
  }
  void insert(const SassRow& row);
  /// Rows that the retention plan leaves out of the trace.
  void count_left_out(std::uint64_t rows) { left_out_ += rows; }
  void count_unknown() { ++unknown_; }

  /// Called after the row's losses and errors are counted.
  void commit_if_full() {
    if (batch_events_ >= batch_limit_) commit();
  }
  /// Once the open batch is old: commits it, if there is anything new, and returns true.
  bool commit_if_old(TimeNs now);
  void commit();

  /// Runs `work` in a transaction; `work` returns SQLite's result code.
  void transaction(const std::function<int(Writer&)>& work);

  /// For a plan that removes rows: removes texts that no row and no producer refers to any more, once there are many.
  void remove_unused_texts();

  /// After the last row: matches signals to waits, and adds indexes and summaries. What fails, or what `watch` gives
  /// up, is counted as missing.
  void derive(const FinishWatch& watch);
  /// Writes what is left, and closes the file as one file. `shrink`: frees the space of removed rows. Error: writing
  /// has failed, now or earlier.
  Result<> close(bool shrink);
  /// Closes the file without writing anything.
  void abandon() { writer_.close(); }

 private:
  bool lose_row();
  bool count_row(int code, bool wait);
  int intern(const std::string& text, std::int64_t& id);
  void bound_texts();
  int write_state();
  int write_counters();
  void stop();

  std::string path_;
  std::uint64_t max_bytes_;
  bool limited_by_system_;  // by ulimit -f, below what was asked for
  Writer writer_;
  Ballast ballast_;
  DeviceClocks& clocks_;
  TextTable texts_;
  std::size_t texts_limit_;         // texts in memory at which those that no producer refers to are forgotten
  std::int64_t unused_texts_from_;  // id of the next text at which unused ones are removed from the trace
  Counters counters_;
  TraceMeta meta_;

  std::uint64_t events_ = 0, waits_ = 0;
  std::uint64_t left_out_ = 0, unknown_ = 0;
  std::uint64_t batch_events_ = 0, batch_waits_ = 0;
  std::uint64_t batch_limit_;
  TimeNs batch_begin_;
  std::string stopped_;
};

}  // namespace wicprof::store
