// How much of the program's activity a trace contains, as far as the trace shows.
#pragma once

namespace wicprof::analyzer {

/// Shares, 0 to 1.
struct Completeness {
  /// The share of the program's messages with a record.
  double seen = 1;
  /// A lower bound on `seen`: assumes that waits without a signal belong to messages with a record.
  double least = 1;
  /// The share of records that were not lost, by the trace's loss counters. Full rings drop many records in a row, and
  /// may drop those of one side only.
  double recorded = 1;
};

}  // namespace wicprof::analyzer
