#include "gui/view/viewport.h"

#include <algorithm>

namespace wicprof::gui {

void Viewport::set_extent(TimeNs begin, TimeNs end) {
  const bool all = shows_all();
  const TimeNs width_now = width();
  first_ = begin;
  last_ = std::max(end, begin + kNarrowest);
  if (follows_ && !all) {
    end_ = last_;
    begin_ = last_ - width_now;
  } else if (all) {
    show_all();
  }
  clamp();
}

void Viewport::show_all() {
  begin_ = first_;
  end_ = last_;
}

void Viewport::show(TimeNs begin, TimeNs end) {
  begin_ = begin;
  end_ = std::max(end, begin + kNarrowest);
  clamp();
}

void Viewport::zoom(double factor, double at) {
  const TimeNs pivot = time_at(at);
  const double all = static_cast<double>(last_ - first_);
  const double wanted = std::clamp(static_cast<double>(width()) / factor, static_cast<double>(kNarrowest), all);
  begin_ = pivot - static_cast<TimeNs>(at * wanted);
  end_ = begin_ + std::max(static_cast<TimeNs>(wanted), kNarrowest);
  clamp();
}

void Viewport::pan(double part) {
  const auto by = static_cast<TimeNs>(part * static_cast<double>(width()));
  begin_ += by;
  end_ += by;
  clamp();
}

void Viewport::focus(TimeNs from, TimeNs to) {
  const TimeNs length = std::max(to > from ? to - from : width() / 100, kNarrowest);
  show(from - length, from + 2 * length);
}

void Viewport::reveal(TimeNs time) {
  if (time >= begin_ && time < end_) return;
  const TimeNs half = width() / 2;
  show(time - half, time - half + width());
}

// Keeps the window inside the extent.
void Viewport::clamp() {
  const TimeNs width_now = std::min(width(), last_ - first_);
  begin_ = std::clamp(begin_, first_, last_ - width_now);
  end_ = begin_ + width_now;
}

}  // namespace wicprof::gui
