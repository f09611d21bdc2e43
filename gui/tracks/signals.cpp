// Signals to each wait site, from any sender.
#include <fmt/format.h>

#include "gui/view/track_kind.h"

namespace wicprof::gui {

template <>
Track empty_track<struct Signals>(const analyzer::TraceModel& model, const store::TrackKey& key, const TrackScope&,
                                  std::string_view) {
  Track track;
  track.name = model.site_name(key.number);
  track.key = "signals/" + track.name;
  track.note = "signals to " + track.name;
  return track;
}

template <>
std::vector<Track> build_tracks<struct Signals>(const analyzer::TraceModel& model) {
  return tracks_of_rows<Signals>(model, model.signals);
}

}  // namespace wicprof::gui
