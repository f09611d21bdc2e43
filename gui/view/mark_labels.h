// Positions for the labels of marks along an axis, so that no label overlaps another label or mark.
#pragma once

#include <optional>
#include <vector>

namespace wicprof::gui {

struct MarkLabel {
  float mark = 0;   ///< position of the line
  float width = 0;  ///< width of the label
};

/// The left end of each label, for marks in order: right of the mark, else left of it when the next mark is too near,
/// else nothing. Labels stay between `from` and `to`.
std::vector<std::optional<float>> place_labels(const std::vector<MarkLabel>& labels, float from, float to);

}  // namespace wicprof::gui
