// A trace with too many rows to hold in memory. Pictures come from its summaries, and from the rows of the visible
// stretch when those are few.
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

/// Traces with more rows count as large. Not calibrated; see bench/gui_trace.
inline constexpr std::uint64_t kLargeTrace = 400'000;

/// Everything to draw for an interval and its margins.
struct Picture {
  std::shared_ptr<const analyzer::TraceModel> model;  ///< with rows of [begin, end) if `fine`
  std::shared_ptr<const Timeline> timeline;
  TimeNs begin = 0, end = 0;
  TimeNs shown = 0;   ///< the width of the window it was made for
  bool fine = false;  ///< has single rows

  /// Whether this picture is good enough for the window [from, to).
  bool serves(TimeNs from, TimeNs to) const;
};

/// One thread at a time.
class LargeTrace {
 public:
  static Result<LargeTrace> open(store::Reader reader, std::string name, const store::SummaryWatch& watch);

  TimeNs begin() const { return overview_.begin(); }
  TimeNs end() const { return overview_.end(); }
  const store::Overview& overview() const { return overview_; }
  /// The whole trace, from the coarsest columns only.
  Picture whole() const;
  Result<Picture> picture(TimeNs begin, TimeNs end);
  Result<SearchHits> search(const std::string& text) const;

 private:
  LargeTrace(store::Reader reader, store::Overview overview)
      : reader_(std::move(reader)), overview_(std::move(overview)) {}
  Result<analyzer::TraceModel> rows(TimeNs begin, TimeNs end);

  store::Reader reader_;
  store::Overview overview_;
  analyzer::TraceModel small_;  // the tables that do not grow with the trace's events
  std::vector<CoarseLane> lanes_;
};

}  // namespace wicprof::gui
