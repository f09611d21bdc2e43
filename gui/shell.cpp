#include "gui/shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "analyzer/words/format.h"
#include "gui/actions.h"
#include "gui/panels/list.h"

namespace wicprof::gui {

namespace {

constexpr float kHeader = 46, kStatus = 28;  // heights, in pixels at 100 %
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
  // The tabs have priority: the name takes what they and the buttons leave.
  float tabs = ui.px(330);
  for (const PanelKind& panel : kPanels) tabs += text_width(ui.bold, panel.title) + ui.px(20);
  const float title_width = std::min(text_width(ui.bold, name) + 2, std::clamp(width - tabs, ui.px(60), ui.px(260)));
  draw_text(list, ui.bold, {ui.px(14), 0, title_width, h}, ink(theme.text), name);
  float x = ui.px(14) + title_width + ui.px(18);
  for (const PanelKind& panel : kPanels) {
    const bool chosen = app.view == panel.name;
    ImFont* font = chosen ? ui.bold : ui.regular;
    const float tab = text_width(ui.bold, panel.title) + ui.px(20);
    ImGui::SetCursorScreenPos(ImVec2(x, 0));
    const std::string item = fmt::format("tab.{}", panel.name);
    if (ImGui::InvisibleButton(item.c_str(), ImVec2(tab, h))) app.show(panel.name);
    note_item(ui, item);
    const bool hovered = ImGui::IsItemHovered();
    draw_text(list, font, {x, 0, tab, h}, ink(chosen || hovered ? theme.text : theme.faint), panel.title,
              Align::centre);
    if (chosen)
      list->AddRectFilled(ImVec2(x + ui.px(6), h - ui.px(3)), ImVec2(x + tab - ui.px(6), h), ink(theme.accent));
    x += tab;
  }
  // From right to left: help, theme, search, recording.
  float right = width - ui.px(14);
  const auto button = [&](const char* label, const char* item, const char* tip) {
    const float w = text_width(ui.regular, label) + ui.px(18), size = ui.px(28);
    right -= w;
    ImGui::SetCursorScreenPos(ImVec2(right, (h - size) / 2));
    const bool pressed = ImGui::Button(label, ImVec2(w, size));
    note_item(ui, item);
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", tip);
    right -= ui.px(8);
    return pressed;
  };
  if (button("?", "help", "all keys  (?)")) app.help = !app.help;
  if (button(ui.dark ? "Light" : "Dark", "theme", "light or dark theme  (l)")) app.set_dark(!ui.dark);
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
    note_rect(ui, "status.loss", {from, y, x - from, h});
    if (lossy && ImGui::IsMouseHoveringRect(ImVec2(from, y), ImVec2(x, y + h))) {
      ImGui::BeginTooltip();
      ImGui::PushTextWrapPos(ui.px(520));
      for (const std::string& loss : status.losses) ImGui::TextUnformatted(loss.c_str());
      ImGui::PopTextWrapPos();
      ImGui::EndTooltip();
    }
    part(status.overhead, theme.faint, ui.small);
    part(status.contents, theme.faint, ui.small);
    if (app.snapshot().cut) part("only the last part, until recording ends", theme.warn, ui.small);
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

/// A line of text; returns true when Enter ends the input.
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

/// `was_open`: whether the box showed in the last frame; updated.
void search_box(App& app, const Ui& ui, bool& was_open) {
  if (!app.searching) {
    was_open = false;
    return;
  }
  begin_overlay(ui, "search", ui.px(460), ui.px(60));
  if (!was_open) ImGui::SetKeyboardFocusHere();
  was_open = true;
  ImGui::SetNextItemWidth(-1);
  if (input_line("##search", "kernel, call, wait site or NVTX range", app.search_text)) {
    app.searching = false;
    if (app.view != kLiveView) app.show(kTimelineView);
    app.search_for(app.search_text);
  }
  note_item(ui, "search.text");
  faint(ui, "Events of exactly this name come first. Narrow the search: kind:kernel, >1ms, <20us.");
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
        "Mouse: the wheel scrolls, Ctrl and wheel zoom, Shift and wheel move. Drag to select an area; drag with the "
        "right or middle button to move. Click a strip's name to open it; double-click an event to zoom to it.");
  end_overlay();
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
  return result;
}

/// `was_open`: whether the palette showed in the last frame; updated.
void palette(App& app, const Ui& ui, bool& was_open) {
  if (!app.palette) {
    was_open = false;
    return;
  }
  begin_overlay(ui, "palette", ui.px(520), ui.px(60));
  if (!was_open) ImGui::SetKeyboardFocusHere();
  was_open = true;
  ImGui::SetNextItemWidth(-1);
  const bool entered = input_line("##palette", "search for a command", app.palette_text);
  const std::string wanted = lower(app.palette_text);
  const Action* chosen = nullptr;
  // Names that begin with the text come first, then names that contain it.
  std::vector<const Action*> matches;
  for (const bool begins : {true, false}) {
    for (const Action& action : actions()) {
      const std::size_t at = lower(action.name).find(wanted);
      if (at != std::string::npos && (at == 0) == begins) matches.push_back(&action);
    }
  }
  bool first = true;
  for (const Action* match : matches) {
    const Action& action = *match;
    if (entered && first) chosen = &action;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    if (ImGui::Selectable(std::string(action.name).c_str(), first)) chosen = &action;
    note_item(ui, "palette." + std::string(action.name));
    draw_text(ImGui::GetWindowDrawList(), ui.mono, {at.x, at.y, width, size_of(ui.regular)}, ink(ui.theme().faint),
              action.keys, Align::right);
    first = false;
  }
  if (first) faint(ui, "no command has this name");
  end_overlay();
  if (chosen == nullptr) return;
  app.palette = false;
  chosen->run(app);
}

}  // namespace

Shell::Shell() {
  for (const PanelKind& panel : kPanels) panels_.push_back(panel.make());
}

void Shell::draw(App& app, const Ui& ui) {
  ui.items.clear();
  ui.drawn_last = std::exchange(ui.drawn, {});
  ui.named = {};
  app.nothing.reset();
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  header(app, ui, display.x);
  const float top = ui.px(kHeader), bottom = ui.px(kStatus), pad = ui.px(10);
  const bool edge = app.view == kTimelineView;
  ImGui::SetNextWindowPos(ImVec2(0, top));
  ImGui::SetNextWindowSize(ImVec2(display.x, display.y - top - bottom));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(edge ? 0 : pad, edge ? 0 : pad));
  ImGui::Begin("panel", nullptr, kFixed | ImGuiWindowFlags_NoScrollWithMouse);
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    if (kPanels[i].name == app.view) panels_[i]->draw(app, ui);
  }
  ImGui::End();
  ImGui::PopStyleVar();
  status_bar(app, ui, display.x, display.y);
  search_box(app, ui, search_was_open_);
  help(app, ui);
  palette(app, ui, palette_was_open_);
}

}  // namespace wicprof::gui
