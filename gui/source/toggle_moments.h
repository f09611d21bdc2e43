// Keeps the waits around each change of how a growing trace's program waits, after the window has dropped their rows,
// so that the pictures before and after a change last as long as the program runs.
#pragma once

#include <memory>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "gui/view/timeline.h"

namespace wicprof::gui {

struct ToggleMoment {
  TimeNs at = 0;     ///< when the change took effect
  TimeNs begin = 0;  ///< the part that the picture shows
  TimeNs end = 0;
  std::size_t after = 0;                                      ///< waits that arrived after the change
  std::shared_ptr<const std::vector<store::WaitRow>> before;  ///< those that arrived before it
  std::shared_ptr<const Timeline> timeline;
};
using ToggleMomentList = std::shared_ptr<const std::vector<ToggleMoment>>;

/// The picture of the change that is nearest to `at`; nullptr: none is kept.
const ToggleMoment* moment_at(const ToggleMomentList& moments, TimeNs at);

/// One thread at a time. Bounded: keeps the newest changes, each with so many waits on both sides.
class ToggleMoments {
 public:
  static constexpr std::size_t kMost = 8, kWaits = 5'000;  // not calibrated

  /// Call with each new model of the trace.
  void observe(const analyzer::TraceModel& model);
  const ToggleMomentList& list() const { return list_; }

 private:
  ToggleMomentList list_ = std::make_shared<const std::vector<ToggleMoment>>();
};

}  // namespace wicprof::gui
