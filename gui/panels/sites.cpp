// Wait sites: the table, and the details of the selected site.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "gui/panels/aggregate_parts.h"
#include "gui/panels/parts.h"

namespace wicprof::gui {

namespace {

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

void detail(App& app, const Ui& ui) {
  const SiteDetail& site = *app.detail;
  heading(ui, site.name);
  std::optional<analyzer::WorstWait> wanted;
  if (ImGui::BeginTable("split", 2, ImGuiTableFlags_SizingStretchProp)) {
    ImGui::TableSetupColumn("facts", ImGuiTableColumnFlags_WidthStretch, 0.48f);
    ImGui::TableSetupColumn("histogram", ImGuiTableColumnFlags_WidthStretch, 0.52f);
    ImGui::TableNextColumn();
    fact_table(ui, "facts", site.facts);
    ImGui::TableNextColumn();
    faint(ui, "Durations of waits");
    ImGui::Dummy(ImVec2(0, ui.px(8)));
    wanted = draw_lengths(ui, site.waits, app.lengths_way,
                          std::clamp(ImGui::GetWindowHeight() - ui.px(320), ui.px(130), ui.px(300)));
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
  if (wanted) app.show_wait(*wanted);  // last, since it replaces the detail
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
    draw_nothing(app, ui, "No wait sites", no_sites(*app.model(), app.facts()->analysis, app.path()));
  } else {
    table(app, ui);
  }
  end_card();
  if (!app.detail) return;
  begin_card(ui, "site", size.x, 0);
  detail(app, ui);
  end_card();
}

}  // namespace wicprof::gui
