#include "gui/view/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analyzer/words/format.h"

namespace wicprof::gui {

namespace {

/// Edges examined per arrow drawn: enough for merging without a pass over all edges. Not calibrated.
constexpr std::size_t kEdgesPerArrow = 16;

void index_places(Timeline& timeline) {
  for (std::uint32_t t = 0; t < timeline.tracks.size(); ++t) {
    const std::vector<SpanRow>& rows = timeline.tracks[t].rows;
    for (std::uint32_t r = 0; r < rows.size(); ++r) {
      for (const Span& span : rows[r].spans()) {
        std::vector<Timeline::Place>& list = timeline.places[static_cast<std::size_t>(span.ref.kind)];
        if (list.size() <= span.ref.index) list.resize(span.ref.index + 1, {UINT32_MAX, 0});
        list[span.ref.index] = {t, r};
      }
    }
  }
}

/// Without a strip: the share of each column that the rows of streams are busy, else those of host threads.
void fill_overview_with_rows(Timeline& timeline) {
  std::vector<const SpanRow*> rows;
  for (const char* kind : {"stream/", "thread/"}) {
    for (const Track& track : timeline.tracks) {
      if (track.folded || !track.key.starts_with(kind)) continue;
      for (const SpanRow& row : track.rows) rows.push_back(&row);
    }
    if (!rows.empty()) break;
  }
  const double width = static_cast<double>(timeline.end - timeline.begin) / Timeline::kOverviewColumns;
  for (std::uint32_t i = 0; !rows.empty() && i < Timeline::kOverviewColumns; ++i) {
    const TimeNs from = timeline.begin + static_cast<TimeNs>(i * width),
                 to = timeline.begin + static_cast<TimeNs>((i + 1) * width);
    if (to <= from) continue;
    for (std::size_t s = 0; s < kStates; ++s) {
      double time = 0;
      for (const SpanRow* row : rows) time += static_cast<double>(row->time_in(static_cast<State>(s), from, to));
      timeline.overview[i].count[s] = static_cast<float>(time / (width * static_cast<double>(rows.size())));
    }
    double polling = 0;
    for (const SpanRow* row : rows) polling += row->polling_in(from, to);
    timeline.overview_polling[i] = static_cast<float>(polling / (width * static_cast<double>(rows.size())));
  }
}

void add_interventions(Timeline& timeline, const analyzer::TraceModel& model) {
  for (const store::InterventionRow& row : model.interventions) {
    const std::string strategy = analyzer::way_name(row.new_mode, row.new_strategy);
    timeline.interventions.push_back(
        {row.effective, row.site == 0 ? strategy : fmt::format("{}: {}", model.site_name(row.site), strategy),
         row.new_mode});
  }
}

bool holds(const SpanRow& row, EventKind kind) { return !row.spans().empty() && row.spans().front().ref.kind == kind; }

bool is_lane_of(const CoarseLane& lane, const store::TrackKey& key) { return lane.lane->track == key; }

/// Gives `track` the summaries of its lanes, starting at lanes[at], beside the rows that it has from the model. `at`
/// ends up behind the last lane of this track.
void add_lanes(Track& track, store::LaneKind kind, EventKind events, const std::vector<CoarseLane>& lanes,
               std::size_t& at, TimeNs begin, TimeNs end) {
  const store::TrackKey& key = lanes[at].lane->track;
  if (kind == store::LaneKind::sm) {
    for (SpanRow& row : track.rows) row.set_coarse(nullptr, events, begin, end);
    track.density.set_coarse(lanes[at].columns, begin, end);
    track.note += fmt::format("; at most {} at once", analyzer::count_of(track.density.most(), "waiter"));
    ++at;
    return;
  }
  std::size_t row = 0;
  for (; at < lanes.size() && is_lane_of(lanes[at], key); ++at, ++row) {
    if (row >= track.rows.size()) track.rows.emplace_back();
    track.rows[row].set_coarse(lanes[at].columns, events, begin, end);
  }
  // The rows of a part may nest deeper than the lanes of the whole: such rows show at close zoom only.
  for (; row < track.rows.size(); ++row) track.rows[row].set_coarse(nullptr, events, begin, end);
}

/// Adds the rows below the main ones, if the trace has lanes for them.
void add_lower_rows(Track& track, const TrackKind::LowerRows& lower, std::vector<SpanRow> rows, store::TrackKey key,
                    const std::vector<CoarseLane>& lanes, TimeNs begin, TimeNs end) {
  key.kind = lower.lane;
  const auto first = std::find_if(lanes.begin(), lanes.end(), [&](const auto& lane) { return is_lane_of(lane, key); });
  if (first == lanes.end()) return;
  Track below;
  below.rows = std::move(rows);
  auto at = static_cast<std::size_t>(first - lanes.begin());
  add_lanes(below, lower.lane, lower.events, lanes, at, begin, end);
  for (SpanRow& row : below.rows) track.rows.push_back(std::move(row));
}

/// The tracks of one kind, from the summaries' lanes and the rows that the model has.
std::vector<Track> tracks_from_lanes(const TrackKind& kind, const analyzer::TraceModel& model,
                                     const std::vector<CoarseLane>& lanes, TimeNs fine_begin, TimeNs fine_end) {
  if (!kind.lane) return kind.build(model);
  std::map<std::string, Track> fine;
  for (Track& track : kind.build(model)) fine.emplace(track.key, std::move(track));
  std::vector<store::TrackKey> keys;
  for (const CoarseLane& lane : lanes) {
    if (lane.lane->track.kind == kind.lane) keys.push_back(lane.lane->track);
  }
  const TrackScope scope = scope_of(keys);
  std::vector<Track> tracks;
  for (std::size_t at = 0; at < lanes.size();) {
    const store::Lane& lane = *lanes[at].lane;
    if (lane.track.kind != kind.lane) {
      ++at;
      continue;
    }
    Track track = kind.make_empty(model, lane.track, scope, lane.name);
    std::vector<SpanRow> lower_rows;
    if (const auto known = fine.find(track.key); known != fine.end()) {
      track.density = std::move(known->second.density);
      for (SpanRow& row : known->second.rows)
        (kind.lower && holds(row, kind.lower->events) ? lower_rows : track.rows).push_back(std::move(row));
    }
    add_lanes(track, *kind.lane, kind.main_events, lanes, at, fine_begin, fine_end);
    if (kind.lower) add_lower_rows(track, *kind.lower, std::move(lower_rows), lane.track, lanes, fine_begin, fine_end);
    tracks.push_back(std::move(track));
  }
  return tracks;
}

/// `tracks_of(kind)`: the tracks of one kind.
template <class TracksOf>
Timeline assemble(const analyzer::TraceModel& model, std::span<const TrackKind> kinds, TracksOf tracks_of) {
  Timeline timeline;
  timeline.begin = model.begin;
  timeline.end = std::max(model.end, model.begin + 1);
  for (const TrackKind& kind : kinds) {
    for (Track& track : tracks_of(kind)) {
      std::size_t events = 0;
      for (const SpanRow& row : track.rows) events += row.events();
      track.folded = track.folded || (kind.lane == store::LaneKind::stream && events <= 1);
      track.group = track.folded ? kFoldedGroup : std::string(kind.group);
      timeline.tracks.push_back(std::move(track));
    }
  }
  std::stable_partition(timeline.tracks.begin(), timeline.tracks.end(), [](const Track& one) { return !one.folded; });
  index_places(timeline);
  add_interventions(timeline, model);
  timeline.fill_overview();
  return timeline;
}

}  // namespace

void Timeline::fill_overview() {
  overview = warps(begin, end, kOverviewColumns);
  overview_polling.assign(kOverviewColumns, 0);
  double most = 0;
  for (const Track& track : tracks) most += track.has_strip() ? track.density.most() : 0;
  for (DensityColumn& column : overview) {
    column.count[index_of(State::computing)] = 0;  // between waits: a column shows who waits
    for (float& count : column.count) count = most > 0 ? static_cast<float>(count / most) : 0;
  }
  if (most <= 0) fill_overview_with_rows(*this);
}

std::vector<DensityColumn> Timeline::warps(TimeNs from, TimeNs to, std::uint32_t columns) const {
  std::vector<DensityColumn> sums(columns);
  for (const Track& track : tracks) {
    if (!track.has_strip()) continue;
    const auto drawn = track.density.draw(from, to, columns);
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      const DensityColumn coloured = by_mode(drawn[i]);
      for (std::size_t s = 0; s < kStates; ++s) sums[i].count[s] += coloured.count[s];
    }
  }
  return sums;
}

