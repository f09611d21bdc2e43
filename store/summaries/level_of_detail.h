// Computes the summaries of a trace, from which a picture at any zoom needs a bounded number of rows. They hold, for
// every lane (store/summaries/lanes.h) and for columns of a power of four of nanoseconds, how many events begin in each
// column and how much time is spent in each state. 1,024 columns form a block; a block in which more than 4,096 events
// begin is split in four, so that busy intervals have fine columns and quiet intervals cost nothing.
// docs/design/window.md, "Large traces", has the reasons.
#pragma once

#include <functional>
#include <string>

#include "store/sqlite/sqlite.h"

namespace wicprof::store {

/// Version of the tables' contents: readers recompute summaries of another version.
inline constexpr int kSummaryVersion = 2;

/// CREATE TABLE of the summaries; `temporary`: outside the trace instead of in it.
std::string create_summary_tables_sql(bool temporary = false);

/// Fills the database's empty summary tables, in the caller's transaction. Returns SQLite's result code, 0 for success.
/// `watch` gets the progress, 0 to 1; false = stop, which counts as a failure.
using SummaryWatch = std::function<bool(double part)>;
int summarise(Database& database, const SummaryWatch& watch = {});

}  // namespace wicprof::store
