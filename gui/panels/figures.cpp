// Figures: iteration times and waiting warps over time, with the changes of how the program waits; then the figures of
// the WIC paper.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/measure/statistics.h"
#include "analyzer/words/format.h"
#include "gui/panels/aggregate_parts.h"
#include "gui/panels/parts.h"
#include "gui/panels/plot.h"
#include "gui/view/first_view.h"
#include "gui/view/mark_labels.h"
#include "reports/html/svg_axis.h"

namespace wicprof::gui {

namespace {

constexpr std::uint32_t kColumns = 240;  // of a chart over time

struct Plot {
  Rect area;
  TimeNs begin = 0, end = 1;
  double top = 1;
  float x(TimeNs time) const {
    return area.x +
           area.width * static_cast<float>(static_cast<double>(time - begin) / static_cast<double>(end - begin));
  }
  bool has(TimeNs time) const { return begin <= time && time <= end; }
  float y(double value) const { return area.y + area.height * static_cast<float>(1 - std::min(value / top, 1.0)); }
};

template <class Label>
Plot begin_plot(const Ui& ui, TimeNs zero, Stretch shown, double top, float height, Label label) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  Plot plot{{at.x + ui.px(70), at.y + ui.px(6), width - ui.px(80), height - ui.px(32)}, shown.begin, shown.end, top};
  for (const double part : {0.0, 0.5, 1.0}) {
    const float y = plot.y(part * top);
    list->AddLine(ImVec2(plot.area.x, y), ImVec2(plot.area.x + plot.area.width, y), ink(ui.theme().line), 1);
    draw_text(list, ui.small, {at.x, y - ui.px(8), ui.px(62), ui.px(16)}, ink(ui.theme().faint), label(part * top),
              Align::right);
  }
  const TimeNs step = reports::tick_step(shown.end - shown.begin, 8);
  for (TimeNs time = (shown.begin - zero + step - 1) / step * step; time <= shown.end - zero; time += step) {
    const float x = plot.x(zero + time);
    if (x + ui.px(30) > at.x + width && time > 0) continue;
    draw_text(list, ui.small, {x, plot.area.y + plot.area.height + ui.px(4), ui.px(80), ui.px(16)},
              ink(ui.theme().faint), reports::tick_label(time, step, shown.end - zero));
  }
  ImGui::Dummy(ImVec2(width, height));
  return plot;
}

void changes(const Ui& ui, const Timeline& timeline, const Plot& plot) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  std::vector<MarkLabel> labels;
  std::vector<std::string_view> texts;
  for (const InterventionMark& mark : timeline.interventions) {
    if (mark.at < plot.begin || mark.at > plot.end) continue;
    const float x = plot.x(mark.at);
    list->AddLine(ImVec2(x, plot.area.y), ImVec2(x, plot.area.y + plot.area.height), ink(ui.theme().text, 0.6f),
                  ui.px(1));
    labels.push_back({x, text_width(ui.small, mark.label) + ui.px(9)});
    texts.push_back(mark.label);
  }
  const auto places = place_labels(labels, plot.area.x, plot.area.x + plot.area.width);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (!places[i]) continue;
    const float x = *places[i], width = labels[i].width;
    list->AddRectFilled(ImVec2(x, plot.area.y), ImVec2(x + width, plot.area.y + ui.px(18)),
                        ink(ui.theme().card, 0.85f));
    draw_text(list, ui.small, {x + ui.px(4), plot.area.y, width, ui.px(18)}, ink(ui.theme().text), texts[i]);
  }
}

/// Iterations between two changes of how the program waits.
struct Phase {
  Mode mode = Mode::poll;
  TimeNs begin = 0, end = 0;
  const std::vector<analyzer::Iteration>* iterations = nullptr;
  std::optional<TimeNs> p50;
};

/// A trace without changes is one phase.
std::vector<Phase> phases_of(const App& app) {
  const Facts& facts = *app.facts();
  std::vector<Phase> phases;
  for (const analyzer::Segment& segment : facts.comparison.segments)
    phases.push_back({segment.mode, segment.begin_ns, segment.end_ns, &segment.iterations, segment.iteration_ns_p50});
  if (!phases.empty() || !facts.analysis.iterations || facts.analysis.iterations->list.empty()) return phases;
  const auto& list = facts.analysis.iterations->list;
  const Mode mode = mode_from_name(app.model()->meta_value(store::MetaKey::mode)).value_or(Mode::poll);
  return {{mode, list.front().begin, list.back().end, &list, analyzer::percentile(analyzer::durations(list), 50)}};
}

