#include "gui/view/toggle_history.h"

#include <algorithm>

namespace wicprof::gui {

std::vector<ToggleRequest> undo_of(const ToggleRequest& first, const std::vector<ToggleRequest>& done) {
  if (done.empty()) return {};
  ToggleRequest program = first;
  program.site.clear();
  std::map<std::string, ToggleRequest> sites;
  for (std::size_t i = 0; i + 1 < done.size(); ++i) {
    if (done[i].site.empty()) {
      program = done[i];
      sites.clear();
    } else {
      sites[done[i].site] = done[i];
    }
  }
  const std::string& undone = done.back().site;
  if (!undone.empty()) {
    const auto own = sites.find(undone);
    if (own != sites.end()) return {own->second};
    ToggleRequest back = program;
    back.site = undone;
    return {back};
  }
  std::vector<ToggleRequest> requests{program};
  for (const auto& [name, request] : sites) requests.push_back(request);
  return requests;
}

}  // namespace wicprof::gui
