// The mouse: what is under it, and what its buttons and wheel do.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/words/format.h"
#include "gui/panels/timeline_frame.h"

namespace wicprof::gui {

const PlacedTrack* TimelineFrame::placed_at(float y) const {
  for (const PlacedTrack& place : app_.layout.list) {
    if (place.pinned != (y < tracks_top_ + app_.layout.pinned_height)) continue;
    const float top = y_of(place);
    if (y >= top && y < top + place.height) return &place;
  }
  return nullptr;
}

std::optional<EventRef> TimelineFrame::event_at(ImVec2 at) const {
  const PlacedTrack* place = placed_at(at.y);
  if (place == nullptr || !place->heading.empty() || at.x < left_) return std::nullopt;
  const float inside = at.y - y_of(*place) - (place->rows_top - place->top);
  if (inside < 0 || place->row_height <= 0) return std::nullopt;
  const auto row = static_cast<std::size_t>(inside / place->row_height);
  if (row >= place->rows) return std::nullopt;
  const TimeNs near = time_of_x(at.x + ui_.px(4)) - time_of_x(at.x);
  const Span* span = timeline_.tracks[place->track].rows[row].at(time_of_x(at.x), near);
  return span == nullptr ? std::nullopt : std::optional(span->ref);
}

void TimelineFrame::mouse(float scroll_height, float content) {
  ImGuiIO& io = ImGui::GetIO();
  const ImVec2 at = io.MousePos;
  if (hovered_ && io.MouseWheel != 0) {
    if (io.KeyCtrl) {
      app_.window.zoom(io.MouseWheel > 0 ? 1.25 : 0.8, std::clamp((at.x - left_) / width_, 0.0f, 1.0f));
    } else if (io.KeyShift) {
      app_.window.follow(false);
      app_.window.pan(-0.1 * io.MouseWheel);
    } else {
      app_.scroll = std::clamp(app_.scroll - io.MouseWheel * ui_.px(60), 0.0f,
                               std::max(0.0f, content - scroll_height + ui_.px(12)));
    }
  }
  if (hovered_ && io.MouseWheelH != 0) app_.window.pan(0.1 * io.MouseWheelH);
  if (hovered_ && at.y > tracks_top_) app_.hovered = event_at(at);
  for (const int button : {0, 1, 2}) {
    if (hovered_ && ImGui::IsMouseClicked(button)) {
      state_.drag.from = state_.drag.last = at;
      state_.drag.button = button;
      state_.drag.moved = false;
    }
  }
  if (!active_) {
    if (state_.drag.was_active) released(at);
    state_.drag.was_active = false;
    return;
  }
  state_.drag.was_active = true;
  if (std::abs(at.x - state_.drag.from.x) > ui_.px(4) || std::abs(at.y - state_.drag.from.y) > ui_.px(4))
    state_.drag.moved = true;
  const bool in_overview = state_.drag.from.y < all_.y + ui_.px(kOverview);
  if (in_overview) {
    app_.window.follow(false);
    const double part = std::clamp((at.x - left_) / width_, 0.0f, 1.0f);
    const TimeNs middle =
        timeline_.begin + static_cast<TimeNs>(part * static_cast<double>(timeline_.end - timeline_.begin));
    app_.window.show(middle - app_.window.width() / 2, middle - app_.window.width() / 2 + app_.window.width());
  } else if (state_.drag.button != 0 && at.x != state_.drag.last.x) {
    app_.window.follow(false);
    app_.window.pan((state_.drag.last.x - at.x) / width_);
  }
  state_.drag.last = at;
}

void TimelineFrame::released(ImVec2 at) {
  if (state_.drag.button != 0 || state_.drag.from.y < all_.y + ui_.px(kOverview)) return;
  if (state_.drag.moved && state_.drag.from.x >= left_) {
    app_.set_area(time_of_x(std::clamp(std::min(state_.drag.from.x, at.x), left_, left_ + width_)),
                  time_of_x(std::clamp(std::max(state_.drag.from.x, at.x), left_, left_ + width_)),
                  tracks_between(state_.drag.from.y, at.y));
    return;
  }
  const PlacedTrack* place = placed_at(at.y);
  if (at.y < tracks_top_ || place == nullptr) {
    app_.clear_selection();
    return;
  }
  if (!place->heading.empty()) {
    if (!place->pinned && at.x < left_ && app_.closed_groups.erase(place->heading) == 0)
      app_.closed_groups.insert(place->heading);
    return;
  }
  const Track& track = timeline_.tracks[place->track];
  app_.selected_track = track.key;
  const bool on_strip = track.has_strip() && at.y < y_of(*place) + strip_;
  if (on_strip && (at.x < left_ || !place->opened)) {
    if (app_.opened.erase(track.key) == 0) {
      app_.opened.insert(track.key);
      if (track.rows.empty()) app_.notice = "zoom in to see single waits";
    }
    return;
  }
  if (const std::optional<EventRef> ref = event_at(at)) {
    app_.select(*ref, false);
    if (ImGui::GetIO().MouseDoubleClicked[0]) app_.focus_selection();
  }
}

void TimelineFrame::tooltip() {
  if (!hovered_ || active_) return;
  const ImVec2 at = ImGui::GetIO().MousePos;
  const PlacedTrack* place = at.y > tracks_top_ ? placed_at(at.y) : nullptr;
  if (app_.hovered) {
    const auto [begin, end] = time_of(model_, *app_.hovered);
    ImGui::BeginTooltip();
    ImGui::PushFont(ui_.bold);
    ImGui::TextUnformatted(title_of(model_, *app_.hovered).c_str());
    ImGui::PopFont();
    faint(ui_, fmt::format("at {:.6f} s{}", static_cast<double>(begin - timeline_.begin) / kSecond,
                           end > begin ? ", takes " + analyzer::format_duration(end - begin) : ""));
    ImGui::EndTooltip();
  } else if (place != nullptr && place->heading.empty() && at.x < left_) {
    ImGui::SetTooltip("%s: %s", timeline_.tracks[place->track].name.c_str(),
                      timeline_.tracks[place->track].note.c_str());
  } else if (place != nullptr && place->heading.empty() && timeline_.tracks[place->track].has_readings()) {
    const Track& track = timeline_.tracks[place->track];
    const TimeNs begin = time_of_x(at.x), end = std::max(time_of_x(at.x + 1), begin + 1);
    const double mean = track.readings.time_in(State::computing, begin, end) / static_cast<double>(end - begin);
    ImGui::SetTooltip("%s: %.4g %s", track.name.c_str(), mean, std::string(track.unit).c_str());
  } else if (place != nullptr && place->heading.empty() && timeline_.tracks[place->track].has_strip()) {
    const TimeNs begin = time_of_x(at.x), end = std::max(time_of_x(at.x + 1), begin + 1);
    ImGui::BeginTooltip();
    for (const State state : kWarpStates) {
      const double mean =
          timeline_.tracks[place->track].density.time_in(state, begin, end) / static_cast<double>(end - begin);
      ImGui::Text("%.3g %s", mean, std::string(look_of(state).name).c_str());
    }
    ImGui::EndTooltip();
  }
}

}  // namespace wicprof::gui
