#include "gui/view/layout.h"

namespace wicprof::gui {

Layout lay_out(const Timeline& timeline, const std::set<std::string>& opened, const std::set<std::string>& pinned,
               const std::set<std::string>& closed, const TrackSizes& sizes) {
  Layout layout;
  float y = 0;
  const auto heading = [&](const std::string& text, bool is_pinned) {
    PlacedTrack place;
    place.heading = text;
    place.top = y;
    place.height = sizes.heading;
    place.pinned = is_pinned;
    layout.list.push_back(place);
    y += sizes.heading;
  };
  const auto put = [&](std::size_t index, bool is_pinned) {
    const Track& track = timeline.tracks[index];
    PlacedTrack place;
    place.track = index;
    place.top = y;
    place.pinned = is_pinned;
    place.rows_top = y;
    if (track.has_strip()) {
      place.opened = opened.count(track.key) != 0;
      place.rows_top = y + sizes.strip + 2;
      place.rows = place.opened ? track.rows.size() : 0;
      place.row_height = sizes.opened_row;
      place.height = sizes.strip + (place.opened ? 2 + static_cast<float>(place.rows) * sizes.opened_row : 0);
    } else if (track.has_readings()) {
      place.height = sizes.readings;
    } else {
      place.rows = track.rows.size();
      place.row_height = sizes.row;
      place.height = static_cast<float>(place.rows) * sizes.row;
    }
    layout.list.push_back(place);
    y += place.height + sizes.gap;
  };
  bool any_pinned = false;
  for (std::size_t i = 0; i < timeline.tracks.size(); ++i) {
    if (pinned.count(timeline.tracks[i].key) == 0) continue;
    if (!any_pinned) heading("Pinned", true);
    any_pinned = true;
    put(i, true);
  }
  layout.pinned_height = y;
  const std::string* group = nullptr;
  for (std::size_t i = 0; i < timeline.tracks.size(); ++i) {
    const Track& track = timeline.tracks[i];
    if (pinned.count(track.key) != 0) continue;
    if (group == nullptr || *group != track.group) {
      group = &track.group;
      heading(track.group, false);
    }
    if (closed.count(track.group) == 0) put(i, false);
  }
  layout.height = y;
  return layout;
}

}  // namespace wicprof::gui
