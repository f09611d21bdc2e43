#include "store/summaries/lane_builder.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace wicprof::store {

namespace {

FineLane::Leaf& leaf_of(FineLane& lane, std::uint32_t leaf) {
  if (!lane.leaves[leaf]) lane.leaves[leaf] = std::make_unique<FineLane::Leaf>();
  return *lane.leaves[leaf];
}
FineLane::Leaf::Line& line_of(FineLane& lane, std::uint32_t leaf, State state) {
  auto& line = leaf_of(lane, leaf).lines[index_of(state)];
  if (!line) line = std::make_unique<FineLane::Leaf::Line>();
  return *line;
}

/// The block of a leaf. `now`: the number of events per state at its begin, updated to its end. Raises `most` to the
/// highest mean of a column.
LaneBlock block_of_leaf(const FineTrack::Place& place, const FineLane::Leaf* leaf,
                        std::array<std::int64_t, kStates>& now, std::uint32_t& most) {
  LaneBlock block{place.level, place.number, {}, {}};
  block.begins = leaf != nullptr ? leaf->begins : std::vector<std::uint32_t>(kBlockColumns);
  std::vector<std::uint64_t> all(kBlockColumns);
  for (std::size_t s = 0; s < kStates; ++s) {
    const FineLane::Leaf::Line* line = leaf != nullptr ? leaf->lines[s].get() : nullptr;
    if (line == nullptr && now[s] == 0) continue;
    std::vector<std::int64_t>& time = block.time[s];
    time.resize(kBlockColumns);
    for (std::size_t i = 0; i < kBlockColumns; ++i) {
      if (line != nullptr) now[s] += line->change[i];
      // Unsigned: very many simultaneous events over weeks wrap instead of being undefined.
      time[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(now[s]) *
                                          static_cast<std::uint64_t>(column_width(place.level))) +
                (line != nullptr ? line->part[i] : 0);
      time[i] = std::max<std::int64_t>(time[i], 0);
      all[i] += static_cast<std::uint64_t>(time[i]);
    }
  }
  const auto width = static_cast<std::uint64_t>(column_width(place.level));
  for (const std::uint64_t time : all) most = std::max(most, static_cast<std::uint32_t>((time + width - 1) / width));
  return block;
}

/// Merges four adjacent blocks into their parent.
LaneBlock merged(const LaneBlock* four) {
  LaneBlock block{four[0].level + 1, four[0].number / 4, std::vector<std::uint32_t>(kBlockColumns), {}};
  for (std::size_t child = 0; child < 4; ++child) {
    const auto into = [&](auto& to, const auto& from) {
      for (std::size_t i = 0; i < from.size(); ++i) to[(child * kBlockColumns + i) / 4] += from[i];
    };
    into(block.begins, four[child].begins);
    for (std::size_t s = 0; s < kStates; ++s) {
      if (four[child].time[s].empty()) continue;
      block.time[s].resize(kBlockColumns);
      into(block.time[s], four[child].time[s]);
    }
  }
  return block;
}

std::vector<LaneBlock> blocks_of(const FineTrack& track, const FineLane& lane, std::uint32_t& most) {
  std::vector<LaneBlock> all, open;  // open: adjacent, in order of time; four children of one parent are merged at once
  std::array<std::int64_t, kStates> now{};
  for (std::size_t i = 0; i < track.places.size(); ++i) {
    open.push_back(block_of_leaf(track.places[i], lane.leaves[i].get(), now, most));
    while (open.size() >= 4 && open.back().number % 4 == 3 && open[open.size() - 4].level == open.back().level) {
      LaneBlock parent = merged(&open[open.size() - 4]);
      std::move(open.end() - 4, open.end(), std::back_inserter(all));
      open.resize(open.size() - 4);
      open.push_back(std::move(parent));
    }
  }
  std::move(open.begin(), open.end(), std::back_inserter(all));
  return all;
}

}  // namespace

LaneBuilder::LaneBuilder(TimeNs first, TimeNs last) : origin_(first), last_(first) {
  const std::uint64_t span =
      last > first ? std::min(static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first), kMaxSpan) : 0;
  last_ = static_cast<TimeNs>(static_cast<std::uint64_t>(first) + span);
  while (static_cast<std::uint64_t>(block_width(top_)) <= span) ++top_;
  finest_ = std::max(0, top_ - kFinestBelowTop);
}

FineTrack& LaneBuilder::track(const TrackKey& key) {
  if (last_track_ == nullptr || key != last_key_) {
    last_key_ = key;
    const auto known = tracks_.find(key);
    last_track_ = known != tracks_.end() ? &known->second : tracks_.size() < kMaxTracks ? &tracks_[key] : &not_shown_;
  }
  return *last_track_;
}

