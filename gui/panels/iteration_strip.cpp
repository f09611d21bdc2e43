#include "gui/panels/iteration_strip.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "gui/view/colours.h"

namespace wicprof::gui {

namespace {

/// A phase of the strip, at its place.
void draw_phase(const Ui& ui, const IterationStrip& strip, const StripPhase& phase, Rect where) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Theme& theme = ui.theme();
  const State state = state_of_mode(phase.mode);
  const float bottom = where.y + where.height;
  list->AddRectFilled(ImVec2(where.x, where.y), ImVec2(where.x + where.width, bottom), state_ink(ui, state, 0.10f));
  if (phase.columns.empty()) {
    draw_text(list, ui.small, where, ink(theme.faint), "no iterations", Align::centre);
    return;
  }
  const float step = where.width / static_cast<float>(phase.columns.size());
  for (std::size_t i = 0; i < phase.columns.size(); ++i) {
    const StripPhase::Column& column = phase.columns[i];
    const float x = where.x + static_cast<float>(i) * step, gap = step > ui.px(4) ? ui.px(1) : 0;
    const float tall = where.height * static_cast<float>(strip.height_of(column.p50));
    list->AddRectFilled(ImVec2(x, bottom - tall), ImVec2(x + step - gap, bottom), state_ink(ui, state));
    if (!ImGui::IsMouseHoveringRect(ImVec2(x, where.y), ImVec2(x + step, bottom))) continue;
    if (column.first == column.last) {
      ImGui::SetTooltip("%s, iteration %zu of %zu: %s", phase.label.c_str(), column.first + 1, phase.iterations,
                        analyzer::format_duration(column.p50).c_str());
    } else {
      ImGui::SetTooltip("%s, iterations %zu to %zu of %zu: median %s, %s to %s", phase.label.c_str(), column.first + 1,
                        column.last + 1, phase.iterations, analyzer::format_duration(column.p50).c_str(),
                        analyzer::format_duration(column.least).c_str(),
                        analyzer::format_duration(column.most).c_str());
    }
  }
}

}  // namespace

std::optional<std::size_t> draw_iteration_strip(const Ui& ui, const IterationStrip& strip, Rect where,
                                                std::optional<std::size_t> chosen) {
  std::optional<std::size_t> clicked;
  if (strip.phases.empty() || strip.most <= 0) return clicked;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Theme& theme = ui.theme();
  const float scale = ui.px(64), labels = ui.px(18);
  const Rect plot{where.x + scale, where.y + labels, where.width - scale, where.height - 2 * labels};
  note_rect(ui, "strip", plot);
  // The scale: the longest median at the top; at the bottom 0, or on a logarithmic axis the shortest median.
  draw_text(list, ui.small, {where.x, plot.y - labels / 2, scale - ui.px(8), labels}, ink(theme.faint),
            analyzer::format_duration(strip.most), Align::right);
  const float low =
      plot.y + plot.height * static_cast<float>(1 - (strip.logarithmic ? strip.height_of(strip.least) : 0));
  draw_text(list, ui.small, {where.x, low - labels / 2, scale - ui.px(8), labels}, ink(theme.faint),
            strip.logarithmic ? analyzer::format_duration(strip.least) : "0", Align::right);
  const float phase_width = plot.width / static_cast<float>(strip.phases.size());
  for (std::size_t i = 0; i < strip.phases.size(); ++i) {
    const StripPhase& phase = strip.phases[i];
    const Rect at{plot.x + static_cast<float>(i) * phase_width, plot.y, phase_width, plot.height};
    draw_phase(ui, strip, phase, at);
    const float pad = ui.px(4);
    if (phase_width > ui.px(46)) {
      const std::string title =
          phase.p50 > 0 ? fmt::format("{}: {}", phase.label, analyzer::format_duration(phase.p50)) : phase.label;
      draw_text(list, ui.small, {at.x + pad, where.y, phase_width - 2 * pad, labels}, ink(theme.text), title);
      draw_text(list, ui.small, {at.x + pad, plot.y + plot.height, phase_width - 2 * pad, labels}, ink(theme.faint),
                analyzer::count_of(phase.iterations, "iteration"));
    }
    if (i == 0) continue;
    const bool is_chosen = chosen && *chosen + 1 == i;
    list->AddLine(ImVec2(at.x, where.y + ui.px(2)), ImVec2(at.x, plot.y + plot.height), ink(theme.text),
                  ui.px(is_chosen ? 3 : 1));
    if (!chosen) continue;
    const float reach = std::min(ui.px(8), phase_width / 2);
    ImGui::SetCursorScreenPos(ImVec2(at.x - reach, plot.y));
    const std::string item = fmt::format("strip.change.{}", i - 1);
    if (ImGui::InvisibleButton(item.c_str(), ImVec2(2 * reach, std::max(plot.height, 1.0f)))) clicked = i - 1;
    note_item(ui, item);
    if (ImGui::IsItemHovered())
      ImGui::SetTooltip("from %s to %s", strip.phases[i - 1].label.c_str(), phase.label.c_str());
  }
  if (strip.logarithmic)
    draw_text(list, ui.small, {where.x, where.y + where.height - labels, scale - ui.px(4), labels}, ink(theme.faint),
              "logarithmic", Align::left);
  return clicked;
}

}  // namespace wicprof::gui