void iterations(const App& app, const Ui& ui, const std::vector<Phase>& phases, Stretch shown, float height) {
  std::vector<TimeNs> all;
  for (const Phase& phase : phases) {
    for (const analyzer::Iteration& iteration : *phase.iterations) all.push_back(iteration.duration());
  }
  heading(ui, "Iteration time");
  const double top = static_cast<double>(analyzer::percentile(all, 99)) * 1.15;
  const Plot plot = begin_plot(ui, app.timeline()->begin, shown, top, height,
                               [](double v) { return analyzer::format_duration(static_cast<TimeNs>(v)); });
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const Phase& phase : phases) {
    const State state = state_of_mode(phase.mode);
    // At most one point per pixel: in long runs many points coincide.
    float last_x = -1, last_y = -1;
    for (const analyzer::Iteration& iteration : *phase.iterations) {
      const float x = plot.x(iteration.begin), y = plot.y(static_cast<double>(iteration.duration()));
      if (static_cast<int>(x) == static_cast<int>(last_x) && static_cast<int>(y) == static_cast<int>(last_y)) continue;
      const float size = ui.px(1.5f);
      if (plot.has(iteration.begin))
        list->AddRectFilled(ImVec2(x - size, y - size), ImVec2(x + size, y + size), state_ink(ui, state, 0.55f));
      last_x = x;
      last_y = y;
    }
    if (phase.p50 && phase.end > shown.begin && phase.begin < shown.end) {
      const float y = plot.y(static_cast<double>(*phase.p50));
      list->AddLine(ImVec2(plot.x(std::max(phase.begin, shown.begin)), y),
                    ImVec2(plot.x(std::min(phase.end, shown.end)), y), state_ink(ui, state), ui.px(2));
    }
  }
  changes(ui, *app.timeline(), plot);
  const std::string& site = app.facts()->comparison.measured_at;
  ImGui::PushFont(ui.small);
  faint(ui, "Points are iterations; lines are medians between two changes of how the program waits." +
                (site.empty() ? std::string() : " Measured at " + site + "."));
  ImGui::PopFont();
}

void waiting(const App& app, const Ui& ui, const std::vector<DensityColumn>& sums, Stretch shown, float height) {
  heading(ui, "Waiting warps");
  float top = 0;
  for (const DensityColumn& column : sums) top = std::max(top, column.total());
  const Plot plot =
      begin_plot(ui, app.timeline()->begin, shown, top, height, [](double v) { return analyzer::format_number(v); });
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float step = plot.area.width / kColumns;
  for (std::uint32_t i = 0; i < kColumns; ++i) {
    double base = 0;
    for (const State state : kWarpStates) {
      const double value = sums[i].count[index_of(state)];
      // Rounds to whole pixels, so that columns neither overlap nor leave gaps.
      const float x = std::round(plot.area.x + static_cast<float>(i) * step),
                  end = std::round(plot.area.x + static_cast<float>(i + 1) * step);
      if (value > 0)
        list->AddRectFilled(ImVec2(x, plot.y(base + value)), ImVec2(end, plot.y(base)), state_ink(ui, state));
      base += value;
    }
  }
  changes(ui, *app.timeline(), plot);
  legend(ui, ui.drawn_last);
}

/// A figure of the paper and its plot.
struct PaperFigure {
  const analyzer::Figure* figure;
  analyzer::FigurePlot plot;
};

float text_height(ImFont* font, const std::string& text, float width) {
  return font->CalcTextSizeA(size_of(font), 1e9f, width, text.data(), text.data() + text.size()).y;
}

constexpr float kPad = 12, kTitle = 30, kBelow = 10;  // pixels at 100 %

float height_of(const Ui& ui, const PaperFigure& one, float width) {
  const float inside = width - 2 * ui.px(14) - ui.px(4);
  float height = 2 * ui.px(kPad) + ui.px(kTitle) + plot_height(ui, one.plot) + ui.px(kBelow) +
                 text_height(ui.small, one.figure->formula, inside);
  if (one.plot.left_out > 0) height += ui.px(24);
  for (const std::string& note : one.figure->notes) height += text_height(ui.small, note, inside) + ui.px(6);
  return height + ui.px(14);
}

