// One frame of the timeline. Its parts: timeline_canvas.cpp (order of drawing, overview, ruler), timeline_rows.cpp,
// timeline_marks.cpp and timeline_mouse.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gui/panels/timeline_canvas.h"

namespace wicprof::gui {

class TimelineFrame {
 public:
  TimelineFrame(App& app, const Ui& ui, Rect where, TimelineState& state);
  void draw();

 private:
  static constexpr float kLabels = 210, kOverview = 30, kRuler = 26;  // pixels at 100 %

  float x_of(TimeNs time) const { return left_ + static_cast<float>(app_.window.part_of(time)) * width_; }
  TimeNs time_of_x(float x) const { return app_.window.time_at((x - left_) / width_); }
  float clip_x(TimeNs time) const { return std::clamp(x_of(time), left_ - 2, left_ + width_ + 2); }
  float y_of(const PlacedTrack& place) const { return tracks_top_ + place.top - (place.pinned ? 0 : app_.scroll); }
  void rect(float x, float y, float w, float h, ImU32 colour) {
    list_->AddRectFilled(ImVec2(x, y), ImVec2(x + w, y + h), colour);
    ++app_.drawn;
  }

  // Overview and ruler.
  void overview();
  void ruler();
  void scroll_bar(float content, float scroll_height);

  // Tracks: groups, strips with their scales, rows of events.
  void tracks(bool pinned, float top, float height);
  void group(const PlacedTrack& place, float y);
  std::ptrdiff_t tracks_in(const std::string& group) const;
  /// The scale of a strip or of readings: what its full height is.
  void scale(float y, float height, const std::string& most);
  void track(const PlacedTrack& place, float y, float top, float height);
  void strip(const PlacedTrack& place, const Track& track, float y);
  void readings(const PlacedTrack& place, const Track& track, float y);
  /// How many marks of signals fit beside each other.
  std::uint32_t mark_columns() const;
  /// The columns of a row; signals that would cover each other are summed in columns as wide as their marks.
  std::vector<DrawnSpan> draw_row(const SpanRow& row) const;
  void row(const PlacedTrack& place, const Track& track, std::size_t index, float y);

  // What lies over the tracks: changes of mode, marks, wake arrows, the dragged area.

  /// A line across all tracks: a change of how the program waits, or a user's mark.
  struct Flag {
    float x = 0, width = 0;  ///< position of the line, width of the label
    std::string_view text;
    Colour colour = 0;
    bool dashed = false;
    std::optional<float> label{};  ///< left end of the label; nothing: no label
  };
  /// Whether a mark's label would cover a tick's label at `x`.
  bool under_flag(float x) const;
  void place_flags();
  void marks();
  std::optional<float> y_of_event(EventRef ref, float scroll_height) const;
  void arrow(const EdgeArrow& edge, float scroll_height, bool strong);
  void arrows(float scroll_height);
  void area();
  bool dragging_area() const;
  /// The tracks that a drag between these heights counts, and that are shaded: from the ruler, all that are shown.
  std::vector<std::size_t> tracks_between(float from_y, float to_y) const;

  // The mouse: what is under it, and what its buttons and wheel do.
  const PlacedTrack* placed_at(float y) const;
  /// The event under the mouse; nothing if several share a column and none is near.
  std::optional<EventRef> event_at(ImVec2 at) const;
  void mouse(float scroll_height, float content);
  void released(ImVec2 at);
  void tooltip();

  App& app_;
  const Ui& ui_;
  const Timeline& timeline_;
  const analyzer::TraceModel& model_;
  ImDrawList* list_;
  TimelineState& state_;
  Rect all_;
  float labels_ = 0, left_ = 0, strip_ = 0, width_ = 0, tracks_top_ = 0, tracks_height_ = 0;
  bool hovered_ = false, active_ = false;
  std::vector<Flag> flags_;
};

}  // namespace wicprof::gui
