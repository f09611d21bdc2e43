// The window of time that a timeline shows.
#pragma once

#include "protocol/time.h"

namespace wicprof::gui {

class Viewport {
 public:
  /// Sets the extent of the trace. A window that showed all of the old extent shows all of the new one.
  void set_extent(TimeNs begin, TimeNs end);
  void show_all();
  void show(TimeNs begin, TimeNs end);
  /// Zooms in for factors above 1, else out. The time at `at` (0 = left edge, 1 = right edge) keeps its place.
  void zoom(double factor, double at = 0.5);
  /// Moves by a part of the width; positive values move right.
  void pan(double part);
  /// Centres [from, to) in a window three times as wide. A point counts as 1/100 of the current width.
  void focus(TimeNs from, TimeNs to);
  /// Moves, without zooming, until `time` is visible.
  void reveal(TimeNs time);
  /// While on, the window stays at the end of a growing trace.
  void follow(bool on) { follows_ = on; }
  bool follows() const { return follows_; }

  TimeNs begin() const { return begin_; }
  TimeNs end() const { return end_; }
  TimeNs width() const { return end_ - begin_; }
  TimeNs first() const { return first_; }
  TimeNs last() const { return last_; }
  bool shows_all() const { return begin_ <= first_ && end_ >= last_; }

  double part_of(TimeNs time) const { return static_cast<double>(time - begin_) / static_cast<double>(width()); }
  TimeNs time_at(double part) const { return begin_ + static_cast<TimeNs>(part * static_cast<double>(width())); }

  static constexpr TimeNs kNarrowest = 100;

 private:
  void clamp();
  TimeNs first_ = 0, last_ = 1, begin_ = 0, end_ = 1;
  bool follows_ = false;
};

}  // namespace wicprof::gui
