#include "gui/view/density.h"

#include <algorithm>
#include <utility>

namespace wicprof::gui {

// A warp computes between two waits. Both may be outside the stretch whose rows are loaded, so this state always comes
// from the summaries.
constexpr State kFromSummaries = State::computing;

float DensityColumn::total() const {
  float sum = 0;
  for (const float one : count) sum += one;
  return sum;
}

DensityColumn by_mode(const DensityColumn& column) {
  DensityColumn coloured = column;
  float& polling = coloured.count[index_of(State::polling)];
  float& parked = coloured.count[index_of(State::parked)];
  float& barrier = coloured.count[index_of(State::at_barrier)];
  const float known = polling + parked;
  if (known <= 0) return coloured;
  polling += barrier * polling / known;
  parked += barrier * column.count[index_of(State::parked)] / known;
  barrier = 0;
  return coloured;
}

void Density::add(State state, TimeNs begin, TimeNs end, std::uint32_t warps) {
  if (end <= begin || warps == 0) return;
  changes_[index_of(state)].push_back({begin, static_cast<std::int32_t>(warps)});
  changes_[index_of(state)].push_back({end, -static_cast<std::int32_t>(warps)});
}

void Density::finish() {
  std::vector<std::pair<TimeNs, std::int32_t>> all;
  for (std::size_t i = 0; i < kStates; ++i) {
    std::vector<Change>& changes = changes_[i];
    if (changes.empty()) continue;
    std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.at < b.at; });
    Line line{static_cast<State>(i), {}, {}, {}};
    std::int32_t level = 0;
    double sum = 0;
    for (std::size_t c = 0; c < changes.size();) {
      const TimeNs at = changes[c].at;
      if (!line.at.empty()) sum += static_cast<double>(level) * static_cast<double>(at - line.at.back());
      std::int32_t by = 0;
      for (; c < changes.size() && changes[c].at == at; ++c) by += changes[c].by;
      if (by == 0 && !line.at.empty()) {
        sum -= static_cast<double>(level) * static_cast<double>(at - line.at.back());
        continue;
      }
      level += by;
      line.at.push_back(at);
      line.level.push_back(level);
      line.before.push_back(sum);
      all.emplace_back(at, by);
    }
    lines_.push_back(std::move(line));
    std::vector<Change>().swap(changes);
  }
  std::sort(all.begin(), all.end());  // at equal times, leaving warps come first
  std::int32_t now = 0;
  for (const auto& [at, by] : all) {
    now += by;
    most_ = std::max(most_, static_cast<std::uint32_t>(std::max(now, 0)));
  }
}

double Density::Line::up_to(TimeNs time, std::size_t& hint) const {
  // Queries move from left to right, so the search starts at the previous place.
  std::size_t low = hint, step = 1;
  if (low >= at.size() || at[low] > time) low = 0;
  if (at[low] > time) return 0;
  while (low + step < at.size() && at[low + step] <= time) {
    low += step;
    step *= 2;
  }
  const auto end = at.begin() + static_cast<std::ptrdiff_t>(std::min(at.size(), low + step));
  const auto after = std::upper_bound(at.begin() + static_cast<std::ptrdiff_t>(low), end, time);
  hint = static_cast<std::size_t>(after - at.begin()) - 1;
  return before[hint] + static_cast<double>(level[hint]) * static_cast<double>(time - at[hint]);
}

std::vector<DensityColumn> Density::draw(TimeNs begin, TimeNs end, std::uint32_t columns) const {
  std::vector<DensityColumn> drawn(columns);
  if (end <= begin || columns == 0) return drawn;
  const double width = static_cast<double>(end - begin) / columns;
  if (coarse_) {
    Coarse::Cursor cursor(*coarse_, begin, end);
    Coarse::Cursor::Sums last = cursor.up_to(begin);
    TimeNs from = begin;
    for (std::uint32_t i = 0; i < columns; ++i) {
      const TimeNs to = begin + static_cast<TimeNs>(static_cast<double>(i + 1) * width);
      if (to <= from) {
        if (i > 0) drawn[i] = drawn[i - 1];
        continue;
      }
      const Coarse::Cursor::Sums sums = cursor.up_to(to);
      for (const std::uint8_t s : coarse_->states())
        drawn[i].count[s] = static_cast<float>((sums.time[s] - last.time[s]) / static_cast<double>(to - from));
      last = sums;
      from = to;
    }
    if (!fine_in(begin, end)) return drawn;
    for (DensityColumn& column : drawn) {
      for (std::size_t s = 0; s < kStates; ++s) {
        if (static_cast<State>(s) != kFromSummaries) column.count[s] = 0;
      }
    }
  }
  for (const Line& line : lines_) {
    if (coarse_ && line.state == kFromSummaries) continue;
    std::size_t hint = 0;
    TimeNs from = begin;
    double last = line.up_to(from, hint);
    for (std::uint32_t i = 0; i < columns; ++i) {
      const TimeNs to = begin + static_cast<TimeNs>(static_cast<double>(i + 1) * width);
      if (to <= from) {  // narrower than a nanosecond: repeats the previous column
        if (i > 0) drawn[i].count[index_of(line.state)] = drawn[i - 1].count[index_of(line.state)];
        continue;
      }
      const double sum = line.up_to(to, hint);
      drawn[i].count[index_of(line.state)] = static_cast<float>((sum - last) / static_cast<double>(to - from));
      last = sum;
      from = to;
    }
  }
  return drawn;
}

void Density::set_coarse(std::shared_ptr<const Coarse> coarse, TimeNs begin, TimeNs end) {
  coarse_ = std::move(coarse);
  fine_begin_ = begin;
  fine_end_ = end;
}

double Density::time_in(State state, TimeNs begin, TimeNs end) const {
  if (coarse_ && (state == kFromSummaries || !fine_in(begin, end)))
    return coarse_->between(begin, end).time[index_of(state)];
  for (const Line& line : lines_) {
    if (line.state != state) continue;
    std::size_t hint = 0;
    const double from = line.up_to(begin, hint);
    return line.up_to(end, hint) - from;
  }
  return 0;
}

}  // namespace wicprof::gui
