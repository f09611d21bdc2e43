// Figures: iteration times over time, and how many waiters wait over time, with the changes of how the program waits.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/reports/format.h"
#include "analyzer/reports/svg_axis.h"
#include "analyzer/statistics.h"
#include "gui/panels/list.h"

namespace wicprof::gui {

namespace {

constexpr std::uint32_t kColumns = 240;

struct Plot {
  Rect area;
  TimeNs begin = 0, end = 1;
  double top = 1;
  float x(TimeNs time) const { return area.x + area.width * static_cast<float>(static_cast<double>(time - begin) / static_cast<double>(end - begin)); }
  float y(double value) const { return area.y + area.height * static_cast<float>(1 - std::min(value / top, 1.0)); }
};

template <class Label>
Plot begin_plot(const Ui& ui, const Timeline& timeline, double top, float height, Label label) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  Plot plot{{at.x + ui.px(70), at.y + ui.px(6), width - ui.px(80), height - ui.px(32)}, timeline.begin, timeline.end, top};
  for (const double part : {0.0, 0.5, 1.0}) {
    const float y = plot.y(part * top);
    list->AddLine(ImVec2(plot.area.x, y), ImVec2(plot.area.x + plot.area.width, y), ink(ui.theme().line), 1);
    draw_text(list, ui.small, {at.x, y - ui.px(8), ui.px(62), ui.px(16)}, ink(ui.theme().faint), label(part * top), Align::right);
  }
  const TimeNs span = timeline.end - timeline.begin, step = analyzer::tick_step(span, 8);
  for (TimeNs time = 0; time <= span; time += step) {
    const float x = plot.x(timeline.begin + time);
    if (x + ui.px(30) > at.x + width && time > 0) continue;
    draw_text(list, ui.small, {x, plot.area.y + plot.area.height + ui.px(4), ui.px(80), ui.px(16)}, ink(ui.theme().faint),
              analyzer::tick_label(time, step, span));
  }
  ImGui::Dummy(ImVec2(width, height));
  return plot;
}

void changes(const Ui& ui, const Timeline& timeline, const Plot& plot) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const InterventionMark& mark : timeline.interventions) {
    if (mark.at < plot.begin || mark.at > plot.end) continue;
    const float x = plot.x(mark.at);
    list->AddLine(ImVec2(x, plot.area.y), ImVec2(x, plot.area.y + plot.area.height), ink(ui.theme().text, 0.6f), ui.px(1));
    const float width = std::min(text_width(ui.small, mark.label) + 1, plot.area.x + plot.area.width - x - ui.px(6));
    list->AddRectFilled(ImVec2(x, plot.area.y), ImVec2(x + width + ui.px(8), plot.area.y + ui.px(18)), ink(ui.theme().card, 0.85f));
    draw_text(list, ui.small, {x + ui.px(4), plot.area.y, width, ui.px(18)}, ink(ui.theme().text), mark.label);
  }
}

void iterations(App& app, const Ui& ui, float height) {
  heading(ui, "Iteration time");
  const analyzer::Comparison& comparison = app.facts()->comparison;
  std::vector<TimeNs> all;
  for (const analyzer::Segment& segment : comparison.segments) {
    for (const analyzer::Iteration& iteration : segment.iterations) all.push_back(iteration.duration());
  }
  if (all.empty()) {
    faint(ui, comparison.reason.empty() ? "the trace has no iterations" : comparison.reason);
    return;
  }
  const double top = static_cast<double>(analyzer::percentile(all, 99)) * 1.15;
  const Plot plot = begin_plot(ui, *app.timeline(), top, height, [](double v) { return analyzer::format_duration(static_cast<TimeNs>(v)); });
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const analyzer::Segment& segment : comparison.segments) {
    const State state = segment.mode == Mode::park ? State::parked : State::polling;
    // At most one point a column and pixel row: of a long run, those that lie upon each other add nothing.
    float last_x = -1, last_y = -1;
    for (const analyzer::Iteration& iteration : segment.iterations) {
      const float x = plot.x(iteration.begin), y = plot.y(static_cast<double>(iteration.duration()));
      if (static_cast<int>(x) == static_cast<int>(last_x) && static_cast<int>(y) == static_cast<int>(last_y)) continue;
      const float size = ui.px(1.5f);
      list->AddRectFilled(ImVec2(x - size, y - size), ImVec2(x + size, y + size), state_ink(ui, state, 0.55f));
      last_x = x;
      last_y = y;
    }
    if (segment.iteration_ns_p50) {
      const float y = plot.y(static_cast<double>(*segment.iteration_ns_p50));
      list->AddLine(ImVec2(plot.x(segment.begin_ns), y), ImVec2(plot.x(segment.end_ns), y), state_ink(ui, state), ui.px(2));
    }
  }
  changes(ui, *app.timeline(), plot);
  faint(ui, "Each point is an iteration, each line the median of a time in which the program waited in one way. Measured at " +
                comparison.measured_at + ".");
}

void waiting(App& app, const Ui& ui, float height) {
  heading(ui, "Warps that wait");
  std::vector<DensityColumn> sums(kColumns);
  for (const Track& track : app.timeline()->tracks) {
    if (!track.has_strip()) continue;
    const auto columns = track.density.draw(app.timeline()->begin, app.timeline()->end, kColumns);
    for (std::size_t i = 0; i < kColumns; ++i) {
      for (std::size_t s = 0; s < kStates; ++s) sums[i].count[s] += columns[i].count[s];
    }
  }
  float top = 0;
  for (const DensityColumn& column : sums) top = std::max(top, column.total());
  if (top <= 0) {
    faint(ui, "the trace has no waits inside kernels");
    return;
  }
  const Plot plot = begin_plot(ui, *app.timeline(), top, height, [](double v) { return analyzer::format_number(v); });
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float step = plot.area.width / kColumns;
  for (std::uint32_t i = 0; i < kColumns; ++i) {
    double base = 0;
    for (const State state : kWarpStates) {
      const double value = sums[i].count[index_of(state)];
      // Whole pixels, so that neighbours neither overlap nor leave a gap.
      const float x = std::round(plot.area.x + static_cast<float>(i) * step), end = std::round(plot.area.x + static_cast<float>(i + 1) * step);
      if (value > 0) list->AddRectFilled(ImVec2(x, plot.y(base + value)), ImVec2(end, plot.y(base)), state_ink(ui, state));
      base += value;
    }
  }
  changes(ui, *app.timeline(), plot);
  legend(ui, {State::polling, State::parked, State::at_barrier, State::computing});
}

}  // namespace

void draw_figures_panel(App& app, const Ui& ui) {
  if (draw_not_ready(app, ui, true)) return;
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const float half = (size.y - ui.px(8)) / 2;
  begin_card(ui, "iterations", size.x, half);
  iterations(app, ui, half - ui.px(76));
  end_card();
  begin_card(ui, "waiting", size.x, 0);
  waiting(app, ui, half - ui.px(76));
  end_card();
}

}  // namespace wicprof::gui
