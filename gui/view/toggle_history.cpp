#include "gui/view/toggle_history.h"

namespace wicprof::gui {

std::vector<ToggleRequest> undo_of(const ToggleReply& toggle) {
  std::vector<ToggleRequest> requests;
  for (const WayOfWaiting& way : toggle.before) requests.push_back({way.mode, way.strategy, way.site, way.side});
  return requests;
}

}  // namespace wicprof::gui
