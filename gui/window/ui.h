// What panels draw with: sizes at the window's scale, colours of the theme, fonts, and text that fits where it goes.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>

#include "gui/app.h"
#include "gui/view/colours.h"

namespace wicprof::gui {

struct Ui {
  float scale = 1;
  bool dark = false;
  ImFont* regular = nullptr;
  ImFont* bold = nullptr;
  ImFont* large = nullptr;  ///< headings and figures in tiles
  ImFont* small = nullptr;
  ImFont* mono = nullptr;  ///< code

  const Theme& theme() const { return analyzer::theme_of(dark); }
  float px(float at_100_percent) const { return static_cast<float>(static_cast<int>(at_100_percent * scale + 0.5f)); }
};

ImU32 ink(Colour colour, float alpha = 1);
inline ImVec4 ink4(Colour colour, float alpha = 1) { return ImGui::ColorConvertU32ToFloat4(ink(colour, alpha)); }
Colour colour_of(const Ui& ui, State state);
ImU32 state_ink(const Ui& ui, State state, float alpha = 1);

/// In pixels: the size that the font was loaded at.
inline float size_of(const ImFont* font) {
#if IMGUI_VERSION_NUM >= 19200
  return font->LegacySize;
#else
  return font->FontSize;
#endif
}

enum class Align { left, right, centre };
/// In one line, cut with an ellipsis to `width`; vertically in the middle of [top, top + height).
void draw_text(ImDrawList* list, ImFont* font, Rect where, ImU32 colour, std::string_view text,
               Align align = Align::left);
float text_width(ImFont* font, std::string_view text);

/// Notes where a thing that can be clicked is.
void note_item(App& app, const std::string& name);  // the last ImGui item
void note_rect(App& app, const std::string& name, Rect rect);

/// Widgets that several panels have.
void heading(const Ui& ui, std::string_view text);
void faint(const Ui& ui, std::string_view text);      ///< wrapped
void paragraph(const Ui& ui, std::string_view text);  ///< wrapped
void badge(const Ui& ui, std::string_view text, Colour text_colour, Colour fill);
void legend(const Ui& ui, std::initializer_list<State> states);
/// A choice of several, side by side; the chosen one is filled with `colour`.
bool segment_button(App& app, const Ui& ui, const std::string& name, const char* label, bool chosen, Colour colour);
/// A box with a title, one below the other; close with end_card().
void begin_card(const Ui& ui, const char* id, float width, float height);
void end_card();
/// Two columns, names faint.
void fact_table(const Ui& ui, const char* id, const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace wicprof::gui
