// Who waited for whom: a matrix of parties, the figures of its rows, and the lengths of the chosen waits.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "gui/panels/aggregate_parts.h"
#include "gui/panels/parts.h"
#include "protocol/shell_words.h"

namespace wicprof::gui {

namespace {

using analyzer::PartyBy;
using analyzer::PartyCell;
using analyzer::PartyMatrix;

void choose_by(App& app, const Ui& ui) {
  for (const PartyBy by : analyzer::kPartyBy) {
    const std::string key(analyzer::party_by_key(by)), title(analyzer::party_by_title(by));
    if (by != PartyBy::kernel) ImGui::SameLine(0, ui.px(2));
    if (segment_button(ui, "parties.by." + key, title.c_str(), app.parties.by == by, ui.theme().accent)) {
      PartiesChoice choice = app.parties;
      choice.by = by;
      app.choose_parties(choice);
    }
  }
}

void choose_site(App& app, const Ui& ui) {
  ImGui::SetNextItemWidth(ui.px(200));
  const std::string shown = app.parties.site ? app.model()->site_name(*app.parties.site) : "all sites and calls";
  if (!ImGui::BeginCombo("##site", shown.c_str())) return note_item(ui, "parties.site");
  const auto offer = [&](std::optional<SiteId> site, const std::string& name, const std::string& item) {
    if (ImGui::Selectable(name.c_str(), app.parties.site == site)) {
      PartiesChoice choice = app.parties;
      choice.site = site;
      app.choose_parties(choice);
    }
    note_item(ui, item);
  };
  offer(std::nullopt, "all sites and calls", "parties.site.all");
  for (const analyzer::SiteStats& site : app.facts()->analysis.sites)
    offer(site.site, analyzer::one_line(site.name), "parties.site." + site.name);
  ImGui::EndCombo();
}

void choose_window(App& app, const Ui& ui) {
  struct Offer {
    std::string name, item;
    std::optional<analyzer::Interval> window;
  };
  std::vector<Offer> offers{{"the whole run", "whole", std::nullopt}};
  if (!app.window.shows_all())
    offers.push_back({"the timeline's part", "shown", analyzer::Interval{app.window.begin(), app.window.end()}});
  if (app.area) offers.push_back({"the dragged area", "area", analyzer::Interval{app.area->begin, app.area->end}});
  const auto& segments = app.facts()->before_after.segments;
  for (std::size_t i = 0; segments.size() > 1 && i < segments.size(); ++i)
    offers.push_back({fmt::format("{}. {}", i + 1, segments[i].way), fmt::format("segment.{}", i),
                      analyzer::Interval{segments[i].begin, segments[i].end}});
  ImGui::SetNextItemWidth(ui.px(180));
  const std::string shown = app.parties.window ? app.parties.window_name : offers.front().name;
  if (!ImGui::BeginCombo("##window", shown.c_str())) return note_item(ui, "parties.window");
  for (const Offer& offer : offers) {
    if (ImGui::Selectable(offer.name.c_str(), offer.name == shown)) {
      PartiesChoice choice = app.parties;
      choice.window = offer.window;
      choice.window_name = offer.name;
      app.choose_parties(choice);
    }
    note_item(ui, "parties.window." + offer.item);
  }
  ImGui::EndCombo();
}

/// The cell's colour deepens with the waiting time; its text stays readable.
void draw_cell(App& app, const Ui& ui, const PartyMatrix& matrix, const PartyCell& cell, Rect where, TimeNs most) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  constexpr float kDeepest = 0.5f;
  const float share =
      most > 0 ? static_cast<float>(static_cast<double>(cell.figures.waiting_ns) / static_cast<double>(most)) : 0;
  const ImVec2 from(where.x + 1, where.y + 1), to(where.x + where.width - 1, where.y + where.height - 1);
  const std::string item = fmt::format("parties.cell.{}.{}", cell.waiter, cell.releaser);
  ImGui::SetCursorScreenPos(ImVec2(where.x, where.y));
  const bool pressed = ImGui::InvisibleButton(item.c_str(), ImVec2(where.width, where.height));
  note_item(ui, item);
  const bool hovered = ImGui::IsItemHovered();
  list->AddRectFilled(from, to, ink(ui.theme().lane), ui.px(3));
  list->AddRectFilled(from, to, ink(ui.theme().accent, kDeepest * share), ui.px(3));
  if (hovered) list->AddRect(from, to, ink(ui.theme().accent), ui.px(3), 0, ui.px(1.5f));
  const float line = ui.px(17), pad = ui.px(6);
  draw_text(list, ui.regular, {where.x + pad, where.y + ui.px(3), where.width - 2 * pad, line}, ink(ui.theme().text),
            analyzer::format_duration(cell.figures.waiting_ns));
  const std::string below = cell.figures.wake_p50_ns ? "wake " + analyzer::format_duration(*cell.figures.wake_p50_ns)
                                                     : analyzer::count_of(cell.figures.waits, "wait");
  draw_text(list, ui.small, {where.x + pad, where.y + ui.px(3) + line, where.width - 2 * pad, line},
            ink(ui.theme().text, 0.75f), below);
  if (hovered) {
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(ui.px(420));
    ImGui::TextUnformatted((cell_sentence(matrix, cell) + " A click shows the longest wait.").c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }
  if (pressed && cell.figures.worst) app.show_wait(*cell.figures.worst);
}

void draw_matrix(App& app, const Ui& ui, const PartyMatrix& matrix) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Theme& theme = ui.theme();
  TimeNs most = 0;
  for (const PartyCell& cell : matrix.cells) most = std::max(most, cell.figures.waiting_ns);
  float names = text_width(ui.regular, "waits \u2193   for \u2192");
  for (const analyzer::WaitParty& waiter : matrix.waiters)
    names = std::max(names, text_width(ui.regular, party_label(waiter)));
  const float available = ImGui::GetContentRegionAvail().x - ui.px(14);
  names = std::min(names + ui.px(12), available * 0.34f);
  const float column =
                  std::clamp((available - names) / static_cast<float>(matrix.releasers.size()), ui.px(88), ui.px(240)),
              row = ui.px(40), header = ui.px(26);
  const float tall = header + row * static_cast<float>(matrix.waiters.size()),
              wide = names + column * static_cast<float>(matrix.releasers.size());
  const bool scrolls = wide > available + ui.px(14);
  if (scrolls)
    ImGui::BeginChild("scroll", ImVec2(0, tall + ImGui::GetStyle().ScrollbarSize + ui.px(2)), false,
                      ImGuiWindowFlags_HorizontalScrollbar);
  list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const auto label = [&](ImFont* font, Rect where, const std::string& text, Align align) {
    draw_text(list, font, where, ink(theme.text), text, align);
    if (text_width(font, text) > where.width &&
        ImGui::IsMouseHoveringRect(ImVec2(where.x, where.y), ImVec2(where.x + where.width, where.y + where.height)))
      ImGui::SetTooltip("%s", text.c_str());
  };
  draw_text(list, ui.small, {at.x, at.y, names, header}, ink(theme.faint), "waits \u2193   for \u2192");
  for (std::size_t i = 0; i < matrix.releasers.size(); ++i)
    label(ui.regular, {at.x + names + static_cast<float>(i) * column + ui.px(6), at.y, column - ui.px(10), header},
          party_label(matrix.releasers[i]), Align::left);
  for (std::size_t i = 0; i < matrix.waiters.size(); ++i) {
    const float y = at.y + header + static_cast<float>(i) * row;
    list->AddLine(ImVec2(at.x, y), ImVec2(at.x + wide, y), ink(theme.line), 1);
    label(ui.regular, {at.x, y, names - ui.px(8), row}, party_label(matrix.waiters[i]), Align::left);
  }
  for (const PartyCell& cell : matrix.cells)
    draw_cell(app, ui, matrix, cell,
              {at.x + names + static_cast<float>(cell.releaser) * column,
               at.y + header + static_cast<float>(cell.waiter) * row, column, row},
              most);
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(ImVec2(wide, tall));
  if (scrolls) ImGui::EndChild();
}

}  // namespace

