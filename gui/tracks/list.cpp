#include "gui/tracks/list.h"

#include <array>

namespace wicprof::gui {

namespace {
constexpr std::array kKinds{
    TrackKind{"NVTX", nvtx_tracks},
    TrackKind{"Host threads", host_thread_tracks},
    TrackKind{"Streams", stream_tracks},
    TrackKind{"Managed memory", migration_tracks},
    TrackKind{"Signals", signal_tracks},
    TrackKind{"SMs", sm_tracks},
};
}  // namespace

std::span<const TrackKind> track_kinds() { return kKinds; }

}  // namespace wicprof::gui
