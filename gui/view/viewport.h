// The window of time that a timeline shows.
#pragma once

#include "protocol/time.h"

namespace wicprof::gui {

class Viewport {
 public:
  /// All there is to see. A window that showed all of it before goes on doing so, unless it follows the end.
  void set_extent(TimeNs begin, TimeNs end);
  void show_all();
  void show(TimeNs begin, TimeNs end);
  /// Closer by `factor` above 1, away below; what stands at `at` (0 left to 1 right) stays there.
  void zoom(double factor, double at = 0.5);
  /// By a part of the width; to the right above 0.
  void pan(double part);
  /// The window with [from, to) in its middle, and some space around it. A point gets a hundredth of the present width.
  void focus(TimeNs from, TimeNs to);
  /// Moves, without zooming, so that `time` shows.
  void reveal(TimeNs time);
  /// While it follows, the window's end is the end of what there is.
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
