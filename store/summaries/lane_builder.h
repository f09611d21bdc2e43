// Sums up the events of each lane, column by column, into blocks. Receives every event twice: first to count, which
// decides which intervals have fine columns, then to sum. Only the finest columns of an interval are updated, two
// numbers per event of any length; coarser columns are sums of finer ones.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/time.h"
#include "store/summaries/lane_block.h"
#include "store/summaries/lanes.h"

namespace wicprof::store {

inline constexpr std::uint64_t kSplitFrom = 4 * kBlockColumns;  ///< events that begin in a block before it is split
inline constexpr int kFinestBelowTop = 6;                       ///< levels: at most 4,096 adjacent blocks
/// More rows than a picture shows at once: events that overlap this many others share the last row. Not calibrated.
inline constexpr std::size_t kMaxRows = 200;
/// Bounds the memory for a trace with absurd numbers of threads or SMs: later tracks are not shown. Not calibrated.
inline constexpr std::size_t kMaxTracks = 100'000;

/// One row of a track: the columns of each interval at the finest level of that interval.
struct FineLane {
  struct Leaf {
    std::vector<std::uint32_t> begins = std::vector<std::uint32_t>(kBlockColumns);
    // `part`: time of events that cover a column only in part. `change`: how the number of events that cover whole
    // columns changes from one column to the next.
    struct Line {
      std::vector<std::int64_t> part = std::vector<std::int64_t>(kBlockColumns);
      std::vector<std::int32_t> change = std::vector<std::int32_t>(kBlockColumns);
    };
    std::array<std::unique_ptr<Line>, kStates> lines;
  };
  std::vector<std::unique_ptr<Leaf>> leaves;  // in order of time; null while empty
  std::uint64_t events = 0;
};

struct FineTrack {
  std::unordered_map<std::uint32_t, std::uint32_t> begins;  // by slot: the number of events that begin in it
  std::vector<std::uint32_t> leaf_of;                       // by slot; empty = leaf 0 has all slots
  struct Place {
    int level;
    std::int64_t number;
  };
  std::vector<Place> places;  // of the leaves
  std::vector<TimeNs> ends;   // of the last event in each row
  std::vector<FineLane> rows;
  std::string name;
};

/// One thread.
class LaneBuilder {
 public:
  /// Times of events outside [first, last] count as the nearer of both. `last` is at most kMaxSpan after `first`.
  static constexpr std::uint64_t kMaxSpan = std::uint64_t{1} << 61;
  LaneBuilder(TimeNs first, TimeNs last);
  int top() const { return top_; }

  FineTrack& track(const TrackKey& key);

  void count(FineTrack& track, TimeNs begin) { ++track.begins[slot(within(begin))]; }

  /// Between the passes: decides which intervals have fine columns.
  void split();

  /// The first row of a track with free space. Call in order of begin.
  FineLane& free_row(FineTrack& track, TimeNs begin, TimeNs end);
  FineLane& lane(FineTrack& track, std::size_t row);

  void add_begin(FineTrack& track, FineLane& lane, TimeNs begin);
  /// `count`: the number of simultaneous events with these times.
  void add_time(FineTrack& track, FineLane& lane, State state, TimeNs begin, TimeNs end, std::uint32_t count = 1);

  /// Passes every lane with its blocks, the finest first, to `take`; stops at the first result other than 0 and returns
  /// it.
  int finish(const std::function<int(const Lane&, const std::vector<LaneBlock>&)>& take);

 private:
  // All other functions here expect such a time.
  TimeNs within(TimeNs time) const { return std::clamp(time, origin_, last_); }
  std::uint32_t slot(TimeNs time) const { return static_cast<std::uint32_t>((time - origin_) / block_width(finest_)); }
  std::uint32_t leaf_at(const FineTrack& track, TimeNs time) const {
    return track.leaf_of.empty() ? 0 : track.leaf_of[slot(time)];
  }
  TimeNs leaf_begin(const FineTrack& track, std::uint32_t leaf) const;
  std::uint32_t column(const FineTrack& track, std::uint32_t leaf, TimeNs time) const;
  TimeNs column_begin(const FineTrack& track, std::uint32_t leaf, std::uint32_t column) const;
  void split(FineTrack& track, int level, std::int64_t number);

  TimeNs origin_, last_;
  int top_ = 0, finest_ = 0;
  std::map<TrackKey, FineTrack> tracks_;
  TrackKey last_key_;
  FineTrack* last_track_ = nullptr;
  FineTrack not_shown_;  // takes the events of the tracks beyond kMaxTracks
};

}  // namespace wicprof::store
