// What lies over the tracks: changes of mode, marks, wake arrows, the dragged area.
#include <algorithm>
#include <cmath>

#include "gui/panels/timeline_frame.h"
#include "gui/view/mark_labels.h"

namespace wicprof::gui {

namespace {

constexpr std::size_t kMaxArrows = 300;       // more could not be followed; not calibrated
constexpr std::size_t kMaxSelected = 10'000;  // bounds the work per frame; not calibrated
constexpr std::size_t kMaxFlags = 64;         // with more, marks lose dashes and labels

}  // namespace

bool TimelineFrame::under_flag(float x) const {
  return std::any_of(flags_.begin(), flags_.end(), [&](const Flag& flag) {
    return flag.label && x + ui_.px(60) > *flag.label && x < *flag.label + flag.width;
  });
}

void TimelineFrame::place_flags() {
  const auto add = [&](TimeNs at, std::string_view text, Colour colour, bool dashed) {
    if (at < app_.window.begin() || at > app_.window.end()) return;
    flags_.push_back({x_of(at), 0, text, colour, dashed});
  };
  for (const InterventionMark& mark : timeline_.interventions)
    add(mark.at, mark.label, colour_of(ui_, state_of_mode(mark.mode)), true);
  for (const Bookmark& mark : app_.annotations.marks)
    add(timeline_.begin + mark.at, mark.text, ui_.theme().good, false);
  std::stable_sort(flags_.begin(), flags_.end(), [](const Flag& a, const Flag& b) { return a.x < b.x; });
  // Keeps one flag per pixel.
  flags_.erase(std::unique(flags_.begin(), flags_.end(), [](const Flag& a, const Flag& b) { return b.x - a.x < 1; }),
               flags_.end());
  if (flags_.size() > kMaxFlags) return;
  std::vector<MarkLabel> labels;
  for (Flag& flag : flags_) {
    flag.width = text_width(ui_.small, flag.text) + ui_.px(10);
    labels.push_back({flag.x, flag.width});
  }
  const auto places = place_labels(labels, left_, left_ + width_ + ui_.px(8));
  for (std::size_t i = 0; i < flags_.size(); ++i) flags_[i].label = places[i];
}

void TimelineFrame::marks() {
  const float top = all_.y + ui_.px(kOverview), bottom = tracks_top_ + tracks_height_;
  for (const Flag& flag : flags_) {
    const bool dashed = flag.dashed && flags_.size() <= kMaxFlags;
    for (float y = top; y < bottom; y += dashed ? ui_.px(7) : bottom - top)
      list_->AddLine(ImVec2(flag.x, y), ImVec2(flag.x, dashed ? std::min(y + ui_.px(4), bottom) : bottom),
                     ink(flag.colour), ui_.px(dashed ? 1.5f : 1));
  }
  const float h = size_of(ui_.small) + ui_.px(4);
  for (const Flag& flag : flags_) {
    if (!flag.label) continue;
    list_->AddRectFilled(ImVec2(*flag.label, top), ImVec2(*flag.label + flag.width, top + h), ink(flag.colour),
                         ui_.px(2));
    draw_text(list_, ui_.small, {*flag.label + ui_.px(5), top, flag.width, h}, ink(text_on(flag.colour)), flag.text);
  }
}

std::optional<float> TimelineFrame::y_of_event(EventRef ref, float scroll_height) const {
  const auto place = timeline_.place_of(ref);
  if (!place) return std::nullopt;
  for (const PlacedTrack& placed : app_.layout.list) {
    if (!placed.heading.empty() || placed.track != place->track) continue;
    const float top = y_of(placed);
    const bool strip_only = timeline_.tracks[placed.track].has_strip() && !placed.opened;
    const float y =
        strip_only ? top + strip_ / 2
                   : top + (placed.rows_top - placed.top) + (static_cast<float>(place->row) + 0.5f) * placed.row_height;
    const float first = tracks_top_ + (placed.pinned ? 0 : app_.layout.pinned_height);
    return std::clamp(y, first, first + (placed.pinned ? app_.layout.pinned_height : scroll_height));
  }
  return std::nullopt;
}

void TimelineFrame::arrow(const EdgeArrow& edge, float scroll_height, bool strong) {
  const auto from_y = y_of_event(edge.from, scroll_height), to_y = y_of_event(edge.to, scroll_height);
  if (!from_y || !to_y) return;
  const ImVec2 from(clip_x(edge.from_ns), *from_y), to(clip_x(edge.to_ns), *to_y);
  const ImU32 colour = ink(ui_.theme().text, strong ? 0.95f : 0.35f);
  const float bend = std::max(ui_.px(18), std::abs(to.x - from.x) / 2);
  // A bundle is thicker: by a pixel for each factor of four.
  const float bundle = std::min(3.0f, std::log2(static_cast<float>(std::max(1u, edge.count))) / 2);
  const float thick = ui_.px((strong ? 2.0f : 1.0f) + bundle);
  const float head = ui_.px(strong ? 6 : 4), way = to.y >= from.y ? -1.0f : 1.0f;
  list_->AddBezierCubic(from, ImVec2(from.x, from.y - way * bend * 0.5f),
                        ImVec2(to.x, to.y + way * (bend * 0.5f + head)), ImVec2(to.x, to.y + way * head), colour,
                        thick);
  list_->AddTriangleFilled(to, ImVec2(to.x - head * 0.7f, to.y + way * head),
                           ImVec2(to.x + head * 0.7f, to.y + way * head), colour);
  ++app_.drawn;
}

void TimelineFrame::arrows(float scroll_height) {
  list_->PushClipRect(ImVec2(left_, tracks_top_), ImVec2(left_ + width_, tracks_top_ + tracks_height_), true);
  if (app_.all_edges) {
    if (!state_.cache.has_arrows) {
      state_.cache.arrows =
          timeline_.arrows(model_, app_.window.begin(), app_.window.end(), state_.cache.columns, kMaxArrows);
      state_.cache.has_arrows = true;
    }
    for (const EdgeArrow& edge : state_.cache.arrows) arrow(edge, scroll_height, false);
  }
  if (app_.selected) {
    if (state_.selected_edges_of != app_.selected || state_.selected_version != app_.snapshot().version) {
      state_.selected_edges = timeline_.edges_of(model_, *app_.selected, kMaxSelected);
      state_.selected_edges_of = app_.selected;
      state_.selected_version = app_.snapshot().version;
    }
    for (const EdgeArrow& edge : timeline_.bundled(state_.selected_edges, app_.window.begin(), app_.window.end(),
                                                   state_.cache.columns, kMaxArrows))
      arrow(edge, scroll_height, true);
  }
  list_->PopClipRect();
}

void TimelineFrame::area() {
  TimeNs from = 0, to = 0;
  std::vector<std::size_t> which;
  if (dragging_area()) {
    which = tracks_between(state_.drag.from.y, ImGui::GetIO().MousePos.y);
    from = time_of_x(std::min(state_.drag.from.x, ImGui::GetIO().MousePos.x));
    to = time_of_x(std::max(state_.drag.from.x, ImGui::GetIO().MousePos.x));
  } else if (app_.area) {
    from = app_.area->begin;
    to = app_.area->end;
    which = app_.area_tracks;
  } else {
    return;
  }
  const float a = clip_x(from), b = clip_x(to);
  const float bottom = tracks_top_ + tracks_height_, scrolled_top = tracks_top_ + app_.layout.pinned_height;
  for (const PlacedTrack& place : app_.layout.list) {
    if (!place.heading.empty() || std::find(which.begin(), which.end(), place.track) == which.end()) continue;
    const float top = std::max(y_of(place), place.pinned ? tracks_top_ : scrolled_top),
                end = std::min(y_of(place) + place.height, bottom);
    if (top >= end) continue;
    list_->AddRectFilled(ImVec2(a, top), ImVec2(b, end), ink(ui_.theme().accent, 0.16f));
    note_rect(ui_, "area." + timeline_.tracks[place.track].key, {a, top, b - a, end - top});
  }
  for (const float x : {a, b})
    list_->AddLine(ImVec2(x, tracks_top_ - ui_.px(kRuler)), ImVec2(x, tracks_top_ + tracks_height_),
                   ink(ui_.theme().accent), ui_.px(1));
}

std::vector<std::size_t> TimelineFrame::tracks_between(float from_y, float to_y) const {
  const float top = std::min(from_y, to_y), bottom = std::max(from_y, to_y);
  std::vector<std::size_t> which;
  for (const PlacedTrack& place : app_.layout.list) {
    if (!place.heading.empty()) continue;
    const float y = y_of(place);
    if (from_y < tracks_top_ || (y < bottom && y + place.height > top)) which.push_back(place.track);
  }
  return which;
}

bool TimelineFrame::dragging_area() const {
  return active_ && state_.drag.button == 0 && state_.drag.moved && state_.drag.from.x >= left_ &&
         state_.drag.from.y >= all_.y + ui_.px(kOverview);
}

}  // namespace wicprof::gui
