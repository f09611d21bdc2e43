#include "gui/window/theme.h"

namespace wicprof::gui {

void apply_style(const Ui& ui) {
  const Theme& theme = ui.theme();
  ImGuiStyle style;
  style.WindowPadding = ImVec2(10, 8);
  style.WindowRounding = 0;  // fixed windows; overlays set their own rounding
  style.WindowBorderSize = 0;
  style.WindowMinSize = ImVec2(8, 8);
  style.ChildRounding = 6;
  style.ChildBorderSize = 1;
  style.PopupRounding = 4;
  style.FrameRounding = 4;
  style.FramePadding = ImVec2(8, 5);
  style.ItemSpacing = ImVec2(8, 5);
  style.CellPadding = ImVec2(9, 3);
  style.ScrollbarSize = 10;
  style.ScrollbarRounding = 5;
  style.AntiAliasedLinesUseTex = true;
  style.ScaleAllSizes(ui.scale);
  ImVec4* colours = style.Colors;
  colours[ImGuiCol_Text] = ink4(theme.text);
  colours[ImGuiCol_TextDisabled] = ink4(theme.faint);
  colours[ImGuiCol_WindowBg] = ink4(theme.page);
  colours[ImGuiCol_ChildBg] = ink4(theme.page, 0);
  colours[ImGuiCol_PopupBg] = ink4(theme.card);
  colours[ImGuiCol_Border] = ink4(theme.line);
  colours[ImGuiCol_FrameBg] = ink4(theme.lane);
  colours[ImGuiCol_FrameBgHovered] = ink4(theme.line);
  colours[ImGuiCol_FrameBgActive] = ink4(theme.line);
  colours[ImGuiCol_Button] = ink4(theme.lane);
  colours[ImGuiCol_ButtonHovered] = ink4(theme.line);
  colours[ImGuiCol_ButtonActive] = ink4(theme.line);
  colours[ImGuiCol_Header] = ink4(theme.accent, 0.18f);
  colours[ImGuiCol_HeaderHovered] = ink4(theme.accent, 0.12f);
  colours[ImGuiCol_HeaderActive] = ink4(theme.accent, 0.26f);
  colours[ImGuiCol_Separator] = ink4(theme.line);
  colours[ImGuiCol_ScrollbarBg] = ink4(theme.card, 0);
  colours[ImGuiCol_ScrollbarGrab] = ink4(theme.line);
  colours[ImGuiCol_ScrollbarGrabHovered] = ink4(theme.faint);
  colours[ImGuiCol_ScrollbarGrabActive] = ink4(theme.faint);
  colours[ImGuiCol_TableHeaderBg] = ink4(theme.card);
  colours[ImGuiCol_TableBorderLight] = ink4(theme.line);
  colours[ImGuiCol_TableBorderStrong] = ink4(theme.line);
  colours[ImGuiCol_TextSelectedBg] = ink4(theme.accent, 0.35f);
  colours[ImGuiCol_NavHighlight] = ink4(theme.accent);
  ImGui::GetStyle() = style;
}

}  // namespace wicprof::gui
