// Where the labels of marks along an axis go, so that they neither lie upon each other nor under another mark's line.
#pragma once

#include <optional>
#include <vector>

namespace wicprof::gui {

struct MarkLabel {
  float mark = 0;   ///< where its line is
  float width = 0;  ///< of the label
};

/// The left end of each label, of marks in order: right of its mark, left of it where the next mark is too near, or
/// nothing where there is no room between `from` and `to`.
std::vector<std::optional<float>> place_labels(const std::vector<MarkLabel>& labels, float from, float to);

}  // namespace wicprof::gui
