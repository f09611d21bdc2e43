// The toggle as an event: iteration times of all phases, the pictures just before and just after one change below each
// other at the same scale, and the verdict beside them.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "gui/panels/aggregate_parts.h"
#include "gui/panels/iteration_strip.h"
#include "gui/panels/parts.h"
#include "gui/panels/side_picture.h"
#include "gui/view/toggle_words.h"

namespace wicprof::gui {

namespace {

/// Iterations of the slower side that a picture shows at first. Not calibrated.
constexpr std::size_t kShown = 5;

void choose_event(App& app, const Ui& ui) {
  const auto& segments = app.facts()->before_after.segments;
  const std::size_t count = segments.size() - 1;
  const auto name = [&](std::size_t i) {
    return fmt::format("{} of {}: {} to {} at {}", i + 1, count, segments[i].way, segments[i + 1].way,
                       analyzer::format_duration(segments[i + 1].begin - app.timeline()->begin));
  };
  if (ImGui::Button("<##previous") && app.toggle_event > 0) app.choose_toggle(app.toggle_event - 1);
  note_item(ui, "toggle.previous");
  ImGui::SameLine(0, ui.px(4));
  ImGui::SetNextItemWidth(ui.px(330));
  if (ImGui::BeginCombo("##event", name(app.toggle_event).c_str())) {
    for (std::size_t i = 0; i < count; ++i) {
      if (ImGui::Selectable(name(i).c_str(), i == app.toggle_event)) app.choose_toggle(i);
      note_item(ui, fmt::format("toggle.event.{}", i));
    }
    ImGui::EndCombo();
  } else {
    note_item(ui, "toggle.event");
  }
  ImGui::SameLine(0, ui.px(4));
  if (ImGui::Button(">##next") && app.toggle_event + 1 < count) app.choose_toggle(app.toggle_event + 1);
  note_item(ui, "toggle.next");
  ImGui::SameLine(0, ui.px(12));
  if (ImGui::Button("Show on the timeline")) app.jump_to_toggle();
  note_item(ui, "toggle.jump");
}

PictureSide side_of(const App& app, std::size_t segment, const char* when) {
  const SegmentLine& line = app.facts()->before_after.segments[segment];
  return {fmt::format("{}: {}", when, line.way), app.timeline(), line.begin, line.end,
          &app.facts()->comparison.segments[segment].iterations};
}

/// Both stretches begin with an iteration, as far as they have any: the last ones before the change, the first ones
/// after it.
void draw_sides(App& app, const Ui& ui) {
  const PictureSide before = side_of(app, app.toggle_event, "before"),
                    after = side_of(app, app.toggle_event + 1, "after");
  const SegmentLine &a = *app.toggle_pair.before, &b = *app.toggle_pair.after;
  TimeNs width = std::max<TimeNs>({(a.end - a.begin) / 10, (b.end - b.begin) / 10, 1'000});
  if (a.iteration_p50 || b.iteration_p50)
    width = static_cast<TimeNs>(kShown) * std::max(a.iteration_p50.value_or(1), b.iteration_p50.value_or(1));
  width = static_cast<TimeNs>(static_cast<double>(width) / app.toggle_zoom);
  width = std::clamp<TimeNs>(width, 1'000, std::max<TimeNs>({a.end - a.begin, b.end - b.begin, 1'000}));
  TimeNs from_before = a.end - width, from_after = b.begin;
  const auto& left = *before.iterations;
  // The last one that begins early enough, so that the picture ends before the change.
  const auto later = std::partition_point(left.begin(), left.end(),
                                          [&](const analyzer::Iteration& one) { return one.begin <= from_before; });
  if (later != left.begin()) from_before = std::prev(later)->begin;
  if (!after.iterations->empty()) from_after = after.iterations->front().begin;

  legend(ui, ui.drawn_last);
  ImGui::SameLine(0, ui.px(24));
  ImGui::PushFont(ui.small);
  faint(ui, "Same scale; both begin with an iteration. The wheel zooms.");
  ImGui::PopFont();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  ImGui::InvisibleButton("sides", ImVec2(std::max(size.x, 1.0f), std::max(size.y, 1.0f)));
  note_item(ui, "toggle.sides");
  const float wheel = ImGui::GetIO().MouseWheel;
  if (ImGui::IsItemHovered() && wheel != 0) {
    constexpr double kStep = 1.3, kMost = 1000;
    app.toggle_zoom = std::clamp(app.toggle_zoom * (wheel > 0 ? kStep : 1 / kStep), 1 / kMost, kMost);
  }
  const float gap = ui.px(8), half = (size.y - gap) / 2;
  draw_side(ui, before, nullptr, from_before, width, {at.x, at.y, size.x, half});
  draw_side(ui, after, nullptr, from_after, width, {at.x, at.y + half + gap, size.x, half});
}

}  // namespace

class TogglePanel final : public Panel {
  void draw(App& app, const Ui& ui) override;