class PartiesPanel final : public Panel {
  void draw(App& app, const Ui& ui) override;
};

template <>
std::unique_ptr<Panel> make_panel<PartiesPanel>() {
  return std::make_unique<PartiesPanel>();
}

void PartiesPanel::draw(App& app, const Ui& ui) {
  if (draw_not_ready(app, ui, true) || !app.parties_shown) return;
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const analyzer::Analysis& analysis = app.facts()->analysis;
  if (analysis.parties.empty() || analysis.parties.front().waiters.empty()) {
    begin_card(ui, "nothing", size.x, 0);
    draw_nothing(app, ui, "Nothing waited", analyzer::why_no_waits(*app.model()));
    return end_card();
  }
  const float gap = ui.px(10), right = std::clamp(size.x * 0.36f, ui.px(360), ui.px(560));
  begin_card(ui, "matrix", size.x - right - gap, 0);
  choose_by(app, ui);
  const bool rows = app.facts()->model != nullptr;
  if (rows) {
    ImGui::Dummy(ImVec2(0, ui.px(2)));
    choose_site(app, ui);
    ImGui::SameLine(0, ui.px(8));
    choose_window(app, ui);
  }
  // Read only now: a choice above may have replaced them.
  const PartiesResult& shown = *app.parties_shown;
  const PartyMatrix& matrix = shown.matrix;
  if (matrix.waiters.empty()) {
    ImGui::Dummy(ImVec2(0, ui.px(6)));
    draw_nothing(app, ui, "No wait is in this choice",
                 {"The trace has waits, but none at this site, of this kind and in this part of the run. Choose others "
                  "above.",
                  {}});
    return end_card();
  }
  ImGui::Dummy(ImVec2(0, ui.px(2)));
  paragraph(ui, party_sentence(matrix));
  ImGui::Dummy(ImVec2(0, ui.px(4)));
  draw_matrix(app, ui, matrix);
  ImGui::Dummy(ImVec2(0, ui.px(10)));
  std::vector<FigureLine> lines;
  for (const analyzer::WaitParty& waiter : matrix.waiters) lines.push_back({party_label(waiter), &waiter.figures});
  const auto clicked = draw_figures(ui, "parties.rows", "who waited", lines);
  std::optional<analyzer::WorstWait> wanted;
  if (clicked) wanted = lines[*clicked].figures->worst;
  end_card();
  ImGui::SameLine(0, gap);
  begin_card(ui, "lengths", right, 0);
  heading(ui, "How long the waits take");
  if (shown.lengths) {
    const auto longest =
        draw_lengths(ui, *shown.lengths, app.lengths_way, std::clamp(size.y * 0.4f, ui.px(150), ui.px(340)));
    if (longest) wanted = longest;
  } else {
    faint(ui,
          "The rows of this trace are not in memory, since it is large. Each site's lengths are under Wait sites; "
          "for everything, run:");
    ImGui::PushFont(ui.mono);
    paragraph(ui, fmt::format("wic-prof report {} --format html -o report.html", shell_word(app.path())));
    ImGui::PopFont();
  }
  end_card();
  if (wanted) app.show_wait(*wanted);
}

}  // namespace wicprof::gui
