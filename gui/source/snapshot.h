// What the window knows of a trace at one moment. Parts come as they are ready; each is never changed once it is there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/figures/figure.h"
#include "gui/view/segments.h"
#include "gui/view/status_line.h"
#include "gui/view/timeline.h"

namespace wicprof::gui {

/// What takes longer to work out than a picture may wait. Its model is the whole trace, as far as it was known then.
struct Facts {
  std::shared_ptr<const analyzer::TraceModel> model;
  analyzer::Analysis analysis;
  analyzer::Comparison comparison;
  BeforeAfter before_after;
  std::vector<analyzer::Figure> figures;  ///< of the paper, in the order of their list
};

struct Snapshot {
  std::uint64_t version = 0;                          ///< another number for another snapshot
  std::shared_ptr<const analyzer::TraceModel> model;  ///< nullptr: nothing read yet
  std::shared_ptr<const Timeline> timeline;           ///< of `model`
  std::shared_ptr<const Facts> facts;                 ///< may be of an earlier model; nullptr: not worked out yet
  StatusLine status;
  bool recording = false;  ///< the trace is being written, and more will come
  bool cut = false;        ///< `model` holds the last part of the trace only
  TimeNs published = 0;    ///< when, on now_ns()'s clock
};

struct LoadProgress {
  std::string doing;          ///< "reading", "arranging", "analysing"; empty = done
  double part = 0;            ///< 0 to 1
  std::optional<Error> error;  ///< why there is nothing to show, or nothing more
};

}  // namespace wicprof::gui
