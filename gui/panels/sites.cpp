// Wait sites: the table, and the details of the selected site.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "gui/panels/parts.h"

namespace wicprof::gui {

namespace {

void right_aligned(const std::string& text) {
  const float spare = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x;
  if (spare > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + spare);
  ImGui::TextUnformatted(text.c_str());
}

void table(App& app, const Ui& ui) {
  const ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersInnerH |
                                ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_ScrollX;
  // Makes the highlight fill its row: a row is as high as its text plus the item spacing, and a Selectable extends by
  // half of that spacing on both sides.
  const ImVec2 spacing = ImGui::GetStyle().ItemSpacing;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(spacing.x, ui.px(10)));
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(ImGui::GetStyle().CellPadding.x, ui.px(5)));
  const bool begun = ImGui::BeginTable("sites", static_cast<int>(kSiteColumns), flags);
  ImGui::PopStyleVar();
  if (!begun) return ImGui::PopStyleVar();
  for (std::size_t i = 0; i < kSiteColumns; ++i) {
    const auto column = static_cast<SiteColumn>(i);
    const SiteColumnLook& look = look_of(column);
    float widest = text_width(ui.bold, look.title) + ui.px(18);
    for (const SiteLine& line : app.sites) widest = std::max(widest, text_width(ui.regular, line.cells[i]) + ui.px(8));
    ImGui::TableSetupColumn(look.title, ImGuiTableColumnFlags_WidthFixed, std::min(widest, ui.px(320)));
  }
  ImGui::TableSetupScrollFreeze(1, 1);
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (std::size_t i = 0; i < kSiteColumns; ++i) {
    const auto column = static_cast<SiteColumn>(i);
    const SiteColumnLook& look = look_of(column);
    ImGui::TableSetColumnIndex(static_cast<int>(i));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x, height = size_of(ui.bold) + ui.px(6);
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::InvisibleButton("header", ImVec2(std::max(width, 1.0f), height))) app.sort_sites(column);
    ImGui::PopID();
    note_item(ui, fmt::format("sites.sort.{}", look.key));
    const bool sorted = app.sort_by == column;
    const std::string title =
        sorted ? fmt::format("{} {}", look.title, app.sort_descending ? "\u25be" : "\u25b4") : look.title;
    draw_text(ImGui::GetWindowDrawList(), sorted ? ui.bold : ui.regular, {at.x, at.y, width, height},
              ink(sorted ? ui.theme().text : ui.theme().faint), title, look.numeric ? Align::right : Align::left);
  }
  for (const SiteLine& line : app.sites) {
    ImGui::TableNextRow();
    for (std::size_t i = 0; i < kSiteColumns; ++i) {
      ImGui::TableSetColumnIndex(static_cast<int>(i));
      if (i == 0) {
        const bool chosen = app.detail && app.detail->site == line.site;
        ImGui::PushID(static_cast<int>(line.site));
        if (ImGui::Selectable(line.cells[i].c_str(), chosen, ImGuiSelectableFlags_SpanAllColumns))
          app.open_site(line.site);
        ImGui::PopID();
        note_item(ui, "site." + line.cells[i]);
      } else if (look_of(static_cast<SiteColumn>(i)).numeric) {
        right_aligned(line.cells[i]);
      } else {
        ImGui::TextUnformatted(line.cells[i].c_str());
      }
    }
  }
  ImGui::EndTable();
  ImGui::PopStyleVar();
}

