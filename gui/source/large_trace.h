// A trace whose rows are too many to be held: pictures of it are made from its summaries, and from the rows of the
// stretch of time that is looked at where these are few.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "gui/view/search.h"
#include "gui/view/timeline.h"
#include "protocol/result.h"
#include "store/read/reader.h"

namespace wicprof::gui {

/// Traces with more rows are large.
inline constexpr std::uint64_t kLargeTrace = 400'000;

/// What there is to draw of a stretch of time, and around it.
struct Picture {
  std::shared_ptr<const analyzer::TraceModel> model;  ///< rows of [begin, end) where `fine`, and all that is small
  std::shared_ptr<const Timeline> timeline;
  TimeNs begin = 0, end = 0;
  TimeNs shown = 0;   ///< the width that it was made for
  bool fine = false;  ///< single rows are known

  /// Whether another window of time is better served by another picture.
  bool serves(TimeNs from, TimeNs to) const;
};

/// One thread at a time.
class LargeTrace {
 public:
  static Result<LargeTrace> open(store::Reader reader, std::string name, const store::SummaryWatch& watch);

  TimeNs begin() const { return overview_.begin(); }
  TimeNs end() const { return overview_.end(); }
  const store::Overview& overview() const { return overview_; }
  /// All there is to see, from the coarsest columns alone.
  Picture whole() const;
  Result<Picture> picture(TimeNs begin, TimeNs end);
  Result<SearchHits> search(const std::string& text) const;

 private:
  LargeTrace(store::Reader reader, store::Overview overview)
      : reader_(std::move(reader)), overview_(std::move(overview)) {}
  Result<analyzer::TraceModel> rows(TimeNs begin, TimeNs end);

  store::Reader reader_;
  store::Overview overview_;
  analyzer::TraceModel small_;  // what does not grow with the trace
  std::vector<CoarseLane> lanes_;
};

}  // namespace wicprof::gui
