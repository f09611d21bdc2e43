// Matches the waits of a trace with its signals: fills wait.ready_ns.
#pragma once

#include "store/sqlite/sqlite.h"

namespace wicprof::store {

/// Gives each satisfied wait the time of the latest signal of its site and iteration whose value reaches the value that
/// ended the wait, no later than the wait resumed within the clocks' error. 32-bit numbers wrap: a value reaches
/// another when the distance is below 2^31; only the same bit reaches a bit. Where the tags of a site identify its
/// words, the signals of the wait's word count, else those without a word. Requires create_signal_index_sql() and an
/// open transaction. Returns SQLite's result code, 0 for success. Time per wait: one row changed, and a query for the
/// waits that have other signals than the waits just before.
int match_signals(Database& database);

}  // namespace wicprof::store
