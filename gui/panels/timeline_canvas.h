// The timeline drawing: overview, ruler, tracks, arrows and marks, and the mouse actions on them.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "gui/app/app.h"
#include "gui/window/ui.h"

namespace wicprof::gui {

/// What a timeline keeps between frames.
struct TimelineState {
  /// Drawn columns, valid until the snapshot, the window of time or the width changes.
  struct Cache {
    std::uint64_t version = 0;
    TimeNs begin = 0, end = 0;
    std::uint32_t columns = 0;
    std::map<std::pair<std::size_t, std::size_t>, std::vector<DrawnSpan>> rows;  ///< by track and row
    std::map<std::size_t, std::vector<DensityColumn>> strips;                    ///< by track
    std::vector<EdgeArrow> arrows;
    bool has_arrows = false;
  } cache;

  /// The mouse button that is held over the timeline.
  struct Drag {
    ImVec2 from{}, last{};
    int button = 0;
    bool moved = false, was_active = false;
  } drag;

  Looks looks;  ///< what the timeline has drawn so far: its legend, which only grows

  std::vector<EdgeArrow> selected_edges;
  std::optional<EventRef> selected_edges_of;
  std::uint64_t selected_version = 0;
};

void draw_timeline(App& app, const Ui& ui, Rect where, TimelineState& state);

}  // namespace wicprof::gui
