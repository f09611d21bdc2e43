// What the window knows about a trace at one moment. Parts arrive as they become ready; each part is immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "gui/source/facts.h"
#include "gui/view/search.h"
#include "gui/view/status_line.h"
#include "gui/view/timeline.h"

namespace wicprof::gui {

struct Snapshot {
  std::uint64_t version = 0;                          ///< different for each snapshot
  std::shared_ptr<const analyzer::TraceModel> model;  ///< nullptr: not read yet
  std::shared_ptr<const Timeline> timeline;           ///< built from `model`
  std::shared_ptr<const Facts> facts;                 ///< may belong to an earlier model; nullptr: not ready yet
  StatusLine status;
  bool recording = false;  ///< the trace is still growing
  bool cut = false;        ///< `model` holds only the last part of the trace
  bool large = false;      ///< `model` has rows of one stretch at most; the timeline shows summaries of the rest
  std::shared_ptr<const SearchHits> found;  ///< the last search result, for large traces
  TimeNs published = 0;                     ///< on the clock of now_ns()
};

struct LoadProgress {
  std::string doing;           ///< "reading", "arranging", "analysing"; "" = done
  double part = 0;             ///< 0 to 1
  std::optional<Error> error;  ///< why reading stopped
};

}  // namespace wicprof::gui
