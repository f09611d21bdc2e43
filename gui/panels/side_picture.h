// One side of a comparison as a picture: its iterations, and the strips of waiting warps below them.
#pragma once

#include <string>
#include <vector>

#include "analyzer/waits/iterations.h"
#include "gui/panels/panel.h"

namespace wicprof::gui {

/// A trace, or a stretch of one.
struct PictureSide {
  std::string title;
  const Timeline* timeline = nullptr;
  TimeNs begin = 0, end = 0;
  const std::vector<analyzer::Iteration>* iterations = nullptr;  ///< within the stretch; may be empty
};

/// Draws [from, from + width) into `where`. `other`: the side to compare with, which colours the iterations by how
/// they differ from those of the same index there; nullptr: no colours.
void draw_side(const Ui& ui, const PictureSide& side, const PictureSide* other, TimeNs from, TimeNs width, Rect where);

}  // namespace wicprof::gui
