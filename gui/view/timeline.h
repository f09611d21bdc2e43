// The timeline of a trace: its tracks, the changes of how the program waits, and the wake edges.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/matching.h"
#include "gui/view/track_kind.h"

namespace wicprof::gui {

/// A change of how the program waits, drawn across all tracks.
struct InterventionMark {
  TimeNs at = 0;
  std::string label;  ///< "park (auto)", or "left: park (backoff)" for one site
  Mode mode = Mode::poll;
};

/// An arrow from a signal to a wait that it ended.
struct EdgeArrow {
  EventRef from, to;
  TimeNs from_ns = 0, to_ns = 0;
  std::uint32_t count = 1;  ///< edges that the arrow represents
};

/// Immutable after building; any thread may read it.
struct Timeline {
  TimeNs begin = 0, end = 0;
  std::vector<Track> tracks;
  std::vector<InterventionMark> interventions;
  static constexpr std::uint32_t kOverviewColumns = 512;
  /// From begin to end: who waits in all strips, as parts of their joint maximum; without strips, the share of time
  /// that the rows of streams, else those of host threads, are in each state.
  std::vector<DensityColumn> overview;
  /// Of the same columns, the part in which kernels poll, by their samples; within the time in which they compute.
  std::vector<float> overview_polling;
  /// Also after what the rows show has changed.
  void fill_overview();
  /// The warps of all strips in [from, to), in `columns` columns, with the colour of the mode (by_mode()).
  std::vector<DensityColumn> warps(TimeNs from, TimeNs to, std::uint32_t columns) const;
  std::vector<analyzer::WakeEdge> edges;  ///< ordered by the end of their wait

  /// Arrows that end in [from, to), at most `limit`, those of most edges first kept. One arrow represents all edges
  /// that begin in the same column of the same track and end in the same column of the same track.
  std::vector<EdgeArrow> arrows(const analyzer::TraceModel& model, TimeNs from, TimeNs to, std::uint32_t columns,
                                std::size_t limit) const;
  /// All edges of one event: from a signal to the waits that it ended (at most `limit`), or the one that ended a wait.
  std::vector<EdgeArrow> edges_of(const analyzer::TraceModel& model, EventRef ref, std::size_t limit) const;
  /// The same arrows, bundled as in arrows(): at most `limit`.
  std::vector<EdgeArrow> bundled(const std::vector<EdgeArrow>& arrows, TimeNs from, TimeNs to, std::uint32_t columns,
                                 std::size_t limit) const;
  /// The edge that ended this wait, or the first edge from this signal; nullptr when none is known.
  const analyzer::WakeEdge* edge_of(EventRef ref) const;
  /// The row that shows an event; nothing when no row does.
  struct Place {
    std::uint32_t track = 0, row = 0;
  };
  std::optional<Place> place_of(EventRef ref) const;
  std::vector<Place> places[kEventKinds];  ///< by the event's index; events without a row have track UINT32_MAX
};

/// `kinds`: the kinds of tracks, from top to bottom.
Timeline build_timeline(const analyzer::TraceModel& model, std::span<const TrackKind> kinds);
/// A lane of a large trace, as its summaries describe it.
struct CoarseLane {
  const store::Lane* lane = nullptr;
  std::shared_ptr<const Coarse> columns;
};
/// The timeline of a large trace. The model has event rows of [fine_begin, fine_end) only, but begin and end of the
/// whole trace; `lanes`, in the summaries' order, cover the rest.
Timeline build_timeline(const analyzer::TraceModel& model, std::span<const TrackKind> kinds,
                        const std::vector<CoarseLane>& lanes, TimeNs fine_begin, TimeNs fine_end);
/// The wait that an edge ends.
EventRef waiter_of(const analyzer::WakeEdge& edge);
/// Adds the wake edges. A separate step, because matching takes too long for the first picture.
void add_edges(Timeline& timeline, const analyzer::TraceModel& model, const analyzer::Matching& matching);

}  // namespace wicprof::gui
