#include "gui/view/mark_labels.h"

#include <algorithm>

namespace wicprof::gui {

std::vector<std::optional<float>> place_labels(const std::vector<MarkLabel>& labels, float from, float to) {
  std::vector<std::optional<float>> places(labels.size());
  float free_from = from;  // right of the last label and the last mark
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto& [mark, width] = labels[i];
    const float next = i + 1 < labels.size() ? std::min(labels[i + 1].mark, to) : to;
    if (mark >= free_from && mark + width <= next) {
      places[i] = mark;
    } else if (mark - width >= free_from && mark <= to) {
      places[i] = mark - width;
    }
    free_from = std::max(free_from, places[i] ? std::max(*places[i] + width, mark) : mark);
  }
  return places;
}

}  // namespace wicprof::gui
