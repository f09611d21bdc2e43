// The kinds of tracks, from top to bottom. A new one: its file in this folder, and its line in list.cpp.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyzer/trace_model.h"
#include "gui/view/track.h"

namespace wicprof::gui {

struct TrackKind {
  std::string_view group;  ///< the heading above its tracks
  std::vector<Track> (*build)(const analyzer::TraceModel& model);
};
std::span<const TrackKind> track_kinds();

std::vector<Track> sm_tracks(const analyzer::TraceModel& model);
std::vector<Track> signal_tracks(const analyzer::TraceModel& model);
std::vector<Track> stream_tracks(const analyzer::TraceModel& model);
std::vector<Track> migration_tracks(const analyzer::TraceModel& model);
std::vector<Track> host_thread_tracks(const analyzer::TraceModel& model);
std::vector<Track> nvtx_tracks(const analyzer::TraceModel& model);

}  // namespace wicprof::gui
