// Where tracks stand below each other: pinned ones first, then group by group.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "gui/view/timeline.h"

namespace wicprof::gui {

/// In pixels at 100 %.
struct TrackSizes {
  float heading = 24, strip = 26, row = 18, opened_row = 13, gap = 5;
};

struct PlacedTrack {
  std::string heading;  ///< of a group; empty = a track
  std::size_t track = 0;
  float top = 0, height = 0;
  bool pinned = false;
  bool opened = false;   ///< a strip whose rows show
  std::size_t rows = 0;  ///< that show
  float rows_top = 0;    ///< of the first one
  float row_height = 0;
};

struct Layout {
  std::vector<PlacedTrack> list;
  float pinned_height = 0;  ///< of the part that does not scroll
  float height = 0;         ///< of all, the pinned part included
};

/// Groups in `closed` show their heading only.
Layout lay_out(const Timeline& timeline, const std::set<std::string>& opened, const std::set<std::string>& pinned,
               const std::set<std::string>& closed, const TrackSizes& sizes);

}  // namespace wicprof::gui