EventRef waiter_of(const analyzer::WakeEdge& edge) {
  return {edge.host ? EventKind::host_wait : EventKind::wait, static_cast<std::uint32_t>(edge.wait)};
}

Timeline build_timeline(const analyzer::TraceModel& model, std::span<const TrackKind> kinds) {
  return assemble(model, kinds, [&](const TrackKind& kind) { return kind.build(model); });
}

Timeline build_timeline(const analyzer::TraceModel& model, std::span<const TrackKind> kinds,
                        const std::vector<CoarseLane>& lanes, TimeNs fine_begin, TimeNs fine_end) {
  return assemble(model, kinds,
                  [&](const TrackKind& kind) { return tracks_from_lanes(kind, model, lanes, fine_begin, fine_end); });
}

void add_edges(Timeline& timeline, const analyzer::TraceModel& model, const analyzer::Matching& matching) {
  timeline.edges = matching.edges;
  std::stable_sort(timeline.edges.begin(), timeline.edges.end(), [&](const auto& a, const auto& b) {
    return analyzer::view_of(model, a).end < analyzer::view_of(model, b).end;
  });
}

std::vector<EdgeArrow> Timeline::arrows(const analyzer::TraceModel& model, TimeNs from, TimeNs to,
                                        std::uint32_t columns, std::size_t limit) const {
  std::vector<EdgeArrow> list;
  if (to <= from || columns == 0) return list;
  const auto by_end = [&](const analyzer::WakeEdge& edge, TimeNs time) {
    return analyzer::view_of(model, edge).end < time;
  };
  const auto first = std::lower_bound(edges.begin(), edges.end(), from, by_end);
  const auto last = std::lower_bound(first, edges.end(), to, by_end);
  // Bounds the work: looks at this many edges, spread evenly over the window.
  const auto total = static_cast<std::size_t>(last - first);
  const std::size_t examined = std::min(total, limit * kEdgesPerArrow);
  for (std::size_t i = 0; i < examined; ++i) {
    const analyzer::WakeEdge& edge = first[static_cast<std::ptrdiff_t>(i * total / examined)];
    list.push_back({{EventKind::signal, static_cast<std::uint32_t>(edge.signal)},
                    waiter_of(edge),
                    model.signals[edge.signal].at,
                    analyzer::view_of(model, edge).end,
                    1});
  }
  return bundled(list, from, to, columns, limit);
}

