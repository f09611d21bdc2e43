#include "gui/view/coarse.h"

#include <algorithm>

namespace wicprof::gui {

/// Prefix sums: element i covers the columns before i, the last element all columns.
struct CoarseBlock {
  TimeNs begin = 0, end = 0;
  int level = 0;
  std::vector<double> begun;
  std::array<std::vector<double>, kStates> time;  // empty = the state does not occur
};

namespace {

template <class List>
std::vector<double> sums_of(const List& list) {
  std::vector<double> sums(list.size() + 1);
  for (std::size_t i = 0; i < list.size(); ++i) sums[i + 1] = sums[i] + static_cast<double>(list[i]);
  return sums;
}

std::shared_ptr<const CoarseBlock> summed(const store::LaneBlock& block, TimeNs origin) {
  auto made = std::make_shared<CoarseBlock>();
  made->begin = origin + block.number * store::block_width(block.level);
  made->end = made->begin + store::block_width(block.level);
  made->level = block.level;
  made->begun = sums_of(block.begins);
  for (std::size_t s = 0; s < kStates; ++s) {
    if (!block.time[s].empty()) made->time[s] = sums_of(block.time[s]);
  }
  return made;
}

}  // namespace

Coarse::Coarse(const store::Lane& lane, TimeNs origin, const std::vector<store::LaneBlock>& whole)
    : events_(lane.events), most_(lane.most), origin_(origin) {
  for (const store::LaneBlock& block : whole) whole_.push_back(summed(block, origin));
  for (std::uint8_t s = 0; s < kStates; ++s) {
    const bool occurs =
        std::any_of(whole.begin(), whole.end(), [s](const store::LaneBlock& block) { return !block.time[s].empty(); });
    if (occurs) states_.push_back(s);
  }
}

Coarse::Coarse(const Coarse& whole, const std::vector<store::LaneBlock>& finer) : Coarse(whole) {
  finer_.clear();
  for (const store::LaneBlock& block : finer) finer_.push_back(summed(block, origin_));
}

Coarse::Cursor::Cursor(const Coarse& lane, TimeNs begin, TimeNs end) : lane_(lane), blocks_(&lane.whole_) {
  const auto& finer = lane.finer_;
  if (finer.empty() || lane.whole_.empty()) return;
  // Outside the lane's own time both are empty.
  const TimeNs from = std::max(begin, lane.whole_.front()->begin), to = std::min(end, lane.whole_.back()->end);
  if (finer.front()->begin <= from && finer.back()->end >= to) blocks_ = &finer;
}

Coarse::Cursor::Sums Coarse::Cursor::up_to(TimeNs time) {
  const auto& blocks = *blocks_;
  while (at_ < blocks.size() && blocks[at_]->end <= time) {
    const CoarseBlock& block = *blocks[at_++];
    before_.begun += block.begun.back();
    for (const std::uint8_t s : lane_.states_) {
      if (!block.time[s].empty()) before_.time[s] += block.time[s].back();
    }
  }
  Sums sums = before_;
  if (at_ == blocks.size() || time <= blocks[at_]->begin) return sums;
  const CoarseBlock& block = *blocks[at_];
  const TimeNs width = store::column_width(block.level);  // a power of two
  const auto column = static_cast<std::size_t>((time - block.begin) >> (2 * block.level));
  const double part = static_cast<double>((time - block.begin) & (width - 1)) / static_cast<double>(width);
  const auto value = [&](const std::vector<double>& list) {
    return list[column] + part * (list[column + 1] - list[column]);
  };
  sums.begun += value(block.begun);
  for (const std::uint8_t s : lane_.states_) {
    if (!block.time[s].empty()) sums.time[s] += value(block.time[s]);
  }
  return sums;
}

Coarse::Cursor::Sums Coarse::between(TimeNs begin, TimeNs end) const {
  Cursor cursor(*this, begin, end);
  const Cursor::Sums from = cursor.up_to(begin);
  Cursor::Sums to = cursor.up_to(end);
  to.begun -= from.begun;
  for (std::size_t s = 0; s < kStates; ++s) to.time[s] -= from.time[s];
  return to;
}

}  // namespace wicprof::gui
