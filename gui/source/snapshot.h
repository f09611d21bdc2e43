// What the window knows of a trace at one moment. Parts come as they are ready; each is never changed once it is there.
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
  std::uint64_t version = 0;                          ///< another number for another snapshot
  std::shared_ptr<const analyzer::TraceModel> model;  ///< nullptr: nothing read yet
  std::shared_ptr<const Timeline> timeline;           ///< of `model`
  std::shared_ptr<const Facts> facts;                 ///< may be of an earlier model; nullptr: not worked out yet
  StatusLine status;
  bool recording = false;  ///< the trace is being written, and more will come
  bool cut = false;        ///< `model` holds the last part of the trace only
  bool large = false;      ///< `model` has rows of a stretch of time at most; of the rest the timeline has summaries
  std::shared_ptr<const SearchHits> found;  ///< of a large trace, what was asked for last
  TimeNs published = 0;                     ///< when, on now_ns()'s clock
};

struct LoadProgress {
  std::string doing;           ///< "reading", "arranging", "analysing"; empty = done
  double part = 0;             ///< 0 to 1
  std::optional<Error> error;  ///< why there is nothing to show, or nothing more
};

}  // namespace wicprof::gui
