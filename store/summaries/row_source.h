// Reads the trace's rows for the summaries, with progress.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "store/sqlite/sqlite.h"
#include "store/summaries/level_of_detail.h"

namespace wicprof::store {

/// Runs statements and reads rows; after the first failure every call does nothing.
class RowSource {
 public:
  RowSource(Database& database, const SummaryWatch& watch) : database_(database), watch_(watch) {}

  /// Calls `take(row)` for each row.
  template <class Take>
  void each(const std::string& sql, Take take) {
    if (code_ != 0) return;
    Statement statement = database_.prepare(sql, code_);
    while (code_ == 0 && statement.next(code_)) {
      take(statement);
      if (++read_ % kRowsPerLook == 0) look();
    }
  }
  /// Reports the progress; stops if the watcher says so.
  void look() {
    // Without an expectation, all rows have been read.
    const double part = expected == 0 ? 1.0 : std::min(1.0, static_cast<double>(read_) / static_cast<double>(expected));
    if (code_ == 0 && watch_ && !watch_(part)) code_ = -1;
  }
  bool next(Statement& statement) { return code_ == 0 && statement.next(code_); }
  void execute(const std::string& sql) {
    if (code_ == 0) code_ = database_.execute(sql);
  }
  void run(Statement& statement) {
    if (code_ == 0) code_ = statement.run();
  }
  Statement prepare(const std::string& sql) {
    Statement statement;
    if (code_ == 0) statement = database_.prepare(sql, code_);
    return statement;
  }
  std::int64_t last_id() { return database_.integer("SELECT last_insert_rowid()"); }
  int code() const { return code_; }
  std::uint64_t expected = 0;  // rows

 private:
  static constexpr std::uint64_t kRowsPerLook = 4096;  // about a millisecond

  Database& database_;
  const SummaryWatch& watch_;
  int code_ = 0;
  std::uint64_t read_ = 0;
};
}  // namespace wicprof::store
