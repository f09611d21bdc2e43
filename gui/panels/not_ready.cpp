// What a panel shows while its values are missing: progress, or the error.
#include <fmt/format.h>

#include <algorithm>

#include "gui/panels/parts.h"

namespace wicprof::gui {

bool draw_not_ready(App& app, const Ui& ui, bool needs_facts) {
  if (app.model() != nullptr && (!needs_facts || app.facts() != nullptr)) return false;
  const LoadProgress progress = app.progress();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float width = std::min(size.x - ui.px(40), ui.px(620));
  const float x = at.x + (size.x - width) / 2, y = at.y + size.y * 0.38f;
  if (progress.error) {
    draw_text(list, ui.large, {at.x, y - ui.px(40), size.x, size_of(ui.large)}, ink(ui.theme().bad),
              "Cannot show this trace", Align::centre);
    ImGui::SetCursorScreenPos(ImVec2(x, y));
    ImGui::BeginChild("why", ImVec2(width, ui.px(160)));
    paragraph(ui, progress.error->message);
    ImGui::EndChild();
    return true;
  }
  const std::string text =
      app.path().empty() ? "No trace is open"
                         : fmt::format("{} {}", progress.doing.empty() ? "waiting for" : progress.doing, app.path());
  draw_text(list, ui.regular, {x, y - ui.px(30), width, ui.px(22)}, ink(ui.theme().faint), text, Align::centre);
  list->AddRectFilled(ImVec2(x, y), ImVec2(x + width, y + ui.px(6)), ink(ui.theme().lane), ui.px(3));
  const float part = static_cast<float>(progress.part);
  if (part > 0)
    list->AddRectFilled(ImVec2(x, y), ImVec2(x + width * part, y + ui.px(6)), ink(ui.theme().accent), ui.px(3));
  return true;
}

}  // namespace wicprof::gui
