// All kinds of tracks, from top to bottom.
//
// To add a kind, write its file in this folder and add one line below. The file defines
// `template <> ... build_tracks<struct NewKind>(...)` and, where summaries have lanes of the kind,
// `template <> ... empty_track<struct NewKind>(...)`.
#pragma once

#include "gui/view/track_kind.h"

namespace wicprof::gui {

using store::LaneKind;

inline constexpr TrackKind kTrackKinds[] = {
    {"NVTX", build_tracks<struct Nvtx>, empty_track<struct Nvtx>, LaneKind::nvtx, EventKind::nvtx},
    {"Host threads", build_tracks<struct HostThreads>, empty_track<struct HostThreads>, LaneKind::thread,
     EventKind::call, TrackKind::LowerRows{LaneKind::delay, EventKind::thread_sample}},
    {"Streams", build_tracks<struct Streams>, empty_track<struct Streams>, LaneKind::stream, EventKind::kernel},
    {"Managed memory", build_tracks<struct Migrations>, empty_track<struct Migrations>, LaneKind::managed,
     EventKind::migration},
    {"Power and clocks", build_tracks<struct Readings>},
    {"Signals", build_tracks<struct Signals>, empty_track<struct Signals>, LaneKind::signals, EventKind::signal},
    {"SMs", build_tracks<struct Sms>, empty_track<struct Sms>, LaneKind::sm, EventKind::wait},
};

}  // namespace wicprof::gui
