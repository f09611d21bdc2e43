// The vertical arrangement of tracks: pinned tracks first, then group by group.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "gui/view/timeline.h"

namespace wicprof::gui {

/// In pixels at 100 %.
struct TrackSizes {
  float heading = 24, strip = 26, readings = 32, row = 18, opened_row = 13, gap = 5;
};

struct PlacedTrack {
  std::string heading;  ///< a group's heading; empty = a track
  std::size_t track = 0;
  float top = 0, height = 0;
  bool pinned = false;
  bool opened = false;   ///< a strip that shows its rows
  std::size_t rows = 0;  ///< visible rows
  float rows_top = 0;    ///< top of the first row
  float row_height = 0;
};

struct Layout {
  std::vector<PlacedTrack> list;
  float pinned_height = 0;  ///< the part that does not scroll
  float height = 0;         ///< total, including the pinned part
};

/// Groups in `closed` show only their heading. `opened`, `pinned`: keys of tracks.
Layout lay_out(const Timeline& timeline, const std::set<std::string>& opened, const std::set<std::string>& pinned,
               const std::set<std::string>& closed, const TrackSizes& sizes);

}  // namespace wicprof::gui
