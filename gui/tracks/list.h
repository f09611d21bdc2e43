// The kinds of tracks, from top to bottom. A new one: its file in this folder, and its line in list.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyzer/trace/trace_model.h"
#include "gui/view/track.h"

namespace wicprof::gui {

/// What there is more than one of, so that names have to say which.
struct Crowd {
  bool devices = false, processes = false;
};

struct TrackKind {
  std::string_view group;  ///< the heading above its tracks
  std::vector<Track> (*build)(const analyzer::TraceModel& model);
  /// A track without anything on it: its key, name and note. The model may lack the rows, but not devices and sites.
  Track (*named)(const analyzer::TraceModel& model, const store::TrackKey& key, const Crowd& crowd);
  store::LaneKind lane;
  EventKind events;  ///< most of those on it
};
std::span<const TrackKind> track_kinds();

std::vector<Track> sm_tracks(const analyzer::TraceModel& model);
std::vector<Track> signal_tracks(const analyzer::TraceModel& model);
std::vector<Track> stream_tracks(const analyzer::TraceModel& model);
std::vector<Track> migration_tracks(const analyzer::TraceModel& model);
std::vector<Track> host_thread_tracks(const analyzer::TraceModel& model);
std::vector<Track> nvtx_tracks(const analyzer::TraceModel& model);

Track sm_track(const analyzer::TraceModel& model, const store::TrackKey& key, const Crowd& crowd);
Track signal_track(const analyzer::TraceModel& model, const store::TrackKey& key, const Crowd& crowd);
Track stream_track(const analyzer::TraceModel& model, const store::TrackKey& key, const Crowd& crowd);
Track migration_track(const analyzer::TraceModel& model, const store::TrackKey& key, const Crowd& crowd);
Track host_thread_track(const analyzer::TraceModel& model, const store::TrackKey& key, const Crowd& crowd);
Track nvtx_track(const analyzer::TraceModel& model, const store::TrackKey& key, const Crowd& crowd);

/// By the name that its samples give it.
void name_thread(Track& track, const std::string& name);

/// Who is in a list of tracks.
template <class Keys>
Crowd crowd_of(const Keys& keys) {
  Crowd crowd;
  const store::TrackKey* first = nullptr;
  for (const store::TrackKey& key : keys) {
    if (first == nullptr) first = &key;
    crowd.devices = crowd.devices || key.device != first->device;
    crowd.processes = crowd.processes || key.process != first->process;
  }
  return crowd;
}

}  // namespace wicprof::gui
