// A program of handoffs between kernels, for tests of the view model.
#pragma once

#include "gui/tracks/list.h"
#include "gui/view/timeline.h"
#include "tests/analyzer/synthetic.h"

namespace wicprof::gui {

inline analyzer::TraceModel handoffs() {
  analyzer::TraceModel model = analyzer::synthetic::empty_program();
  analyzer::synthetic::add_handoff(model, {});
  analyzer::settle(model);
  return model;
}

inline Timeline with_edges(const analyzer::TraceModel& model) {
  Timeline timeline = build_timeline(model, kTrackKinds);
  add_edges(timeline, model, analyzer::match(model));
  return timeline;
}

}  // namespace wicprof::gui
