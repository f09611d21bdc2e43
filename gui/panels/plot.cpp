#include "gui/panels/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace wicprof::gui {

namespace {

using analyzer::FigurePlot;
using analyzer::FigureSeries;

// Pixels at 100 %.
constexpr float kBarStep = 24, kBarTall = 15, kLines = 170, kAxis = 38, kLegendRow = 20;
constexpr float kMaxLabelWidth = 0.42f;  // share of a bar chart's width
/// Dash patterns (on, off, in pixels at 100 %) that distinguish lines of the same state.
constexpr float kStrokes[analyzer::kDashes][2] = {{0, 0}, {8, 5}, {2, 4}, {14, 4}};

ImU32 ink_of_series(const Ui& ui, const FigurePlot& plot, std::size_t place) {
  const FigureSeries& series = plot.series[place];
  if (series.state) return state_ink(ui, *series.state);
  return ink(plot.bars ? ui.theme().faint : kSeriesColours[place % kSeriesColours.size()]);
}

void stroke(ImDrawList* list, const std::vector<ImVec2>& points, ImU32 colour, float thick, const float (&dash)[2],
            float scale) {
  if (dash[0] <= 0) {
    list->AddPolyline(points.data(), static_cast<int>(points.size()), colour, 0, thick);
    return;
  }
  // `left`: the rest of the dash or gap at the current point.
  bool on = true;
  float left = dash[0] * scale;
  for (std::size_t i = 1; i < points.size(); ++i) {
    ImVec2 at = points[i - 1];
    const ImVec2 to = points[i];
    float distance = std::hypot(to.x - at.x, to.y - at.y);
    while (distance > 0) {
      const float step = std::min(left, distance);
      const ImVec2 next(at.x + (to.x - at.x) * step / distance, at.y + (to.y - at.y) * step / distance);
      if (on) list->AddLine(at, next, colour, thick);
      at = next;
      distance -= step;
      left -= step;
      if (left > 0) continue;
      on = !on;
      left = dash[on ? 0 : 1] * scale;
    }
  }
}

/// Width of the labels: at most 42 % of the plot, so that bars stay visible beside long names.
float label_width(const Ui& ui, const FigurePlot& plot, float width) {
  float widest = 0;
  for (const FigureSeries& series : plot.series) widest = std::max(widest, text_width(ui.small, series.label));
  return std::min(widest + 2, width * kMaxLabelWidth);
}

void draw_bars(const Ui& ui, const FigurePlot& plot) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Theme& theme = ui.theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, labels = label_width(ui, plot, width);
  float values = 0;
  for (const FigureSeries& bar : plot.series)
    values = std::max(values, text_width(ui.small, plot.value_text(bar.points[0].second)));
  const float left = at.x + labels + ui.px(10), plot_width = std::max(width - labels - values - ui.px(26), 1.0f);
  const auto x = [&](double value) { return left + plot_width * static_cast<float>(plot.y_part(value)); };
  float y = at.y;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const FigureSeries& bar = plot.series[i];
    const double value = bar.points[0].second;
    const float top = y + ui.px((kBarStep - kBarTall) / 2), bottom = top + ui.px(kBarTall), middle = (top + bottom) / 2;
    draw_text(list, ui.small, {at.x, y, labels, ui.px(kBarStep)}, ink(theme.faint), bar.label, Align::right);
    list->AddRectFilled(ImVec2(left, top), ImVec2(left + plot_width, bottom), ink(theme.lane));
    list->AddRectFilled(ImVec2(std::min(x(0), x(value)), top),
                        ImVec2(std::max(std::max(x(0), x(value)), x(0) + 1), bottom), ink_of_series(ui, plot, i));
    if (plot.y_least < 0)
      list->AddLine(ImVec2(x(0), top - ui.px(3)), ImVec2(x(0), bottom + ui.px(3)), ink(theme.faint), ui.px(1));
    if (bar.low && bar.high) {
      list->AddLine(ImVec2(x(*bar.low), middle), ImVec2(x(*bar.high), middle), ink(theme.text), ui.px(1));
      for (const double end : {*bar.low, *bar.high})
        list->AddLine(ImVec2(x(end), middle - ui.px(4)), ImVec2(x(end), middle + ui.px(4)), ink(theme.text), ui.px(1));
    }
    draw_text(list, ui.small, {left + plot_width + ui.px(8), y, values + 2, ui.px(kBarStep)}, ink(theme.text),
              plot.value_text(value));
    if (ImGui::IsMouseHoveringRect(ImVec2(at.x, y), ImVec2(at.x + width, y + ui.px(kBarStep)))) {
      const std::string interval = bar.low && bar.high ? fmt::format(", interval {} to {}", plot.value_text(*bar.low),
                                                                     plot.value_text(*bar.high))
                                                       : "";
      ImGui::SetTooltip("%s: %s%s", bar.label.c_str(), plot.value_text(value).c_str(), interval.c_str());
    }
    y += ui.px(kBarStep);
  }
  // The scale of the bars.
  draw_text(list, ui.small, {left, y, plot_width, ui.px(16)}, ink(theme.faint), plot.value_text(plot.y_least));
  draw_text(list, ui.small, {left, y, plot_width, ui.px(16)}, ink(theme.faint), plot.value_text(plot.y_most),
            Align::right);
  draw_text(list, ui.small, {left, y, plot_width, ui.px(16)}, ink(theme.faint),
            plot.y_title + (plot.logarithmic ? ", logarithmic" : ""), Align::centre);
}

