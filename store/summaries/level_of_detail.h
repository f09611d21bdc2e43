// Makes the summaries of a trace, from which a picture at any zoom is made of a bounded number of rows. Of every lane
// (store/summaries/lanes.h), for columns of a power of four of nanoseconds: how many things begin in each, and how much
// time is spent in each state. 1,024 columns are a block; a block is split in four where more than 4,096 things begin
// in it, so that busy stretches have fine columns and quiet ones cost nothing. docs/architecture.md, "Large traces",
// says why it is so.
#pragma once

#include <functional>
#include <string>

#include "store/sqlite/sqlite.h"

namespace wicprof::store {

/// Of what the tables hold: summaries of another version are made anew by whoever reads them.
inline constexpr int kSummaryVersion = 2;

/// CREATE TABLE of what the summaries lie in; `temporary`: beside the trace instead of in it.
std::string create_summary_tables_sql(bool temporary = false);

/// Makes all summaries in the database's tables of that name, which are there and empty. In the caller's transaction.
/// SQLite's result code; 0 when it succeeded. `watch`: how much is done, 0 to 1; false = no further, which is a
/// failure, too.
using SummaryWatch = std::function<bool(double part)>;
int summarise(Database& database, const SummaryWatch& watch = {});

}  // namespace wicprof::store
