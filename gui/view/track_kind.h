// A kind of track: how to build its tracks from a model, and from the lanes of a large trace.
#pragma once

#include <optional>
#include <string_view>
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

struct TrackKind {
  std::string_view group;  ///< the heading above its tracks
  std::vector<Track> (*build)(const analyzer::TraceModel& model);
  Track (*make_empty)(const analyzer::TraceModel& model, const store::TrackKey& key, const TrackScope& scope,
                      std::string_view lane_name);
  store::LaneKind lane;   ///< the summaries' lanes that fill it
  EventKind main_events;  ///< the kind of most of its events
  /// A second kind of lane, with events of its own kind, in rows below the main ones.
  struct LowerRows {
    store::LaneKind lane;
    EventKind events;
  };
  std::optional<LowerRows> lower{};
};

}  // namespace wicprof::gui
