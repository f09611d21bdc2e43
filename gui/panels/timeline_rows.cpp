// Tracks: groups, strips with their scales, rows of events.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/words/format.h"
#include "gui/panels/timeline_frame.h"

namespace wicprof::gui {

namespace {

constexpr float kFaintest = 0.35f;  // opacity of a nearly empty column; not calibrated

}  // namespace

void TimelineFrame::tracks(bool pinned, float top, float height) {
  if (height <= 0) return;
  list_->PushClipRect(ImVec2(all_.x, top), ImVec2(all_.x + all_.width, top + height), true);
  if (pinned) rect(all_.x, top, all_.width, height, ink(ui_.theme().card));
  for (const PlacedTrack& place : app_.layout.list) {
    if (place.pinned != pinned) continue;
    const float y = y_of(place);
    if (y + place.height < top || y > top + height) continue;
    if (place.heading.empty()) {
      track(place, y, top, height);
    } else {
      group(place, y);
    }
  }
  list_->PopClipRect();
  if (pinned)
    list_->AddLine(ImVec2(all_.x, top + height), ImVec2(all_.x + all_.width, top + height),
                   ink(ui_.theme().faint, 0.6f), ui_.px(1));
}

void TimelineFrame::group(const PlacedTrack& place, float y) {
  const Theme& theme = ui_.theme();
  const bool closed = app_.closed_groups.count(place.heading) != 0;
  draw_text(list_, ui_.bold, {all_.x + ui_.px(12), y + ui_.px(4), labels_ + ui_.px(160), place.height - ui_.px(4)},
            ink(theme.text),
            place.pinned ? place.heading
                         : fmt::format("{} {}{}", closed ? "\u25b8" : "\u25be", place.heading,
                                       closed ? fmt::format(" ({})", tracks_in(place.heading)) : std::string()));
  if (!place.pinned) note_rect(ui_, "group." + place.heading, {all_.x, y, labels_, place.height});
}

std::ptrdiff_t TimelineFrame::tracks_in(const std::string& group) const {
  return std::count_if(timeline_.tracks.begin(), timeline_.tracks.end(),
                       [&](const Track& track) { return track.group == group; });
}

void TimelineFrame::scale(float y, float height, const std::string& most) {
  const ImU32 colour = ink(ui_.theme().faint, 0.8f);
  const float line = size_of(ui_.small), x = left_ - ui_.px(6);
  for (const float at : {y, y + height - 1}) list_->AddLine(ImVec2(x, at), ImVec2(left_, at), colour, 1);
  const auto number = [&](float at, const std::string& text) {
    draw_text(list_, ui_.small, {left_ - ui_.px(64), at, ui_.px(56), line}, colour, text, Align::right);
  };
  number(y - ui_.px(1), most);
  if (height > 2 * line + ui_.px(2)) number(y + height - line, "0");
}

void TimelineFrame::track(const PlacedTrack& place, float y, float top, float height) {
  const Theme& theme = ui_.theme();
  const Track& track = timeline_.tracks[place.track];
  const bool chosen = app_.selected_track == track.key;
  const float label_height = track.has_strip()      ? strip_
                             : track.has_readings() ? place.height
                                                    : std::min(place.height, ui_.px(18));
  if (chosen) rect(all_.x, y, ui_.px(4), place.height, ink(theme.accent));
  const std::string fold = track.has_strip() ? (place.opened ? "\u25be " : "\u25b8 ") : "";
  const bool has_scale = track.has_strip() || track.has_readings();
  const float beside = has_scale ? ui_.px(94) : ui_.px(34);  // keeps room for the scale
  draw_text(list_, chosen ? ui_.bold : ui_.regular, {all_.x + ui_.px(24), y, labels_ - beside, label_height},
            ink(chosen ? theme.text : theme.faint), fold + track.name);
  if (track.has_strip()) scale(y, strip_, analyzer::count_of(track.density.most(), "warp"));
  if (track.has_readings()) scale(y, place.height, fmt::format("{} {}", track.readings.most(), track.unit));
  note_rect(ui_, "track." + track.key, {all_.x, y, labels_, label_height});
  list_->PushClipRect(ImVec2(left_, std::max(y, top)), ImVec2(left_ + width_, std::min(y + place.height, top + height)),
                      true);
  if (track.has_strip()) strip(place, track, y);
  if (track.has_readings()) readings(place, track, y);
  for (std::size_t r = 0; r < place.rows; ++r) {
    const float row_y = y + (place.rows_top - place.top) + static_cast<float>(r) * place.row_height;
    if (row_y + place.row_height < top || row_y > top + height) continue;
    row(place, track, r, row_y);
  }
  list_->PopClipRect();
}

void TimelineFrame::strip(const PlacedTrack& place, const Track& track, float y) {
  const float h = strip_;
  rect(left_, y, width_, h, ink(ui_.theme().lane));
  auto [found, fresh] = state_.cache.strips.try_emplace(place.track);
  if (fresh) {
    found->second = track.density.draw(app_.window.begin(), app_.window.end(), state_.cache.columns);
    for (DensityColumn& column : found->second) column = by_mode(column);
  }
  const float most = static_cast<float>(std::max(1u, track.density.most()));
  const float step = width_ / static_cast<float>(state_.cache.columns);
  // Neighbours of the same heights become one rectangle.
  for (const State state : kWarpStates) {
    float start = left_, base = 0, tall = 0;
    for (std::uint32_t i = 0; i <= state_.cache.columns; ++i) {
      float now_base = -1, now_tall = -1;
      if (i < state_.cache.columns) {
        const float* count = found->second[i].count;
        float below = 0;
        for (const State other : kWarpStates) {
          if (other == state) break;
          below += count[index_of(other)];
        }
        now_base = std::round(std::min(1.0f, below / most) * h);
        now_tall = std::round(std::min(1.0f, (below + count[index_of(state)]) / most) * h) - now_base;
        if (i == 0) {
          base = now_base;
          tall = now_tall;
        }
      }
      if (now_base == base && now_tall == tall) continue;
      const float x = left_ + static_cast<float>(i) * step;
      if (tall > 0) rect(start, y + h - base - tall, x - start, tall, state_ink(ui_, state));
      start = x;
      base = now_base;
      tall = now_tall;
    }
  }
}

void TimelineFrame::readings(const PlacedTrack& place, const Track& track, float y) {
  const float h = place.height;
  rect(left_, y, width_, h, ink(ui_.theme().lane));
  auto [found, fresh] = state_.cache.strips.try_emplace(place.track);
  if (fresh) found->second = track.readings.draw(app_.window.begin(), app_.window.end(), state_.cache.columns);
  const float most = static_cast<float>(std::max(1u, track.readings.most()));
  const float step = width_ / static_cast<float>(state_.cache.columns);
  const auto tall = [&](std::uint32_t i) { return std::round(std::min(1.0f, found->second[i].total() / most) * h); };
  // Neighbours of the same height become one rectangle.
  for (std::uint32_t i = 0, start = 0; i < state_.cache.columns; ++i) {
    if (i + 1 < state_.cache.columns && tall(i + 1) == tall(start)) continue;
    const float x = left_ + static_cast<float>(start) * step, w = static_cast<float>(i + 1 - start) * step;
    const float top = y + h - tall(start);
    if (tall(start) > 0) {
      rect(x, top, w, tall(start), ink(ui_.theme().text, 0.15f));  // not a state's colour
      rect(x, top, w, ui_.px(2), ink(ui_.theme().text, 0.7f));
    }
    start = i + 1;
  }
}

std::uint32_t TimelineFrame::mark_columns() const {
  return std::max(1u, static_cast<std::uint32_t>(width_ / std::max(1.0f, ui_.px(7))));
}

std::vector<DrawnSpan> TimelineFrame::draw_row(const SpanRow& row) const {
  const TimeNs begin = app_.window.begin(), end = app_.window.end();
  std::vector<DrawnSpan> drawn = row.draw(begin, end, state_.cache.columns);
  if (drawn.empty() || drawn.front().ref.kind != EventKind::signal || !is_density(drawn, mark_columns())) return drawn;
  return row.draw(begin, end, std::max(1u, mark_columns() * 2));
}

void TimelineFrame::row(const PlacedTrack& place, const Track& track, std::size_t index, float y) {
  const Theme& theme = ui_.theme();
  const float h = place.row_height - ui_.px(track.has_strip() ? 1 : 2);
  rect(left_, y, width_, h, ink(theme.lane, 0.55f));
  auto [found, fresh] = state_.cache.rows.try_emplace({place.track, index});
  if (fresh) found->second = draw_row(track.rows[index]);
  // Signals from afar: how many, as heights. The fullest column has the full height.
  float most_events = 0;
  const bool marks = !found->second.empty() && found->second.front().ref.kind == EventKind::signal;
  if (marks && is_density(found->second, mark_columns())) {
    for (const DrawnSpan& span : found->second) most_events = std::max(most_events, span.events);
  }
  PollingColumns polled(list_, ui_);
  for (const DrawnSpan& span : found->second) {
    if (most_events > 0) {
      const float x = clip_x(span.begin), tall = std::max(h * span.events / most_events, ui_.px(2));
      rect(x, y + h - tall, std::max(clip_x(span.end) - x, 1.0f), tall, state_ink(ui_, span.state, 0.75f));
      if (app_.selected && span.ref == *app_.selected) rect(x - 1, y, ui_.px(3), h, ink(theme.accent));
      continue;
    }
    const float from = clip_x(span.begin), to = clip_x(span.end);
    const bool chosen = app_.selected && *app_.selected == span.ref && span.count == 1;
    if (span.ref.kind == EventKind::signal || (span.begin == span.end && span.ref.kind == EventKind::nvtx)) {
      const float size = ui_.px(chosen ? 5 : 3), middle = y + h / 2;
      list_->AddTriangleFilled(ImVec2(from - size, middle - size), ImVec2(from + size, middle - size),
                               ImVec2(from, middle + size), chosen ? ink(theme.accent) : state_ink(ui_, span.state));
      ++app_.drawn;
      continue;
    }
    const float w = std::max(to - from, 1.0f);
    // Spans that share a column are drawn as opaque as they fill it.
    const float alpha = span.count == 1 ? 1.0f : kFaintest + (1 - kFaintest) * span.fill;
    rect(from, y, w, h, state_ink(ui_, span.state, alpha));
    if (span.polling > 0) {
      const float tall = std::max(std::round(h * span.polling * (span.count == 1 ? 1 : span.fill)), ui_.px(2));
      polled.add({from, y + h - tall, w, tall});
      if (span.count == 1) polled.flush();
    }
    if (span.count == 1 && w > 3)
      list_->AddRectFilled(ImVec2(from + w - 1, y), ImVec2(from + w, y + h), ink(theme.page, 0.5f));
    if (chosen)
      list_->AddRect(ImVec2(from - 1, y - 1), ImVec2(from + w + 1, y + h + 1), ink(theme.text), 0, 0, ui_.px(2));
    if (span.count == 1 && w > ui_.px(34) && h >= ui_.px(12)) {
      const float inside = std::max(from, left_) + ui_.px(5);
      const ImU32 colour = ink(text_on(colour_of(ui_, span.state)));
      const std::string title = title_of(model_, span.ref);
      const float available = to - inside - ui_.px(4);
      if (span.polling > 0)  // stripes behind letters could not be read
        rect(inside - ui_.px(2), y, std::min(text_width(ui_.small, title), available) + ui_.px(4), h,
             state_ink(ui_, span.state));
      draw_text(list_, ui_.small, {inside, y, available, h}, colour, title);
    }
  }
  polled.flush();
  app_.drawn += polled.drawn();
}

}  // namespace wicprof::gui
