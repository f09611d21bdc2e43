// Kernels that started when their predecessor was done: their waves, and what an earlier start could gain.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "gui/panels/aggregate_parts.h"
#include "gui/panels/parts.h"
#include "gui/view/nothing.h"
#include "reports/parts/pair_phrases.h"
#include "reports/parts/tables.h"

namespace wicprof::gui {

namespace {

constexpr std::size_t kMaxPairs = 30;
constexpr std::uint64_t kMaxSeparated = 64;  ///< more waves in one bar have no lines between them

/// The device over time: the height is all SMs, and what no bar covers is idle.
void draw_waves(const Ui& ui, const std::vector<analyzer::WaveBar>& bars) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::max(ImGui::GetContentRegionAvail().x, 1.0f), height = ui.px(44);
  list->AddRectFilled(at, ImVec2(at.x + width, at.y + height), ink(ui.theme().lane));
  for (const analyzer::WaveBar& bar : bars) {
    const float left = at.x + width * static_cast<float>(bar.begin), right = at.x + width * static_cast<float>(bar.end);
    const float tall = height * static_cast<float>(std::clamp(bar.fill, 0.0, 1.0));
    const float top = at.y + height - tall;
    list->AddRectFilled(ImVec2(left, top), ImVec2(std::max(right, left + 1), at.y + height),
                        bar.consumer ? ink(ui.theme().text) : state_ink(ui, State::computing));
    for (std::uint64_t wave = 1; bar.waves <= kMaxSeparated && wave < bar.waves; ++wave) {
      const float x = left + (right - left) * static_cast<float>(wave) / static_cast<float>(bar.waves);
      list->AddLine(ImVec2(x, top), ImVec2(x, at.y + height), ink(ui.theme().card), 1);
    }
    if (ImGui::IsMouseHoveringRect(ImVec2(left, at.y), ImVec2(right, at.y + height)))
      ImGui::SetTooltip("%s, %s full", analyzer::count_of(bar.waves, "wave").c_str(),
                        analyzer::format_percent(bar.fill).c_str());
  }
  ImGui::Dummy(ImVec2(width, height));
}

/// The row's cells behind its name, each with its head.
std::vector<std::pair<std::string, std::string>> facts_of(const reports::Table& table, std::size_t row) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (std::size_t column = 1; column < table.heads.size(); ++column)
    facts.emplace_back(table.heads[column].text, table.rows[row].cells[column].text);
  return facts;
}

void one_pair(const Ui& ui, const analyzer::DependentPair& pair, const reports::Table& table, std::size_t index) {
  ImGui::PushFont(ui.bold);
  paragraph(ui, reports::pair_name(pair));
  ImGui::PopFont();
  const std::vector<analyzer::WaveBar> bars = analyzer::wave_bars(pair);
  if (bars.empty()) {
    faint(ui, analyzer::no_waves_reason(pair.why));
  } else {
    draw_waves(ui, bars);
    note_item(ui, fmt::format("kernels.{}.waves", index));
  }
  std::vector<std::pair<std::string, std::string>> facts = facts_of(table, index);
  facts.insert(facts.begin() + 2, {"second kernel's waves", reports::waves_text(pair.consumer)});
  fact_table(ui, fmt::format("pair.{}", index).c_str(), facts);
  ImGui::Dummy(ImVec2(0, ui.px(10)));
}

void crowded(const Ui& ui, const reports::Table& table) {
  if (table.rows.empty()) return;
  heading(ui, "Kernels beside a holder of SMs");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    ImGui::PushFont(ui.bold);
    paragraph(ui, table.rows[i].cells.front().text);
    ImGui::PopFont();
    fact_table(ui, fmt::format("crowded.{}", i).c_str(), facts_of(table, i));
    ImGui::Dummy(ImVec2(0, ui.px(10)));
  }
}

}  // namespace

class KernelsPanel final : public Panel {
  void draw(App& app, const Ui& ui) override;
};

template <>
std::unique_ptr<Panel> make_panel<KernelsPanel>() {
  return std::make_unique<KernelsPanel>();
}

void KernelsPanel::draw(App& app, const Ui& ui) {
  if (draw_not_ready(app, ui, true)) return;
  const analyzer::Analysis& analysis = app.facts()->analysis;
  const analyzer::DependentKernels& kernels = analysis.dependent_kernels;
  begin_card(ui, "pairs", ImGui::GetContentRegionAvail().x, 0);
  if (kernels.pairs.empty() && analysis.crowded_kernels.empty()) {
    draw_nothing(app, ui, "No kernel waits for another one's end", no_pairs(*app.model(), analysis, app.path()));
    return end_card();
  }
  heading(ui, "Kernels that could start earlier");
  paragraph(ui, reports::pairs_summary(kernels));
  faint(ui, reports::kPairsAssume);
  faint(ui,
        "Waves of a mean launch: grey the first kernel, the other colour the second; the height is the share of the "
        "SMs that "
        "have blocks.");
  ImGui::Dummy(ImVec2(0, ui.px(8)));
  const reports::Table pairs = reports::dependent_kernels_table(kernels, kMaxPairs);
  for (std::size_t i = 0; i < pairs.rows.size(); ++i) one_pair(ui, kernels.pairs[i], pairs, i);
  if (pairs.rows.size() < pairs.all)
    faint(ui, fmt::format("and {} more: wic-prof analyze --format json",
                          analyzer::count_of(pairs.all - pairs.rows.size(), "pair")));
  crowded(ui, reports::crowded_table(analysis, kMaxPairs));
  end_card();
}

}  // namespace wicprof::gui
