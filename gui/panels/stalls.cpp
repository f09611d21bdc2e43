// Stall reasons of sampled functions, and their polling loops with instructions.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "gui/panels/aggregate_parts.h"
#include "gui/panels/parts.h"

namespace wicprof::gui {

namespace {

constexpr std::size_t kMaxFunctions = 20, kMaxReasons = 6;

void bar(const Ui& ui, std::string_view name, double share, State state) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = size_of(ui.regular) + ui.px(3);
  const float left = ui.px(170), right = ui.px(56);
  draw_text(list, ui.regular, {at.x, at.y, left - ui.px(8), height}, ink(ui.theme().faint), name);
  const float longest = std::max(width - left - right, 1.0f);
  list->AddRectFilled(ImVec2(at.x + left, at.y + ui.px(3)), ImVec2(at.x + left + longest, at.y + height - ui.px(3)),
                      ink(ui.theme().lane));
  list->AddRectFilled(
      ImVec2(at.x + left, at.y + ui.px(3)),
      ImVec2(at.x + left + longest * static_cast<float>(std::min(share, 1.0)), at.y + height - ui.px(3)),
      state_ink(ui, state));
  draw_text(list, ui.regular, {at.x + width - right, at.y, right, height}, ink(ui.theme().text),
            analyzer::format_percent(share), Align::right);
  ImGui::Dummy(ImVec2(width, height));
}

void reasons(const Ui& ui, const std::vector<analyzer::StallShare>& list, std::uint64_t all) {
  for (std::size_t i = 0; i < std::min(list.size(), kMaxReasons); ++i)
    bar(ui, list[i].reason, all > 0 ? static_cast<double>(list[i].samples) / static_cast<double>(all) : 0,
        State::computing);
}

/// The loop's instructions, with source line numbers where they change; highlights the line that reads the word.
void code(const Ui& ui, const analyzer::PollingLoop& loop) {
  const bool lines =
      std::any_of(loop.code_lines.begin(), loop.code_lines.end(), [](std::uint32_t line) { return line != 0; });
  const float column = lines ? ui.px(64) : 0, height = size_of(ui.mono) + ui.px(4);
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < loop.code.size(); ++i) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const std::uint32_t line = loop.code_lines[i];
    if (line != 0 && line == loop.line)
      list->AddRectFilled(at, ImVec2(at.x + width, at.y + height), state_ink(ui, State::polling, 0.16f));
    if (line != 0 && line != last)
      draw_text(list, ui.mono, {at.x, at.y, column - ui.px(8), height}, ink(ui.theme().faint), fmt::format("{}", line),
                Align::right);
    draw_text(list, ui.mono, {at.x + column, at.y, width - column, height}, ink(ui.theme().text), loop.code[i]);
    ImGui::Dummy(ImVec2(width, height - ImGui::GetStyle().ItemSpacing.y));
    last = line;
  }
}

}  // namespace

class StallsPanel final : public Panel {
  void draw(App& app, const Ui& ui) override;
};

template <>
std::unique_ptr<Panel> make_panel<StallsPanel>() {
  return std::make_unique<StallsPanel>();
}

void StallsPanel::draw(App& app, const Ui& ui) {
  if (draw_not_ready(app, ui, true)) return;
  const analyzer::Analysis& analysis = app.facts()->analysis;
  const ImVec2 size = ImGui::GetContentRegionAvail();
  if (analysis.stalls.functions.empty()) {
    begin_card(ui, "none", size.x, 0);
    draw_nothing(app, ui, "No samples of program counters", no_samples(*app.model(), app.path()));
    return end_card();
  }
  const float half = (size.x - ui.px(10)) / 2;
  begin_card(ui, "functions", half, 0);
  heading(ui, "Stall reasons");
  for (std::size_t i = 0; i < std::min(analysis.stalls.functions.size(), kMaxFunctions); ++i) {
    const analyzer::FunctionStalls& function = analysis.stalls.functions[i];
    ImGui::PushFont(ui.bold);
    paragraph(ui, analyzer::function_name(function.function));
    ImGui::PopFont();
    faint(ui, fmt::format("{}, {} of its device's samples", analyzer::count_of(function.samples, "sample"),
                          analyzer::format_percent(function.share)));
    reasons(ui, function.reasons, function.samples);
    ImGui::Dummy(ImVec2(0, ui.px(8)));
  }
  end_card();
  ImGui::SameLine(0, ui.px(10));
  begin_card(ui, "loops", half, 0);
  heading(ui, analysis.polling_loops.empty() ? "No polling loops"
                                             : analyzer::count_of(analysis.polling_loops.size(), "loop") +
                                                   (analysis.polling_loops.size() == 1 ? " that waits" : " that wait"));
  for (const analyzer::PollingLoop& loop : analysis.polling_loops) {
    ImGui::PushFont(ui.bold);
    paragraph(ui, fmt::format("{} {} at {}", analyzer::function_name(loop.function), analyzer::what_it_does(loop),
                              analyzer::place_of(loop)));
    ImGui::PopFont();
    bar(ui, "polling", loop.share, State::polling);
    if (loop.behind > 0) bar(ui, "behind its barrier", loop.behind_share, State::at_barrier);
    for (const std::string& line : loop.evidence) faint(ui, line);
    code(ui, loop);
    ImGui::Dummy(ImVec2(0, ui.px(8)));
  }
  end_card();
}

}  // namespace wicprof::gui
