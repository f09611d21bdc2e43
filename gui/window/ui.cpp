#include "gui/window/ui.h"

#include <algorithm>
#include <cmath>

#include "gui/view/lines.h"

namespace wicprof::gui {

ImU32 ink(Colour colour, float alpha) {
  return IM_COL32((colour >> 16) & 0xff, (colour >> 8) & 0xff, colour & 0xff, static_cast<int>(alpha * 255 + 0.5f));
}

Colour colour_of(const Ui& ui, State state) { return look_of(state).colour.on(ui.dark); }

ImU32 state_ink(const Ui& ui, State state, float alpha) {
  ui.drawn.add(state);
  return ink(colour_of(ui, state), alpha);
}

namespace {

void draw_hatched(ImDrawList* list, const Ui& ui, Rect where, ImU32 colour) {
  const float step = ui.px(6), thick = ui.px(3);
  const float right = where.x + where.width, bottom = where.y + where.height;
  const ImDrawListFlags flags = list->Flags;
  list->Flags &= ~ImDrawListFlags_AntiAliasedFill;  // a third of the vertices
  // Stripe k covers the points whose x + y is within [k * step, k * step + thick); its part of the rectangle is convex.
  for (float sum = std::floor((where.x + where.y) / step) * step; sum < right + bottom; sum += step) {
    ImVec2 points[6];
    int count = 0;
    const auto add = [&](float x, float y) {
      if (count > 0 && points[count - 1].x == x && points[count - 1].y == y) return;
      points[count++] = ImVec2(x, y);
    };
    // Where the line x + y = `line` leaves the rectangle, at its lower or at its upper end.
    const auto add_end = [&](float line, float y) {
      const float x = std::clamp(line - y, where.x, right);
      add(x, std::clamp(line - x, where.y, bottom));
    };
    add_end(sum, bottom);
    add_end(sum, where.y);
    if (sum < right + where.y && sum + thick > right + where.y) add(right, where.y);
    add_end(sum + thick, where.y);
    add_end(sum + thick, bottom);
    if (sum < where.x + bottom && sum + thick > where.x + bottom) add(where.x, bottom);
    if (count >= 3) list->AddConvexPolyFilled(points, count, colour);
  }
  list->Flags = flags;
}

}  // namespace

void PollingColumns::add(Rect column) {
  if (column.x > last_.x + last_.width || column.height != last_.height) flush();
  if (last_.width <= 0) last_ = column;
  last_.width = column.x + column.width - last_.x;
}

void PollingColumns::flush() {
  if (last_.width > 0) {
    ui_.drawn.add_sampled_polling();
    draw_hatched(list_, ui_, last_, ink(kSampledPolling.colour.on(ui_.dark)));
    ++drawn_;
  }
  last_ = {};
}

float text_width(ImFont* font, std::string_view text) {
  return font->CalcTextSizeA(size_of(font), 1e9f, 0, text.data(), text.data() + text.size()).x;
}

void draw_text(ImDrawList* list, ImFont* font, Rect where, ImU32 colour, std::string_view text, Align align) {
  static constexpr std::string_view kEllipsis = "\u2026";
  float width = text_width(font, text);
  const float y = static_cast<float>(static_cast<int>(where.y + (where.height - size_of(font)) / 2));
  const char* end = text.data() + text.size();
  bool cut = false;
  if (width > where.width) {
    const float available = where.width - text_width(font, kEllipsis);
    if (available <= 0) return;
    const char* fits = text.data();
    width = font->CalcTextSizeA(size_of(font), available, 0, text.data(), end, &fits).x;
    end = fits;
    cut = true;
  }
  float x = where.x;
  if (!cut && align == Align::right) x = where.x + where.width - width;
  if (!cut && align == Align::centre) x = where.x + (where.width - width) / 2;
  x = static_cast<float>(static_cast<int>(x));
  list->AddText(font, size_of(font), ImVec2(x, y), colour, text.data(), end);
  if (cut)
    list->AddText(font, size_of(font), ImVec2(x + width, y), colour, kEllipsis.data(),
                  kEllipsis.data() + kEllipsis.size());
}

void note_rect(const Ui& ui, const std::string& name, Rect rect) { ui.items[name] = rect; }

void note_item(const Ui& ui, const std::string& name) {
  const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
  note_rect(ui, name, {from.x, from.y, to.x - from.x, to.y - from.y});
}

void heading(const Ui& ui, std::string_view text) {
  ImGui::PushFont(ui.bold);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopFont();
  ImGui::Dummy(ImVec2(0, ui.px(2)));
}

namespace {
void wrapped(std::string_view text) {
  const float width = ImGui::GetContentRegionAvail().x;
  std::string broken;
  for (const std::string& line :
       lines_of(text, width, [](std::string_view part) { return text_width(ImGui::GetFont(), part); }))
    broken += (broken.empty() ? "" : "\n") + line;
  ImGui::PushTextWrapPos(0);  // for words that fit no line
  ImGui::TextUnformatted(broken.data(), broken.data() + broken.size());
  ImGui::PopTextWrapPos();
}
}  // namespace

void faint(const Ui& ui, std::string_view text) {
  ImGui::PushStyleColor(ImGuiCol_Text, ink(ui.theme().faint));
  wrapped(text);
  ImGui::PopStyleColor();
}

void paragraph(const Ui&, std::string_view text) { wrapped(text); }

void right_aligned(const std::string& text) {
  const float spare = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x;
  if (spare > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + spare);
  ImGui::TextUnformatted(text.c_str());
}

void badge(const Ui& ui, std::string_view text, Colour text_colour, Colour fill) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = text_width(ui.bold, text) + ui.px(14), height = size_of(ui.bold) + ui.px(6);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(at, ImVec2(at.x + width, at.y + height), ink(fill), ui.px(4));
  draw_text(list, ui.bold, {at.x, at.y, width, height}, ink(text_colour), text, Align::centre);
  ImGui::Dummy(ImVec2(width, height));
}