void LaneBuilder::split() {
  const auto decide = [this](FineTrack& track) {
    split(track, top_, 0);
    track.begins.clear();
  };
  for (auto& [key, track] : tracks_) decide(track);
  decide(not_shown_);
}

void LaneBuilder::split(FineTrack& track, int level, std::int64_t number) {
  const auto slots = std::int64_t{1} << (2 * (level - finest_));
  std::uint64_t events = 0;
  if (track.begins.size() < static_cast<std::size_t>(slots)) {
    for (const auto& [slot, count] : track.begins) events += slot / slots == number ? count : 0;
  } else {
    for (std::int64_t i = number * slots; i < (number + 1) * slots; ++i) {
      const auto found = track.begins.find(static_cast<std::uint32_t>(i));
      if (found != track.begins.end()) events += found->second;
    }
  }
  if (events <= kSplitFrom || level == finest_) {
    const auto leaf = static_cast<std::uint32_t>(track.places.size());
    track.places.push_back({level, number});
    if (level == top_) return;
    track.leaf_of.resize(std::size_t{1} << (2 * (top_ - finest_)));
    std::fill_n(track.leaf_of.begin() + number * slots, slots, leaf);
  } else {
    for (int child = 0; child < 4; ++child) split(track, level - 1, number * 4 + child);
  }
}

FineLane& LaneBuilder::free_row(FineTrack& track, TimeNs begin, TimeNs end) {
  const auto free = std::find_if(track.ends.begin(), track.ends.end(), [begin](TimeNs last) { return begin >= last; });
  auto row = static_cast<std::size_t>(free - track.ends.begin());
  if (row == kMaxRows) --row;
  if (row == track.ends.size()) track.ends.push_back(end);
  track.ends[row] = end;
  return lane(track, row);
}

FineLane& LaneBuilder::lane(FineTrack& track, std::size_t row) {
  if (track.rows.size() <= row) track.rows.resize(row + 1);
  track.rows[row].leaves.resize(track.places.size());
  return track.rows[row];
}

void LaneBuilder::add_begin(FineTrack& track, FineLane& lane, TimeNs begin) {
  begin = within(begin);
  const std::uint32_t leaf = leaf_at(track, begin);
  ++leaf_of(lane, leaf).begins[column(track, leaf, begin)];
  ++lane.events;
}

void LaneBuilder::add_time(FineTrack& track, FineLane& lane, State state, TimeNs begin, TimeNs end,
                           std::uint32_t count) {
  begin = within(begin);
  end = within(end);
  if (end <= begin || count == 0) return;
  const auto times = static_cast<std::int32_t>(count);
  std::uint32_t first = leaf_at(track, begin), last = leaf_at(track, end);
  std::uint32_t from = column(track, first, begin), to = column(track, last, end);
  if (first == last && from == to) {
    line_of(lane, first, state).part[from] += times * (end - begin);
    return;
  }
  line_of(lane, first, state).part[from] +=
      times * (column_begin(track, first, from) + column_width(track.places[first].level) - begin);
  line_of(lane, last, state).part[to] += times * (end - column_begin(track, last, to));
  if (++from == kBlockColumns) {
    from = 0;
    ++first;
  }
  if (first == last && from == to) return;
  line_of(lane, first, state).change[from] += times;
  line_of(lane, last, state).change[to] -= times;
}

int LaneBuilder::finish(const std::function<int(const Lane&, const std::vector<LaneBlock>&)>& take) {
  for (auto& [key, track] : tracks_) {
    for (std::size_t row = 0; row < track.rows.size(); ++row) {
      FineLane& fine = track.rows[row];
      Lane lane;
      lane.track = key;
      lane.row = static_cast<std::uint32_t>(row);
      lane.name = track.name;
      lane.events = fine.events;
      if (const int code = take(lane, blocks_of(track, fine, lane.most)); code != 0) return code;
      fine = {};
    }
  }
  return 0;
}

TimeNs LaneBuilder::leaf_begin(const FineTrack& track, std::uint32_t leaf) const {
  return origin_ + track.places[leaf].number * block_width(track.places[leaf].level);
}

std::uint32_t LaneBuilder::column(const FineTrack& track, std::uint32_t leaf, TimeNs time) const {
  return static_cast<std::uint32_t>((time - leaf_begin(track, leaf)) / column_width(track.places[leaf].level));
}

TimeNs LaneBuilder::column_begin(const FineTrack& track, std::uint32_t leaf, std::uint32_t column) const {
  return leaf_begin(track, leaf) + column * column_width(track.places[leaf].level);
}

}  // namespace wicprof::store
