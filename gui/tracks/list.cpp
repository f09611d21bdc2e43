#include "gui/tracks/list.h"

#include <array>

namespace wicprof::gui {

namespace {
constexpr std::array kKinds{
    TrackKind{"NVTX", nvtx_tracks, nvtx_track, store::LaneKind::nvtx, EventKind::nvtx},
    TrackKind{"Host threads", host_thread_tracks, host_thread_track, store::LaneKind::thread, EventKind::call},
    TrackKind{"Streams", stream_tracks, stream_track, store::LaneKind::stream, EventKind::kernel},
    TrackKind{"Managed memory", migration_tracks, migration_track, store::LaneKind::managed, EventKind::migration},
    TrackKind{"Signals", signal_tracks, signal_track, store::LaneKind::signals, EventKind::signal},
    TrackKind{"SMs", sm_tracks, sm_track, store::LaneKind::sm, EventKind::wait},
};
}  // namespace

std::span<const TrackKind> track_kinds() { return kKinds; }

}  // namespace wicprof::gui
