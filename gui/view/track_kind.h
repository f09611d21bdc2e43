// A kind of track: how to build its tracks from a model, and from the lanes of a large trace.
#pragma once

#include <map>
#include <optional>
#include <ranges>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "gui/view/track.h"
#include "store/summaries/lanes.h"

namespace wicprof::gui {

/// Whether tracks span several devices or processes; names then say which one.
struct TrackScope {
  bool several_devices = false, several_processes = false;
};

/// `keys`: a range of store::TrackKey.
template <class Keys>
TrackScope scope_of(const Keys& keys) {
  TrackScope scope;
  const store::TrackKey* first = nullptr;
  for (const store::TrackKey& key : keys) {
    if (first == nullptr) first = &key;
    scope.several_devices = scope.several_devices || key.device != first->device;
    scope.several_processes = scope.several_processes || key.process != first->process;
  }
  return scope;
}

/// All tracks of a kind, with all events of the model. Each file in tracks/ specialises it for its own kind.
template <class Kind>
std::vector<Track> build_tracks(const analyzer::TraceModel& model);
/// An empty track: key, name and note only. The model may lack event rows, but has devices and sites. `lane_name`: the
/// name that the trace's summaries store with the lane (store::Lane::name); "" when unknown.
template <class Kind>
Track empty_track(const analyzer::TraceModel& model, const store::TrackKey& key, const TrackScope& scope,
                  std::string_view lane_name);

using SpansOfTracks = std::map<store::TrackKey, std::vector<Span>>;

/// Adds one of the model's lists of rows, each row to the track that shows it.
template <class List>
void add_spans(SpansOfTracks& tracks, const List& rows) {
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    constexpr EventKind kKind = *store::row_kind_of<std::remove_cvref_t<decltype(row)>>();
    const auto [begin, end] = store::times_of(row);
    tracks[store::track_of(row)].push_back({begin, end, {kKind, i}, store::state_of(row)});
  }
}

/// The tracks with their spans in rows. `adapt(track, key, spans)` changes a track before its spans go into rows.
template <class Kind, class Adapt>
std::vector<Track> pack_tracks(const analyzer::TraceModel& model, SpansOfTracks spans_of, Adapt adapt) {
  const TrackScope scope = scope_of(std::views::keys(spans_of));
  std::vector<Track> list;
  for (auto& [key, spans] : spans_of) {
    Track track = empty_track<Kind>(model, key, scope, "");
    adapt(track, key, spans);
    track.rows = pack(std::move(spans));
    list.push_back(std::move(track));
  }
  return list;
}
/// The tracks of a kind that shows one of the model's lists as it is.
template <class Kind, class List>
std::vector<Track> tracks_of_rows(const analyzer::TraceModel& model, const List& rows) {
  SpansOfTracks spans_of;
  add_spans(spans_of, rows);
  return pack_tracks<Kind>(model, std::move(spans_of), [](const auto&...) {});
}

struct TrackKind {
  std::string_view group;  ///< the heading above its tracks
  std::vector<Track> (*build)(const analyzer::TraceModel& model);
  Track (*make_empty)(const analyzer::TraceModel& model, const store::TrackKey& key, const TrackScope& scope,
                      std::string_view lane_name) = nullptr;  ///< not without lanes
  std::optional<store::LaneKind> lane{};  ///< the summaries' lanes that fill it; nothing: the model has all of it
  EventKind main_events{};                ///< the kind of most of its events
  /// A second kind of lane, with events of its own kind, in rows below the main ones.
  struct LowerRows {
    store::LaneKind lane;
    EventKind events;
  };
  std::optional<LowerRows> lower{};
};

}  // namespace wicprof::gui