void histogram(const Ui& ui, const Histogram& values) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x,
              height = std::clamp(ImGui::GetWindowHeight() - ui.px(260), ui.px(150), ui.px(340)), axis = ui.px(20);
  const float left = ui.px(52), plot = width - left, tall = height - axis;
  if (values.bins.empty()) {
    faint(ui, "no waits");
    return;
  }
  for (const double part : {0.0, 0.5, 1.0}) {
    const float y = at.y + tall * static_cast<float>(1 - part);
    list->AddLine(ImVec2(at.x + left, y), ImVec2(at.x + width, y), ink(ui.theme().line), 1);
    draw_text(list, ui.small, {at.x, y - ui.px(8), left - ui.px(8), ui.px(16)}, ink(ui.theme().faint),
              analyzer::format_count(static_cast<std::uint64_t>(part * static_cast<double>(values.most))),
              Align::right);
  }
  const float step = plot / static_cast<float>(values.bins.size());
  float labelled_to = 0;
  for (std::size_t i = 0; i < values.bins.size(); ++i) {
    const Histogram::Bin& bin = values.bins[i];
    const float x = at.x + left + static_cast<float>(i) * step;
    float base = at.y + tall;
    for (const auto& [count, state] : {std::pair{bin.polling, State::polling}, std::pair{bin.parked, State::parked},
                                       std::pair{bin.host, State::host_waiting}}) {
      const float h = tall * static_cast<float>(count) / static_cast<float>(values.most);
      if (count > 0)
        list->AddRectFilled(ImVec2(x + 1, base - std::max(h, 1.0f)), ImVec2(x + step - 1, base), state_ink(ui, state));
      base -= h;
    }
    const std::string label = analyzer::format_duration(bin.begin);
    const float text = text_width(ui.small, label);
    if (i % 4 == 0 && x > labelled_to && x + text < at.x + width) {
      draw_text(list, ui.small, {x, at.y + tall + ui.px(2), text + 1, axis}, ink(ui.theme().faint), label);
      labelled_to = x + text + ui.px(12);
    }
    if (ImGui::IsMouseHoveringRect(ImVec2(x, at.y), ImVec2(x + step, at.y + tall)))
      ImGui::SetTooltip("%s to %s: %s", label.c_str(), analyzer::format_duration(bin.end).c_str(),
                        analyzer::count_of(bin.count(), "wait").c_str());
  }
  ImGui::Dummy(ImVec2(width, height));
}

void detail(App& app, const Ui& ui) {
  const SiteDetail& site = *app.detail;
  heading(ui, site.name);
  if (ImGui::BeginTable("split", 2, ImGuiTableFlags_SizingStretchProp)) {
    ImGui::TableSetupColumn("facts", ImGuiTableColumnFlags_WidthStretch, 0.48f);
    ImGui::TableSetupColumn("histogram", ImGuiTableColumnFlags_WidthStretch, 0.52f);
    ImGui::TableNextColumn();
    fact_table(ui, "facts", site.facts);
    ImGui::TableNextColumn();
    faint(ui, "Durations of waits");
    ImGui::Dummy(ImVec2(0, ui.px(8)));
    histogram(ui, site.histogram);
    legend(ui, {State::polling, State::parked, State::host_waiting});
    ImGui::Dummy(ImVec2(0, ui.px(8)));
    if (!site.percentiles.empty() && ImGui::BeginTable("percentiles", static_cast<int>(site.percentiles.size()),
                                                       ImGuiTableFlags_SizingStretchSame)) {
      for (const auto& [name, value] : site.percentiles) {
        ImGui::TableNextColumn();
        faint(ui, name);
        ImGui::TextUnformatted(analyzer::format_duration(value).c_str());
      }
      ImGui::EndTable();
    }
    ImGui::EndTable();
  }
}

}  // namespace

class SitesPanel final : public Panel {
  void draw(App& app, const Ui& ui) override;
};

template <>
std::unique_ptr<Panel> make_panel<SitesPanel>() {
  return std::make_unique<SitesPanel>();
}

void SitesPanel::draw(App& app, const Ui& ui) {
  if (draw_not_ready(app, ui, true)) return;
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const float rows = ui.px(70) + static_cast<float>(app.sites.size()) * ui.px(27);
  const float upper = std::clamp(rows, ui.px(110), size.y * 0.5f);
  begin_card(ui, "table", size.x, upper);
  if (app.sites.empty()) {
    heading(ui, "No wait sites");
    faint(ui,
          "The program declared no waits. If it was recorded with --trace pcsampling, polling loops are under Stalls.");
  } else {
    table(app, ui);
  }
  end_card();
  begin_card(ui, "site", size.x, 0);
  if (app.detail) detail(app, ui);
  end_card();
}

}  // namespace wicprof::gui