std::vector<EdgeArrow> Timeline::bundled(const std::vector<EdgeArrow>& arrows, TimeNs from, TimeNs to,
                                         std::uint32_t columns, std::size_t limit) const {
  std::vector<EdgeArrow> list;
  if (to <= from || columns == 0) return list;
  const double width = static_cast<double>(to - from) / columns;
  const auto column_of = [&](TimeNs time) {
    return static_cast<std::int64_t>(std::floor(static_cast<double>(time - from) / width));
  };
  const auto track_of = [&](EventRef ref) {
    const auto place = place_of(ref);
    return place ? place->track : UINT32_MAX;
  };
  std::map<std::tuple<std::uint32_t, std::int64_t, std::uint32_t, std::int64_t>, std::size_t> known;
  for (const EdgeArrow& arrow : arrows) {
    const auto [found, fresh] = known.try_emplace(
        {track_of(arrow.from), column_of(arrow.from_ns), track_of(arrow.to), column_of(arrow.to_ns)}, list.size());
    if (fresh) {
      list.push_back(arrow);
    } else {
      list[found->second].count += arrow.count;
    }
  }
  if (list.size() > limit) {
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
    list.resize(limit);
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.to_ns < b.to_ns; });
  }
  return list;
}

std::vector<EdgeArrow> Timeline::edges_of(const analyzer::TraceModel& model, EventRef ref, std::size_t limit) const {
  std::vector<EdgeArrow> list;
  for (const analyzer::WakeEdge& edge : edges) {
    const bool touches = ref.kind == EventKind::signal ? edge.signal == ref.index : waiter_of(edge) == ref;
    if (!touches) continue;
    list.push_back({{EventKind::signal, static_cast<std::uint32_t>(edge.signal)},
                    waiter_of(edge),
                    model.signals[edge.signal].at,
                    analyzer::view_of(model, edge).end,
                    1});
    if (list.size() >= limit) break;
  }
  return list;
}

const analyzer::WakeEdge* Timeline::edge_of(EventRef ref) const {
  const auto found = std::find_if(edges.begin(), edges.end(), [&](const analyzer::WakeEdge& edge) {
    return ref.kind == EventKind::signal ? edge.signal == ref.index : waiter_of(edge) == ref;
  });
  return found == edges.end() ? nullptr : &*found;
}

std::optional<Timeline::Place> Timeline::place_of(EventRef ref) const {
  const std::vector<Place>& list = places[static_cast<std::size_t>(ref.kind)];
  if (ref.index >= list.size() || list[ref.index].track >= tracks.size()) return std::nullopt;
  return list[ref.index];
}

}  // namespace wicprof::gui
