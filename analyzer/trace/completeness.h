// How much of what happened a trace holds, as far as it tells.
#pragma once

namespace wicprof::analyzer {

/// Parts of the whole, 1 = all.
struct Completeness {
  double seen = 1;  ///< of the program's messages: those of which a record is there
  double least =
      1;  ///< no less than that, should waits without a signal stand for no messages but those that are known
  double recorded =
      1;  ///< of all records, without those that full rings swallowed: many together, perhaps of one side alone
};

}  // namespace wicprof::analyzer