namespace {

/// Calls `place(look, hatched, x, line, width)` for each entry of a legend; returns the number of lines.
template <class Place>
int arrange_legend(const Ui& ui, const Looks& looks, float available, Place place) {
  int line = 0;
  float x = 0;
  looks.for_each([&](const StateLook& look, bool hatched) {
    const float width = ui.px(17) + text_width(ui.small, look.name);
    if (x > 0 && x + width > available) {
      x = 0;
      ++line;
    }
    place(look, hatched, x, line, width);
    x += width + ui.px(16);
  });
  return line + 1;
}

float legend_line(const Ui& ui) { return size_of(ui.small) + ui.px(4); }

}  // namespace

float legend_height(const Ui& ui, const Looks& looks, float width) {
  const int lines = arrange_legend(ui, looks, width, [](auto&&...) {});
  return static_cast<float>(lines) * legend_line(ui);
}

void legend(const Ui& ui, const Looks& looks) {
  ui.named.add(looks);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float size = ui.px(11), line_height = legend_line(ui);
  float widest = 0;
  const int lines = arrange_legend(
      ui, looks, ImGui::GetContentRegionAvail().x,
      [&](const StateLook& look, bool hatched, float x, int line, float width) {
        const float left = at.x + x, top = at.y + static_cast<float>(line) * line_height;
        const float y = top + (line_height - size) / 2;
        const ImU32 under = ink((hatched ? look_of(State::computing) : look).colour.on(ui.dark));
        list->AddRectFilled(ImVec2(left, y), ImVec2(left + size, y + size), under, hatched ? 0 : ui.px(2));
        if (hatched) draw_hatched(list, ui, {left, y, size, size}, ink(look.colour.on(ui.dark)));
        draw_text(list, ui.small, {left + ui.px(17), top, width, line_height}, ink(ui.theme().faint), look.name);
        widest = std::max(widest, x + width);
      });
  ImGui::Dummy(ImVec2(widest, static_cast<float>(lines) * line_height));
}

bool segment_button(const Ui& ui, const std::string& name, const char* label, bool chosen, Colour colour) {
  const Theme& theme = ui.theme();
  const Colour fill = chosen ? colour : theme.lane;
  ImGui::PushStyleColor(ImGuiCol_Button, ink(fill));
  ImGui::PushStyleColor(ImGuiCol_ButtonHovered, ink(fill, 0.85f));
  ImGui::PushStyleColor(ImGuiCol_ButtonActive, ink(fill, 0.7f));
  ImGui::PushStyleColor(ImGuiCol_Text, ink(chosen ? text_on(fill) : theme.text));
  ImGui::PushFont(chosen ? ui.bold : ui.regular);
  const bool pressed = ImGui::Button((std::string(label) + "##" + name).c_str());
  ImGui::PopFont();
  ImGui::PopStyleColor(4);
  note_item(ui, name);
  return pressed;
}

void begin_card(const Ui& ui, const char* id, float width, float height) {
  ImGui::PushStyleColor(ImGuiCol_ChildBg, ink(ui.theme().card));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(ui.px(14), ui.px(12)));
  ImGui::BeginChild(id, ImVec2(width, height), true);
}

void end_card() {
  ImGui::EndChild();
  ImGui::PopStyleVar();
  ImGui::PopStyleColor();
}

void fact_table(const Ui& ui, const char* id, const std::vector<std::pair<std::string, std::string>>& facts) {
  if (!ImGui::BeginTable(id, 2, ImGuiTableFlags_SizingFixedFit)) return;
  float widest = 0;
  for (const auto& fact : facts) widest = std::max(widest, text_width(ui.regular, fact.first));
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, widest + ui.px(8));
  ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
  for (const auto& [name, value] : facts) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    faint(ui, name);
    ImGui::TableNextColumn();
    paragraph(ui, value);
  }
  ImGui::EndTable();
}

}  // namespace wicprof::gui