void draw_lines(const Ui& ui, const FigurePlot& plot) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Theme& theme = ui.theme();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float left = at.x + ui.px(54), plot_width = width - ui.px(62), top = at.y + ui.px(8),
              tall = ui.px(kLines) - ui.px(8);
  const auto x = [&](double value) { return left + plot_width * static_cast<float>(plot.x_part(value)); };
  const auto y = [&](double value) { return top + tall * static_cast<float>(1 - plot.y_part(value)); };
  for (int tick = 0; tick <= 4; ++tick) {
    const double value = plot.y_least + (plot.y_most - plot.y_least) * tick / 4;
    list->AddLine(ImVec2(left, y(value)), ImVec2(left + plot_width, y(value)), ink(theme.line), 1);
    draw_text(list, ui.small, {at.x, y(value) - ui.px(8), ui.px(46), ui.px(16)}, ink(theme.faint),
              plot.value_text(value), Align::right);
  }
  // Ticks at both ends, and on linear axes also at the quarters.
  const int ticks = plot.logarithmic ? 1 : 4;
  for (int tick = 0; tick <= ticks; ++tick) {
    const double value = plot.x_least + (plot.x_most - plot.x_least) * tick / ticks;
    const std::string text = plot.value_text(value);
    const float w = text_width(ui.small, text) + 1, middle = x(value);
    draw_text(list, ui.small,
              {std::clamp(middle - w / 2, left, left + plot_width - w), top + tall + ui.px(4), w, ui.px(16)},
              ink(theme.faint), text);
  }
  draw_text(list, ui.small, {left, top + tall + ui.px(19), plot_width, ui.px(16)}, ink(theme.faint), plot.x_title,
            Align::centre);
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const ImU32 colour = ink_of_series(ui, plot, i);
    std::vector<ImVec2> points;
    for (const auto& [px, py] : plot.series[i].points) points.emplace_back(x(px), y(py));
    stroke(list, points, colour, ui.px(2), kStrokes[plot.series[i].dash], ui.scale);
    for (const ImVec2& point : points) {
      if (points.size() <= 32) list->AddCircleFilled(point, ui.px(points.size() == 1 ? 4 : 2.5f), colour);
    }
  }
  const float below = top + tall + ui.px(kAxis);
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const float row = below + ui.px(kLegendRow) * static_cast<float>(i), middle = row + ui.px(kLegendRow) / 2;
    stroke(list, {ImVec2(left, middle), ImVec2(left + ui.px(26), middle)}, ink_of_series(ui, plot, i), ui.px(2.5f),
           kStrokes[plot.series[i].dash], ui.scale);
    draw_text(list, ui.small, {left + ui.px(34), row, plot_width - ui.px(34), ui.px(kLegendRow)}, ink(theme.faint),
              plot.series[i].label);
  }
}

}  // namespace

float plot_height(const Ui& ui, const FigurePlot& plot) {
  const auto rows = static_cast<float>(plot.series.size());
  return plot.bars ? ui.px(kBarStep) * rows + ui.px(20) : ui.px(kLines) + ui.px(kAxis) + ui.px(kLegendRow) * rows;
}

void draw_plot(const Ui& ui, const FigurePlot& plot) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  if (plot.bars) {
    draw_bars(ui, plot);
  } else {
    draw_lines(ui, plot);
  }
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(ImVec2(width, plot_height(ui, plot)));
  if (plot.left_out > 0) faint(ui, fmt::format("and {} more", plot.left_out));
}

}  // namespace wicprof::gui
