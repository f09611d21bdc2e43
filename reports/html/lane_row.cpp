#include "reports/html/lane_row.h"

#include <algorithm>

namespace wicprof::reports::html {

std::int64_t Grains::at(TimeNs time) const {
  const Interval* within = &whole_;
  std::int64_t part = 0;  // a close-up, or what lies between two of them
  for (const Interval& window : fine_) {
    if (time < window.begin) break;
    part += time < window.end ? 1 : 2;
    within = time < window.end ? &window : &whole_;
  }
  const double length = static_cast<double>(std::max<TimeNs>(within->end - within->begin, 1));
  const auto place = static_cast<std::int64_t>(static_cast<double>(time - within->begin) / length * kEach);
  return part * (kEach + 1) + std::clamp<std::int64_t>(place, 0, kEach);
}

void LaneRow::add(const Stretch& stretch, const Grains& grains) {
  time_ += stretch.length();
  if (list_.size() < kMostSingle || !merges(stretch, grains)) list_.push_back(stretch);
}

bool LaneRow::merges(const Stretch& stretch, const Grains& grains) {
  const std::int64_t grain = grains.at(stretch.when.begin);
  if (grains.at(stretch.when.end) != grain) return false;
  Open& open = open_[index_of(stretch.state)];
  if (open.grain == grain) {
    Stretch& into = list_[open.at];
    const TimeNs length = into.length() + stretch.length();
    if (grains.at(into.when.begin + length) == grain && (!counted_ || into.count == stretch.count)) {
      if (into.polling != stretch.polling && length > 0) {
        into.polling = (into.polling * static_cast<float>(into.length()) +
                        stretch.polling * static_cast<float>(stretch.length())) /
                       static_cast<float>(length);
      }
      into.when.end = into.when.begin + length;
      if (into.label != stretch.label) into.label = 0;
      if (!counted_) into.count += stretch.count;
      return true;
    }
  }
  open = {grain, list_.size()};
  return false;
}

void MostAtOnce::add(TimeNs begin, TimeNs end, std::uint32_t count) {
  if (end <= begin) return;
  for (; !ends_.empty() && ends_.top().first <= begin; ends_.pop()) now_ -= ends_.top().second;
  ends_.emplace(end, count);
  most_ = std::max(most_, now_ += count);
}

}  // namespace wicprof::reports::html
