// Drawing tools for panels: sizes at the window's scale, theme colours, fonts, text that fits its box, shared widgets.
#pragma once

#include <imgui.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gui/view/colours.h"

namespace wicprof::gui {

/// In pixels, from the window's top left corner.
struct Rect {
  float x = 0, y = 0, width = 0, height = 0;
};

/// Where clickable items are, by name: scripts and tests find items through this map.
using ItemRects = std::map<std::string, Rect>;

struct Ui {
  float scale = 1;
  bool dark = false;
  ImFont* regular = nullptr;
  ImFont* bold = nullptr;
  ImFont* large = nullptr;  ///< headings and numbers in tiles
  ImFont* small = nullptr;
  ImFont* mono = nullptr;    ///< code
  mutable ItemRects items;   ///< filled again by each frame (note_item, note_rect)
  mutable Looks drawn;       ///< by this frame so far (state_ink, PollingColumns),
  mutable Looks drawn_last;  ///< and by the last frame
  mutable Looks named;       ///< by the legends of this frame

  const Theme& theme() const { return analyzer::theme_of(dark); }
  float px(float at_100_percent) const { return static_cast<float>(static_cast<int>(at_100_percent * scale + 0.5f)); }
};

ImU32 ink(Colour colour, float alpha = 1);
inline ImVec4 ink4(Colour colour, float alpha = 1) { return ImGui::ColorConvertU32ToFloat4(ink(colour, alpha)); }
Colour colour_of(const Ui& ui, State state);
ImU32 state_ink(const Ui& ui, State state, float alpha = 1);
/// Draws polling that samples found as diagonal stripes, which continue in adjacent rectangles.
class PollingColumns {
 public:
  PollingColumns(ImDrawList* list, const Ui& ui) : list_(list), ui_(ui) {}
  /// In order of x. Adjacent columns of the same height become one rectangle.
  void add(Rect column);
  /// After the last column.
  void flush();
  std::size_t drawn() const { return drawn_; }

 private:
  ImDrawList* list_;
  const Ui& ui_;
  Rect last_;
  std::size_t drawn_ = 0;
};

/// The size at which the font was loaded, in pixels.
inline float size_of(const ImFont* font) {
#if IMGUI_VERSION_NUM >= 19200
  return font->LegacySize;
#else
  return font->FontSize;
#endif
}

enum class Align { left, right, centre };
/// Draws one line of text, vertically centred in `where` and cut with an ellipsis at its width.
void draw_text(ImDrawList* list, ImFont* font, Rect where, ImU32 colour, std::string_view text,
               Align align = Align::left);
float text_width(ImFont* font, std::string_view text);

/// Records the rectangle of a clickable item in `ui.items`; note_item() records the last ImGui item.
void note_item(const Ui& ui, const std::string& name);
void note_rect(const Ui& ui, const std::string& name, Rect rect);

/// Widgets that several panels share.
void heading(const Ui& ui, std::string_view text);
void faint(const Ui& ui, std::string_view text);      ///< wrapped
void paragraph(const Ui& ui, std::string_view text);  ///< wrapped
/// At the right end of what is left of a line, or of a table's cell.
void right_aligned(const std::string& text);
void badge(const Ui& ui, std::string_view text, Colour text_colour, Colour fill);
/// Takes as many lines as the available width demands.
void legend(const Ui& ui, const Looks& looks);
/// The height of legend(), when `width` is available.
float legend_height(const Ui& ui, const Looks& looks, float width);
/// One choice of several side by side; fills the chosen one with `colour`. Returns true when pressed.
bool segment_button(const Ui& ui, const std::string& name, const char* label, bool chosen, Colour colour);
/// A box for content below the previous one; close it with end_card(). Height 0 fills the rest.
void begin_card(const Ui& ui, const char* id, float width, float height);
void end_card();
/// Two columns: faint names, values.
void fact_table(const Ui& ui, const char* id, const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace wicprof::gui
