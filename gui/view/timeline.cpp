#include "gui/view/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzer/words/format.h"
#include "gui/tracks/list.h"

namespace wicprof::gui {

namespace {

EventRef waiter_of(const analyzer::WakeEdge& edge) {
  return {edge.host ? EventKind::host_wait : EventKind::wait, static_cast<std::uint32_t>(edge.wait)};
}

TimeNs end_of(const analyzer::TraceModel& model, const analyzer::WakeEdge& edge) {
  return edge.host ? model.host_waits[edge.wait].end : model.waits[edge.wait].resumed;
}

void note_places(Timeline& timeline) {
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

void sum_up_strips(Timeline& timeline) {
  timeline.overview.assign(Timeline::kOverviewColumns, {});
  double most = 0;
  for (const Track& track : timeline.tracks) {
    if (!track.has_strip()) continue;
    most += track.density.most();
    const auto columns = track.density.draw(timeline.begin, timeline.end, Timeline::kOverviewColumns);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      for (std::size_t s = 0; s < kStates; ++s) timeline.overview[i].count[s] += columns[i].count[s];
    }
  }
  for (DensityColumn& column : timeline.overview) {
    for (float& count : column.count) count = most > 0 ? static_cast<float>(count / most) : 0;
  }
}

void note_interventions(Timeline& timeline, const analyzer::TraceModel& model) {
  for (const store::InterventionRow& row : model.interventions) {
    const std::string way = analyzer::way_name(row.new_mode, row.new_strategy);
    timeline.interventions.push_back(
        {row.effective, row.site == 0 ? way : fmt::format("{}: {}", model.site_name(row.site), way), row.new_mode});
  }
}

bool delayed(const SpanRow& row) {
  return !row.spans().empty() && row.spans().front().ref.kind == EventKind::thread_sample;
}

/// Takes over the lanes of one track, from `at` on; whichever rows the model has are in `track`.
void add_lanes(Track& track, const TrackKind& kind, const std::vector<CoarseLane>& lanes, std::size_t& at, TimeNs begin,
               TimeNs end) {
  const store::TrackKey& key = lanes[at].lane->track;
  if (kind.lane == store::LaneKind::sm) {
    for (SpanRow& row : track.rows) row.set_coarse(nullptr, kind.events, begin, end);
    track.density.set_coarse(lanes[at].columns, begin, end);
    track.note += fmt::format("; at most {} at once", analyzer::count_of(track.density.most(), "waiter"));
    ++at;
    return;
  }
  std::size_t row = 0;
  for (; at < lanes.size() && lanes[at].lane->track == key; ++at, ++row) {
    if (row >= track.rows.size()) track.rows.emplace_back();
    track.rows[row].set_coarse(lanes[at].columns, kind.events, begin, end);
  }
  // Nested deeper here than where all rows were put in order: seen from near only.
  for (; row < track.rows.size(); ++row) track.rows[row].set_coarse(nullptr, kind.events, begin, end);
}

}  // namespace

Timeline build_timeline(const analyzer::TraceModel& model) {
  Timeline timeline;
  timeline.begin = model.begin;
  timeline.end = std::max(model.end, model.begin + 1);
  for (const TrackKind& kind : track_kinds()) {
    for (Track& track : kind.build(model)) {
      track.group = kind.group;
      timeline.tracks.push_back(std::move(track));
    }
  }
  note_places(timeline);
  note_interventions(timeline, model);
  sum_up_strips(timeline);
  return timeline;
}

Timeline build_timeline(const analyzer::TraceModel& model, const std::vector<CoarseLane>& lanes, TimeNs fine_begin,
                        TimeNs fine_end) {
  Timeline timeline;
  timeline.begin = model.begin;
  timeline.end = std::max(model.end, model.begin + 1);
  for (const TrackKind& kind : track_kinds()) {
    std::map<std::string, Track> fine;
    for (Track& track : kind.build(model)) fine.emplace(track.key, std::move(track));
    std::vector<store::TrackKey> keys;
    for (const CoarseLane& lane : lanes) {
      if (lane.lane->track.kind == kind.lane) keys.push_back(lane.lane->track);
    }
    const Crowd crowd = crowd_of(keys);
    for (std::size_t at = 0; at < lanes.size();) {
      const store::Lane& lane = *lanes[at].lane;
      if (lane.track.kind != kind.lane) {
        ++at;
        continue;
      }
      Track track = kind.named(model, lane.track, crowd);
      track.group = kind.group;
      if (kind.lane == store::LaneKind::thread) name_thread(track, lane.name);
      std::vector<SpanRow> delays;
      if (const auto known = fine.find(track.key); known != fine.end()) {
        track.density = std::move(known->second.density);
        for (SpanRow& row : known->second.rows) (delayed(row) ? delays : track.rows).push_back(std::move(row));
      }
      store::TrackKey delay_key = lane.track;
      delay_key.kind = store::LaneKind::delay;
      add_lanes(track, kind, lanes, at, fine_begin, fine_end);
      if (kind.lane == store::LaneKind::thread) {
        const auto first =
            std::find_if(lanes.begin(), lanes.end(), [&](const CoarseLane& l) { return l.lane->track == delay_key; });
        if (first != lanes.end()) {
          Track below;
          below.rows = std::move(delays);
          auto delay_at = static_cast<std::size_t>(first - lanes.begin());
          add_lanes(below, kind, lanes, delay_at, fine_begin, fine_end);
          for (SpanRow& row : below.rows) track.rows.push_back(std::move(row));
        }
      }
      timeline.tracks.push_back(std::move(track));
    }
  }
  note_places(timeline);
  note_interventions(timeline, model);
  sum_up_strips(timeline);
  return timeline;
}

void add_edges(Timeline& timeline, const analyzer::TraceModel& model, const analyzer::Matching& matching) {
  timeline.edges = matching.edges;
  std::stable_sort(timeline.edges.begin(), timeline.edges.end(),
                   [&](const auto& a, const auto& b) { return end_of(model, a) < end_of(model, b); });
}

std::vector<EdgeArrow> Timeline::arrows(const analyzer::TraceModel& model, TimeNs from, TimeNs to,
                                        std::uint32_t columns, std::size_t limit) const {
  std::vector<EdgeArrow> list;
  if (to <= from || columns == 0) return list;
  const auto by_end = [&](const analyzer::WakeEdge& edge, TimeNs time) { return end_of(model, edge) < time; };
  const auto first = std::lower_bound(edges.begin(), edges.end(), from, by_end);
  const auto last = std::lower_bound(first, edges.end(), to, by_end);
  // So many edges are looked at, spread evenly over the window.
  const auto total = static_cast<std::size_t>(last - first);
  const std::size_t looked_at = std::min(total, limit * 16);
  const double width = static_cast<double>(to - from) / columns;
  for (std::size_t i = 0; i < looked_at; ++i) {
    const analyzer::WakeEdge& edge = first[static_cast<std::ptrdiff_t>(i * total / looked_at)];
    const TimeNs woken = end_of(model, edge);
    const EdgeArrow arrow{{EventKind::signal, static_cast<std::uint32_t>(edge.signal)},
                          waiter_of(edge),
                          model.signals[edge.signal].at,
                          woken,
                          1};
    if (!list.empty() && list.back().from == arrow.from && list.back().to.kind == arrow.to.kind &&
        arrow.to.kind == EventKind::wait && model.waits[list.back().to.index].sm == model.waits[arrow.to.index].sm &&
        static_cast<double>(woken - list.back().to_ns) < width) {
      ++list.back().count;
      continue;
    }
    list.push_back(arrow);
  }
  if (list.size() > limit) {  // of too many, evenly spread ones
    for (std::size_t i = 0; i < limit; ++i) list[i] = list[i * list.size() / limit];
    list.resize(limit);
  }
  return list;
}

std::vector<EdgeArrow> Timeline::edges_of(const analyzer::TraceModel& model, EventRef ref, std::size_t limit) const {
  std::vector<EdgeArrow> list;
  for (const analyzer::WakeEdge& edge : edges) {
    const bool its = ref.kind == EventKind::signal ? edge.signal == ref.index : waiter_of(edge) == ref;
    if (!its) continue;
    list.push_back({{EventKind::signal, static_cast<std::uint32_t>(edge.signal)},
                    waiter_of(edge),
                    model.signals[edge.signal].at,
                    end_of(model, edge),
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
