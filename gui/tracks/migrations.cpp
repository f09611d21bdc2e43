// Managed memory: page faults and page migrations, per device.
#include <fmt/format.h>

#include "gui/view/track_kind.h"

namespace wicprof::gui {

template <>
Track empty_track<struct Migrations>(const analyzer::TraceModel& model, const store::TrackKey& key, const TrackScope&,
                                     std::string_view) {
  Track track;
  track.key = fmt::format("managed/{}", key.device);
  track.name = model.device_key(key.device);
  track.note = model.device_name(key.device);
  return track;
}

template <>
std::vector<Track> build_tracks<struct Migrations>(const analyzer::TraceModel& model) {
  return tracks_of_rows<Migrations>(model, model.uvm);
}

}  // namespace wicprof::gui
