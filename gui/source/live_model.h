// A trace that grows: rows are fetched as they come, and what is shown of it is its last part.
#pragma once

#include <cstddef>

#include "analyzer/trace_model.h"
#include "protocol/result.h"
#include "store/reader.h"

namespace wicprof::gui {

/// One thread at a time.
class LiveModel {
 public:
  /// Fetches what has come since. True: there was something.
  Result<bool> fetch(const store::Reader& reader);
  /// Everything that is kept, in order. The more, the longer it takes.
  analyzer::TraceModel whole() const;
  /// The last `rows` rows of each list.
  analyzer::TraceModel recent(std::size_t rows) const;
  bool longer_than(std::size_t rows) const;
  /// Lets go of all but the last `rows` rows of each list, from time to time; memory and the time that a picture takes stay
  /// bounded.
  void keep_recent(std::size_t rows);
  bool complete() const { return model_.meta_value("state") == "complete"; }

 private:
  analyzer::TraceModel model_;  // rows in the order in which they came
  store::RowId seen_[9] = {};   // the newest of each list that grows
};

}  // namespace wicprof::gui
