#include "gui/window/shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "analyzer/words/format.h"
#include "gui/actions.h"
#include "gui/panels/list.h"

namespace wicprof::gui {

namespace {

constexpr float kHeader = 46, kStatus = 28;
constexpr ImGuiWindowFlags kFixed = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                                    ImGuiWindowFlags_NoNav;

void header(App& app, const Ui& ui, float width) {
  const Theme& theme = ui.theme();
  ImGui::SetNextWindowPos(ImVec2(0, 0));
  ImGui::SetNextWindowSize(ImVec2(width, ui.px(kHeader)));
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ink(theme.card));
  ImGui::Begin("header", nullptr, kFixed);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float h = ui.px(kHeader);
  list->AddLine(ImVec2(0, h - 1), ImVec2(width, h - 1), ink(theme.line), 1);
  const std::string name = app.model() != nullptr ? app.model()->name : app.path();
  const float title_width = std::min(text_width(ui.bold, name) + 2, ui.px(260));
  draw_text(list, ui.bold, {ui.px(14), 0, title_width, h}, ink(theme.text), name);
  float x = ui.px(14) + title_width + ui.px(18);
  for (std::size_t i = 0; i < kViewNames.size(); ++i) {
    const bool chosen = app.view == static_cast<View>(i);
    ImFont* font = chosen ? ui.bold : ui.regular;
    const float tab = text_width(ui.bold, kViewTitles[i]) + ui.px(20);
    ImGui::SetCursorScreenPos(ImVec2(x, 0));
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::InvisibleButton("tab", ImVec2(tab, h))) app.show(static_cast<View>(i));
    ImGui::PopID();
    note_item(app, fmt::format("tab.{}", kViewNames[i]));
    const bool hovered = ImGui::IsItemHovered();
    draw_text(list, font, {x, 0, tab, h}, ink(chosen || hovered ? theme.text : theme.faint), kViewTitles[i],
              Align::centre);
    if (chosen)
      list->AddRectFilled(ImVec2(x + ui.px(6), h - ui.px(3)), ImVec2(x + tab - ui.px(6), h), ink(theme.accent));
    x += tab;
  }
  // Right to left: keys, theme, what is live.
  float right = width - ui.px(14);
  const auto button = [&](const char* label, const char* item, const char* tip) {
    const float w = text_width(ui.regular, label) + ui.px(18), size = ui.px(28);
    right -= w;
    ImGui::SetCursorScreenPos(ImVec2(right, (h - size) / 2));
    const bool pressed = ImGui::Button(label, ImVec2(w, size));
    note_item(app, item);
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", tip);
    right -= ui.px(8);
    return pressed;
  };
  if (button("?", "help", "all keys  (?)")) app.help = !app.help;
  if (button(ui.dark ? "Light" : "Dark", "theme", "light or dark  (l)")) app.set_dark(!ui.dark);
  if (button("Search", "search", "search  (/)")) app.searching = true;
  if (app.snapshot().recording && right - x > ui.px(90)) {
    const float w = ui.px(84);
    right -= w;
    list->AddCircleFilled(ImVec2(right + ui.px(8), h / 2), ui.px(4), ink(theme.bad));
    draw_text(list, ui.small, {right + ui.px(18), 0, w, h}, ink(theme.bad), "recording");
  }
  ImGui::End();
  ImGui::PopStyleColor();
}

void status_bar(App& app, const Ui& ui, float width, float height) {
  const Theme& theme = ui.theme();
  const float h = ui.px(kStatus);
  ImGui::SetNextWindowPos(ImVec2(0, height - h));
  ImGui::SetNextWindowSize(ImVec2(width, h));
  const StatusLine& status = app.snapshot().status;
  const bool lossy = !status.losses.empty();
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ink(lossy ? theme.bad_soft : theme.card));
  ImGui::Begin("status", nullptr, kFixed);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float y = height - h;
  list->AddLine(ImVec2(0, y), ImVec2(width, y), ink(theme.line), 1);
  float x = ui.px(14);
  const auto part = [&](std::string_view text, Colour colour, ImFont* font) {
    if (text.empty()) return;
    const float w = std::min(text_width(font, text) + 1, std::max(width - x - ui.px(14), 0.0f));
    draw_text(list, font, {x, y, w, h}, ink(colour), text);
    x += w + ui.px(22);
  };
  if (app.model() != nullptr) {
    const float from = x;
    part(status.loss, lossy ? theme.bad : theme.good, lossy ? ui.bold : ui.small);
    note_rect(app, "status.loss", {from, y, x - from, h});
    if (lossy && ImGui::IsMouseHoveringRect(ImVec2(from, y), ImVec2(x, y + h))) {
      ImGui::BeginTooltip();
      ImGui::PushTextWrapPos(ui.px(520));
      for (const std::string& loss : status.losses) ImGui::TextUnformatted(loss.c_str());
      ImGui::PopTextWrapPos();
      ImGui::EndTooltip();
    }
    part(status.overhead, theme.faint, ui.small);
    part(status.contents, theme.faint, ui.small);
    if (app.snapshot().cut) part("the last part only, until recording ends", theme.warn, ui.small);
  }
  const LoadProgress progress = app.progress();
  if (progress.error && app.model() != nullptr) part(progress.error->message, theme.bad, ui.small);
  if (!progress.doing.empty()) part(progress.doing + "\u2026", theme.accent, ui.small);
  if (!app.hits.text.empty() && app.hits.total > 0)
    part(fmt::format("'{}': {} of {}  (n N)", app.hits.text, app.hit + 1, app.hits.total), theme.accent, ui.small);
  part(app.notice, theme.warn, ui.small);
  ImGui::End();
  ImGui::PopStyleColor();
}

