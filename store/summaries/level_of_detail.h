// Computes the summaries of a trace, from which a picture at any zoom needs a bounded number of rows. They hold, for
// every lane (store/summaries/lanes.h) and for columns of a power of four of nanoseconds, how many events begin in each
// column and how much time is spent in each state. 1,024 columns form a block; a block in which more than 4,096 events
// begin is split in four, so that busy intervals have fine columns and quiet intervals cost nothing.
// docs/design/window.md, "Large traces", has the reasons.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "store/sqlite/sqlite.h"

namespace wicprof::store {

/// Version of the tables' contents: readers recompute summaries of another version.
inline constexpr int kSummaryVersion = 3;

/// CREATE TABLE of the summaries; `temporary`: outside the trace instead of in it.
std::string create_summary_tables_sql(bool temporary = false);

/// Gets the progress, 0 to 1; false = stop, which counts as a failure.
using SummaryWatch = std::function<bool(double part)>;

/// The summaries of a trace in memory. They need nothing that completing a trace derives, so that read() may run on one
/// connection while another writes. Each call returns SQLite's result code, 0 for success. One thread at a time.
class Summary {
 public:
  Summary();
  Summary(Summary&&) noexcept;
  Summary& operator=(Summary&&) noexcept;
  ~Summary();

  /// Reads every row of the trace, three times.
  int read(Database& database, const SummaryWatch& watch = {});
  /// Fills the database's empty summary tables, in the caller's transaction, after read().
  int write(Database& database, const SummaryWatch& watch = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Both of one database.
int summarise(Database& database, const SummaryWatch& watch = {});

}  // namespace wicprof::store
