// The trace file of a recorder: commits rows in batches together with the counters, and survives a full disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "protocol/result.h"
#include "protocol/time.h"
#include "store/format/rows.h"
#include "store/format/trace_place.h"
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
  /// What became of the file's name, for the user; empty while all is well.
  const std::string& news() const { return news_; }
  /// After close(): nothing is left under path(), or not what was recorded.
  bool lost() const { return lost_; }
  /// Why nothing more is written, with the cure; empty while all is well.
  const std::string& why_stopped() const { return stopped_; }
  std::uint64_t events() const { return events_; }  ///< rows, including the open batch
  std::uint64_t waits() const { return waits_; }
  std::uint64_t unknown() const { return unknown_; }  ///< records of kinds that this version does not know

  Counters& counters() { return counters_; }
  const Counters& counters() const { return counters_; }
  TraceMeta& meta() { return meta_; }
  TextTable& texts() { return texts_; }

  /// From now on `number` in `ring` refers to this text.
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
  /// Writes texts whose ids a row has: in the row's transaction.
  void write_texts(const std::vector<const TextTable::Entry*>& texts);
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

  /// For a plan that removes rows: removes texts that no row refers to any more, once there are many.
  void remove_unused_texts();

  /// After the last row: matches signals to waits, and adds indexes and summaries. What fails, or what `watch` gives
  /// up, is counted as missing.
  void derive(const FinishWatch& watch);
  /// Writes what is left, and closes the file as one file. `shrink`: frees the space of removed rows. Error: writing
  /// has failed, now or earlier.
  Result<> close(bool shrink);
  /// This output is the next segment of `earlier`'s recording, which must have committed: copies what still holds, and
  /// takes over the texts. Error: the copy failed; `earlier` is as it was.
  Result<> continue_from(TraceOutput& earlier);
  /// For an ended segment: its clocks are the next segment's from here on.
  void use_clocks(DeviceClocks& clocks) { clocks_ = &clocks; }
  const std::string& path() const { return path_; }
  std::uint64_t file_bytes() { return writer_.file_bytes(); }

  /// Closes the file without writing anything.
  void abandon() { writer_.close(); }

 private:
  bool lose_row();
  bool count_row(int code, bool wait);
  int intern(const std::string& text, std::int64_t& id);
  int write_text(const TextTable::Entry& text);
  void bound_texts();
  bool may_read_aside();
  int write_state();
  int write_counters();
  Place look_at_place();
  void lose_batch(const std::string& reason);
  void lose_log();
  std::string cure() const;
  Result<> settle();
  void stop();

  std::string path_;
  std::uint64_t max_bytes_;
  bool limited_by_system_;  // by ulimit -f, below what was asked for
  Writer writer_;
  Ballast ballast_;
  DeviceClocks* clocks_;
  TextTable texts_;
  // Texts in memory, and their bytes, from which on those that no producer refers to are forgotten.
  std::size_t texts_limit_, text_bytes_limit_;
  // Texts written since unused ones were removed from the trace, and the numbers from which on that is done again.
  std::size_t written_texts_ = 0, written_text_bytes_ = 0;
  std::size_t written_texts_limit_, written_text_bytes_limit_;
  Counters counters_;
  TraceMeta meta_;

  std::uint64_t events_ = 0, waits_ = 0;
  std::uint64_t left_out_ = 0, unknown_ = 0;
  std::uint64_t batch_events_ = 0, batch_waits_ = 0;
  std::uint64_t batch_limit_;
  TimeNs batch_begin_;
  std::string stopped_, news_;
  bool lost_ = false;
};

}  // namespace wicprof::store