void paper_figure(const Ui& ui, const PaperFigure& one) {
  const std::string title = fmt::format("Figure {}. {}", one.figure->number, one.figure->title);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  draw_text(ImGui::GetWindowDrawList(), ui.bold, {at.x, at.y, width, ui.px(20)}, ink(ui.theme().text), title);
  ImGui::Dummy(ImVec2(width, ui.px(kTitle) - ImGui::GetStyle().ItemSpacing.y));
  draw_plot(ui, one.plot);
  note_item(ui, fmt::format("figure.{}", one.figure->number));
  ImGui::Dummy(ImVec2(0, ui.px(kBelow) - 2 * ImGui::GetStyle().ItemSpacing.y));
  ImGui::PushFont(ui.small);
  faint(ui, one.figure->formula);
  for (const std::string& note : one.figure->notes) faint(ui, note);
  ImGui::PopFont();
}

void missing_figures(const Ui& ui, const std::vector<const analyzer::Figure*>& missing) {
  heading(ui, "Figures without data in this trace");
  for (const analyzer::Figure* figure : missing) {
    paragraph(ui, fmt::format("Figure {}. {}", figure->number, figure->title));
    faint(ui, figure->missing.empty() ? "nothing to draw" : figure->missing);
    ImGui::Dummy(ImVec2(0, ui.px(2)));
  }
}

}  // namespace

class FiguresPanel final : public Panel {
  void draw(App& app, const Ui& ui) override;

  // What the charts over time show, made once per timeline.
  std::shared_ptr<const Timeline> made_of_;
  Stretch shown_;
  std::vector<DensityColumn> waiting_;
  bool any_waiting_ = false;
};

template <>
std::unique_ptr<Panel> make_panel<FiguresPanel>() {
  return std::make_unique<FiguresPanel>();
}

void FiguresPanel::draw(App& app, const Ui& ui) {
  if (draw_not_ready(app, ui, true)) return;
  std::vector<PaperFigure> shown;
  std::vector<const analyzer::Figure*> missing;
  for (const analyzer::Figure& figure : app.facts()->figures) {
    PaperFigure one{&figure, analyzer::plot_of(figure)};
    if (one.plot.series.empty()) {
      missing.push_back(&figure);
    } else {
      shown.push_back(std::move(one));
    }
  }
  ImGui::BeginChild("figures", ImGui::GetContentRegionAvail());
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const float gap = ui.px(10);
  const bool beside = size.x > ui.px(900);
  const float width = beside ? std::floor((size.x - gap) / 2) : size.x;
  const ImVec2 origin = ImGui::GetCursorPos();
  // The next card goes into the shorter column.
  float bottom[2] = {origin.y, origin.y};
  const auto card = [&](const char* id, float height, auto draw) {
    const int column = beside && bottom[1] < bottom[0] ? 1 : 0;
    ImGui::SetCursorPos(ImVec2(origin.x + static_cast<float>(column) * (width + gap), bottom[column]));
    begin_card(ui, id, width, height);
    draw();
    end_card();
    bottom[column] += height + gap;
  };
  constexpr float kOverTime = 220, kEmpty = 130;  // heights of a chart and of its absence, in pixels at 100 %
  const float over_time = ui.px(kOverTime + 92);
  if (made_of_ != app.snapshot().timeline) {
    made_of_ = app.snapshot().timeline;
    shown_ = first_view(*made_of_);
    waiting_ = made_of_->warps(shown_.begin, shown_.end, kColumns);
    any_waiting_ = std::any_of(waiting_.begin(), waiting_.end(), [](const auto& column) { return column.total() > 0; });
  }
  const std::vector<Phase> phases = phases_of(app);
  if (std::any_of(phases.begin(), phases.end(), [](const Phase& phase) { return !phase.iterations->empty(); })) {
    card("iterations", over_time, [&] { iterations(app, ui, phases, shown_, ui.px(kOverTime)); });
  } else {
    card("iterations", ui.px(kEmpty), [&] { draw_nothing(app, ui, "No iterations", no_iterations(app.path())); });
  }
  if (any_waiting_) {
    card("waiting", over_time, [&] { waiting(app, ui, waiting_, shown_, ui.px(kOverTime)); });
  } else {
    card("waiting", ui.px(kEmpty), [&] {
      heading(ui, "Waiting warps");
      faint(ui, "the trace has no waits inside kernels");
      legend(ui, ui.drawn_last);
    });
  }
  for (const PaperFigure& one : shown)
    card(fmt::format("figure{}", one.figure->number).c_str(), height_of(ui, one, width),
         [&] { paper_figure(ui, one); });
  if (!missing.empty()) {
    float height = ui.px(60);
    for (const analyzer::Figure* figure : missing)
      height += ui.px(52) + text_height(ui.regular, figure->missing, width - ui.px(32));
    card("missing", height, [&] { missing_figures(ui, missing); });
  }
  ImGui::EndChild();
}

}  // namespace wicprof::gui