  std::shared_ptr<const Facts> strip_of_;
  std::size_t strip_columns_ = 0;
  IterationStrip strip_;
};

template <>
std::unique_ptr<Panel> make_panel<TogglePanel>() {
  return std::make_unique<TogglePanel>();
}

void TogglePanel::draw(App& app, const Ui& ui) {
  if (draw_not_ready(app, ui, true)) return;
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const auto& segments = app.facts()->before_after.segments;
  if (segments.size() < 2 || !app.toggle_pair.before) {
    begin_card(ui, "nothing", size.x, 0);
    draw_nothing(app, ui, "The program has not changed how it waits",
                 no_toggle(*app.model(), app.facts()->analysis, app.facts()->before_after, app.path()));
    return end_card();
  }
  const float top = std::clamp(size.y * 0.26f, ui.px(150), ui.px(210)), gap = ui.px(10);
  begin_card(ui, "iterations", size.x, top);
  choose_event(app, ui);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 rest = ImGui::GetContentRegionAvail();
  const auto columns = static_cast<std::size_t>(
      std::max(1.0f, (rest.x - ui.px(64)) / static_cast<float>(segments.size()) / std::max(1.0f, ui.px(2))));
  if (strip_of_ != app.snapshot().facts || strip_columns_ != columns) {
    std::vector<StripInput> phases;
    for (std::size_t i = 0; i < segments.size(); ++i)
      phases.push_back({segments[i].mode, segments[i].way, &app.facts()->comparison.segments[i].iterations});
    strip_ = iteration_strip(phases, columns);
    strip_of_ = app.snapshot().facts;
    strip_columns_ = columns;
  }
  const auto clicked = draw_iteration_strip(ui, strip_, {at.x, at.y, rest.x, rest.y}, app.toggle_event);
  if (strip_.most <= 0) {
    ImGui::SetCursorScreenPos(at);
    paragraph(ui, no_iterations(app.path()).reason);
  }
  end_card();
  if (clicked) app.choose_toggle(*clicked);
  const float right = std::clamp(size.x * 0.27f, ui.px(280), ui.px(380));
  begin_card(ui, "sides", size.x - right - gap, 0);
  draw_sides(app, ui);
  end_card();
  ImGui::SameLine(0, gap);
  begin_card(ui, "verdict", right, 0);
  const std::string sentence = change_sentence(app.toggle_pair);
  paragraph(ui, sentence);
  ImGui::Dummy(ImVec2(0, ui.px(4)));
  draw_before_after(ui, app.toggle_pair);
  const BeforeAfter& all = app.facts()->before_after;
  const bool several = all.before && all.before->phases > 1;
  if (several) {
    ImGui::Dummy(ImVec2(0, ui.px(4)));
    heading(ui, fmt::format("All {} phases together", all.before->phases + all.after->phases));
    paragraph(ui, change_sentence(all));
  }
  if (app.snapshot().recording)
    faint(ui, several
                  ? "This interval narrows with every further phase."
                  : "The interval of one change does not narrow; that of several does: `both` under Live makes them.");
  end_card();
}

}  // namespace wicprof::gui
