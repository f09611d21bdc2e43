// The timeline of a trace: its tracks, the changes of how the program waited, and who woke whom.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/matching.h"
#include "gui/view/track.h"

namespace wicprof::gui {

/// A change of how the program waits, across all tracks.
struct InterventionMark {
  TimeNs at = 0;
  std::string label;  ///< "park (auto)", or "left: park (backoff)" for one site
  Mode mode = Mode::poll;
};

/// An arrow from a signal to a wait that it ended.
struct EdgeArrow {
  EventRef from, to;
  TimeNs from_ns = 0, to_ns = 0;
  std::uint32_t count = 1;  ///< edges that it stands for
};

struct Timeline {
  TimeNs begin = 0, end = 0;  ///< what there is to see
  std::vector<Track> tracks;
  std::vector<InterventionMark> interventions;
  static constexpr std::uint32_t kOverviewColumns = 512;
  std::vector<DensityColumn> overview;    ///< all strips together from begin to end; of 1, the most that can be
  std::vector<analyzer::WakeEdge> edges;  ///< in order of their wait's end

  /// Arrows that end in [from, to), at most about `limit`: of the edges of one signal and one column, one stands for
  /// all.
  std::vector<EdgeArrow> arrows(const analyzer::TraceModel& model, TimeNs from, TimeNs to, std::uint32_t columns,
                                std::size_t limit) const;
  /// All edges of one event: those of a signal to the waits that it ended, at most `limit`, or the one that ended a
  /// wait.
  std::vector<EdgeArrow> edges_of(const analyzer::TraceModel& model, EventRef ref, std::size_t limit) const;
  /// The edge that ended this wait, or the first that this signal sent; nullptr when none is known.
  const analyzer::WakeEdge* edge_of(EventRef ref) const;
  /// Where an event is shown; nothing when it is not.
  struct Place {
    std::uint32_t track = 0, row = 0;
  };
  std::optional<Place> place_of(EventRef ref) const;
  std::vector<Place> places[kEventKinds];  ///< by the event's index; a track beyond all others: nowhere
};

/// All of it is worked out here; reading a Timeline never changes it. Any thread.
Timeline build_timeline(const analyzer::TraceModel& model);
/// A lane of a large trace: what its summaries tell.
struct CoarseLane {
  const store::Lane* lane = nullptr;
  std::shared_ptr<const Coarse> columns;
};
/// Of a trace of which the model has the rows of [fine_begin, fine_end) only, and of the rest what summaries tell; its
/// begin and end are those of the whole. Lanes in the summaries' order.
Timeline build_timeline(const analyzer::TraceModel& model, const std::vector<CoarseLane>& lanes, TimeNs fine_begin,
                        TimeNs fine_end);
/// The edges come later, since matching takes longer than the picture may.
void add_edges(Timeline& timeline, const analyzer::TraceModel& model, const analyzer::Matching& matching);

}  // namespace wicprof::gui
