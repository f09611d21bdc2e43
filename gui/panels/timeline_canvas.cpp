#include "gui/panels/timeline_canvas.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/words/format.h"
#include "gui/panels/timeline_frame.h"
#include "reports/html/svg_axis.h"

namespace wicprof::gui {

TimelineFrame::TimelineFrame(App& app, const Ui& ui, Rect where, TimelineState& state)
    : app_(app),
      ui_(ui),
      timeline_(*app.timeline()),
      model_(*app.model()),
      list_(ImGui::GetWindowDrawList()),
      state_(state),
      all_(where) {
  labels_ = ui.px(kLabels);
  left_ = where.x + labels_;
  width_ = std::max(where.width - labels_ - ui.px(10), 50.0f);
  tracks_top_ = where.y + ui.px(kOverview) + ui.px(kRuler);
  tracks_height_ = where.y + where.height - tracks_top_;
  TimelineState::Cache& cache = state_.cache;
  const auto columns = static_cast<std::uint32_t>(width_ / std::max(1.0f, ui.scale));
  if (cache.version != app.snapshot().version || cache.begin != app.window.begin() || cache.end != app.window.end() ||
      cache.columns != columns) {
    cache = {};
    cache.version = app.snapshot().version;
    cache.begin = app.window.begin();
    cache.end = app.window.end();
    cache.columns = columns;
  }
}

void TimelineFrame::draw() {
  const TrackSizes base;
  TrackSizes sizes{ui_.px(base.heading), ui_.px(base.strip),      ui_.px(base.readings),
                   ui_.px(base.row),     ui_.px(base.opened_row), ui_.px(base.gap)};
  app_.layout = lay_out(timeline_, app_.opened, app_.annotations.pinned, app_.closed_groups, sizes);
  // Taller strips show more detail, so spare height goes to them.
  const auto strips = std::count_if(app_.layout.list.begin(), app_.layout.list.end(), [&](const PlacedTrack& place) {
    return place.heading.empty() && timeline_.tracks[place.track].has_strip();
  });
  if (strips > 0 && app_.layout.height < tracks_height_) {
    sizes.strip += std::min(ui_.px(80), std::floor((tracks_height_ - app_.layout.height) / static_cast<float>(strips)));
    app_.layout = lay_out(timeline_, app_.opened, app_.annotations.pinned, app_.closed_groups, sizes);
  }
  strip_ = sizes.strip;
  const float scrolled_height = app_.layout.height - app_.layout.pinned_height;
  const float scroll_height = tracks_height_ - app_.layout.pinned_height;
  if (app_.scroll_wanted) {
    const float wanted = *app_.scroll_wanted;
    if (wanted < app_.scroll || wanted > app_.scroll + scroll_height - ui_.px(60))
      app_.scroll = wanted - scroll_height / 3;
    app_.scroll_wanted.reset();
  }
  app_.scroll = std::clamp(app_.scroll, 0.0f, std::max(0.0f, scrolled_height - scroll_height + ui_.px(12)));
  app_.drawn = 0;
  ImGui::SetCursorScreenPos(ImVec2(all_.x, all_.y));
  ImGui::InvisibleButton(
      "canvas", ImVec2(std::max(all_.width, 1.0f), std::max(all_.height, 1.0f)),
      ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonMiddle | ImGuiButtonFlags_MouseButtonRight);
  hovered_ = ImGui::IsItemHovered();
  active_ = ImGui::IsItemActive();
  note_rect(ui_, "timeline", {left_, tracks_top_, width_, tracks_height_});
  note_rect(ui_, "timeline.overview", {left_, all_.y, width_, ui_.px(kOverview)});
  place_flags();
  overview();
  ruler();
  app_.hovered.reset();
  tracks(false, tracks_top_ + app_.layout.pinned_height, scroll_height);
  tracks(true, tracks_top_, app_.layout.pinned_height);
  scroll_bar(scrolled_height, scroll_height);
  arrows(scroll_height);
  marks();
  area();
  mouse(scroll_height, scrolled_height);
  tooltip();
}

void TimelineFrame::overview() {
  const Theme& theme = ui_.theme();
  const float y = all_.y + ui_.px(2), h = ui_.px(kOverview) - ui_.px(8);
  rect(left_, y, width_, h, ink(theme.lane));
  constexpr std::uint32_t kColumns = Timeline::kOverviewColumns;
  const float step = width_ / kColumns;
  PollingColumns polled(list_, ui_);
  for (std::uint32_t i = 0; i < kColumns; ++i) {
    float base = y + h;
    for (std::size_t s = 0; s < kStates; ++s) {
      const auto state = static_cast<State>(s);
      const float count = timeline_.overview[i].count[s];
      if (count <= 0) continue;
      // Keeps a few warps among many SMs visible, within the height.
      const float part = std::min(std::max(std::min(1.0f, count) * h, ui_.px(2)), base - y);
      const float x = left_ + static_cast<float>(i) * step;
      rect(x, base - part, step + 0.5f, part, state_ink(ui_, state, 0.85f));
      if (const float polling = timeline_.overview_polling[i]; state == State::computing && polling > 0) {
        const float tall = std::clamp(std::round(part * polling / count), std::min(ui_.px(2), part), part);
        polled.add({x, base - tall, step, tall});
      }
      base -= part;
    }
  }
  polled.flush();
  const double span = static_cast<double>(timeline_.end - timeline_.begin);
  const float from =
      left_ + static_cast<float>(static_cast<double>(app_.window.begin() - timeline_.begin) / span) * width_;
  const float to = left_ + static_cast<float>(static_cast<double>(app_.window.end() - timeline_.begin) / span) * width_;
  list_->AddRectFilled(ImVec2(left_, y), ImVec2(from, y + h), ink(theme.page, 0.6f));
  list_->AddRectFilled(ImVec2(to, y), ImVec2(left_ + width_, y + h), ink(theme.page, 0.6f));
  list_->AddRect(ImVec2(from, y), ImVec2(std::max(to, from + ui_.px(3)), y + h), ink(theme.text, 0.55f), 0, 0,
                 ui_.px(1));
  draw_text(list_, ui_.small, {all_.x + ui_.px(12), y, labels_ - ui_.px(24), h}, ink(theme.faint),
            app_.window.shows_all() ? "whole trace" : analyzer::format_duration(app_.window.width()));
}

void TimelineFrame::ruler() {
  const Theme& theme = ui_.theme();
  const float y = all_.y + ui_.px(kOverview), h = ui_.px(kRuler);
  const TimeNs step = reports::tick_step(app_.window.width(), std::max(2, static_cast<int>(width_ / ui_.px(130))));
  const TimeNs zero = timeline_.begin;
  for (TimeNs time = (app_.window.begin() - zero) / step * step; time <= app_.window.end() - zero; time += step) {
    if (time + zero < app_.window.begin()) continue;
    const float x = x_of(time + zero);
    list_->AddLine(ImVec2(x, y + h - ui_.px(6)), ImVec2(x, tracks_top_ + tracks_height_), ink(theme.line, 0.7f), 1);
    const float available = left_ + width_ - x;
    if (available < ui_.px(40) || under_flag(x)) continue;
    draw_text(list_, ui_.small, {x + ui_.px(4), y, available, h - ui_.px(4)}, ink(theme.faint),
              reports::tick_label(time, step, app_.window.end() - zero));
  }
  list_->AddLine(ImVec2(all_.x, y + h - 1), ImVec2(all_.x + all_.width, y + h - 1), ink(theme.line), 1);
}

void TimelineFrame::scroll_bar(float content, float scroll_height) {
  if (content <= scroll_height || scroll_height <= 0) return;
  const float x = left_ + width_ + ui_.px(3), y = tracks_top_ + app_.layout.pinned_height;
  const float size = std::max(scroll_height * scroll_height / content, ui_.px(24));
  const float at = y + (scroll_height - size) * app_.scroll / std::max(1.0f, content - scroll_height + ui_.px(12));
  list_->AddRectFilled(ImVec2(x, at), ImVec2(x + ui_.px(5), at + size), ink(ui_.theme().faint, 0.5f), ui_.px(2));
}

void draw_timeline(App& app, const Ui& ui, Rect where, TimelineState& state) {
  const float left = ui.px(12), around = ui.px(4), width = where.width - 2 * left;
  const float below = legend_height(ui, state.looks, width) + 2 * around;
  const Looks before = std::exchange(ui.drawn, {});
  TimelineFrame(app, ui, {where.x, where.y, where.width, where.height - below}, state).draw();
  state.looks.add(ui.drawn);
  ui.drawn.add(before);
  ImGui::SetCursorScreenPos(ImVec2(where.x + left, where.y + where.height - below + around));
  ImGui::BeginChild("legend", ImVec2(width, below - around));
  legend(ui, state.looks);
  ImGui::EndChild();
  if (ImGui::IsItemHovered())
    ImGui::SetTooltip(
        "A strip is as high as the most warps of its SM that wait; its colour is the mode. Stripes are as high as the "
        "part of a kernel's samples that poll.");
}

}  // namespace wicprof::gui