/// A line of text; true when Enter ended it.
bool input_line(const char* id, const char* hint, std::string& text) {
  char buffer[256] = {};
  text.copy(buffer, sizeof buffer - 1);
  const bool entered = ImGui::InputTextWithHint(id, hint, buffer, sizeof buffer, ImGuiInputTextFlags_EnterReturnsTrue);
  text = buffer;
  return entered;
}

bool begin_overlay(const Ui& ui, const char* name, float width, float top) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  ImGui::SetNextWindowPos(ImVec2((display.x - width) / 2, top));
  ImGui::SetNextWindowSize(ImVec2(width, 0));
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ink(ui.theme().card));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(ui.px(16), ui.px(14)));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, ui.px(1));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, ui.px(6));
  return ImGui::Begin(name, nullptr,
                      ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                          ImGuiWindowFlags_AlwaysAutoResize);
}

void end_overlay() {
  ImGui::End();
  ImGui::PopStyleVar(3);
  ImGui::PopStyleColor();
}

void search_box(App& app, const Ui& ui) {
  static bool was_open = false;
  if (!app.searching) {
    was_open = false;
    return;
  }
  begin_overlay(ui, "search", ui.px(460), ui.px(60));
  if (!was_open) ImGui::SetKeyboardFocusHere();
  was_open = true;
  ImGui::SetNextItemWidth(-1);
  if (input_line("##search", "a kernel, a call, a wait site, an NVTX range", app.search_text)) {
    app.searching = false;
    if (app.view != View::live) app.show(View::timeline);
    app.search_for(app.search_text);
  }
  note_item(app, "search.text");
  end_overlay();
}

void help(App& app, const Ui& ui) {
  if (!app.help) return;
  begin_overlay(ui, "help", ui.px(720), ui.px(64));
  heading(ui, "Keys");
  if (ImGui::BeginTable("keys", 2, ImGuiTableFlags_SizingStretchSame)) {
    std::string_view group;
    ImGui::TableNextColumn();
    std::size_t shown = 0;
    for (const Action& action : actions()) {
      if (action.keys.empty()) continue;
      if (action.group != group) {
        if (shown > actions().size() / 2 && ImGui::TableGetColumnIndex() == 0) ImGui::TableNextColumn();
        group = action.group;
        ImGui::Dummy(ImVec2(0, ui.px(4)));
        ImGui::PushFont(ui.bold);
        ImGui::TextUnformatted(group.data(), group.data() + group.size());
        ImGui::PopFont();
      }
      const ImVec2 at = ImGui::GetCursorScreenPos();
      draw_text(ImGui::GetWindowDrawList(), ui.mono, {at.x, at.y, ui.px(96), ui.px(20)}, ink(ui.theme().accent),
                action.keys);
      draw_text(ImGui::GetWindowDrawList(), ui.regular, {at.x + ui.px(104), at.y, ui.px(236), ui.px(20)},
                ink(ui.theme().text), action.name);
      ImGui::Dummy(ImVec2(ui.px(330), ui.px(20)));
      ++shown;
    }
    ImGui::EndTable();
  }
  ImGui::Dummy(ImVec2(0, ui.px(6)));
  faint(ui,
        "Mouse: wheel scrolls, Ctrl and wheel zooms, Shift and wheel moves; drag selects an area, right or middle "
        "button moves; "
        "a click on a strip's name opens it, a double click focuses.");
  end_overlay();
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

void palette(App& app, const Ui& ui) {
  if (!app.palette) {
    app.palette_opened = false;
    return;
  }
  begin_overlay(ui, "palette", ui.px(520), ui.px(60));
  if (!app.palette_opened) ImGui::SetKeyboardFocusHere();
  app.palette_opened = true;
  ImGui::SetNextItemWidth(-1);
  const bool entered = input_line("##palette", "what to do", app.palette_text);
  const std::string wanted = lower(app.palette_text);
  const Action* chosen = nullptr;
  // What begins so comes before what only has it somewhere.
  std::vector<const Action*> fitting;
  for (const bool begins : {true, false}) {
    for (const Action& action : actions()) {
      const std::size_t at = lower(action.name).find(wanted);
      if (at != std::string::npos && (at == 0) == begins) fitting.push_back(&action);
    }
  }
  bool first = true;
  for (const Action* fits : fitting) {
    const Action& action = *fits;
    if (entered && first) chosen = &action;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    if (ImGui::Selectable(std::string(action.name).c_str(), first)) chosen = &action;
    note_item(app, "palette." + std::string(action.name));
    draw_text(ImGui::GetWindowDrawList(), ui.mono, {at.x, at.y, width, size_of(ui.regular)}, ink(ui.theme().faint),
              action.keys, Align::right);
    first = false;
  }
  if (first) faint(ui, "nothing is called so");
  end_overlay();
  if (chosen == nullptr) return;
  app.palette = false;
  chosen->run(app);
}

}  // namespace

void draw_shell(App& app, const Ui& ui) {
  app.items.clear();
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  header(app, ui, display.x);
  const float top = ui.px(kHeader), bottom = ui.px(kStatus), pad = ui.px(10);
  const bool edge = app.view == View::timeline;
  ImGui::SetNextWindowPos(ImVec2(0, top));
  ImGui::SetNextWindowSize(ImVec2(display.x, display.y - top - bottom));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(edge ? 0 : pad, edge ? 0 : pad));
  ImGui::Begin("panel", nullptr, kFixed | ImGuiWindowFlags_NoScrollWithMouse);
  panels()[static_cast<std::size_t>(app.view)](app, ui);
  ImGui::End();
  ImGui::PopStyleVar();
  status_bar(app, ui, display.x, display.y);
  search_box(app, ui);
  help(app, ui);
  palette(app, ui);
}

}  // namespace wicprof::gui
