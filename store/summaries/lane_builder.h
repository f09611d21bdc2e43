// Adds up what happens on each lane, column by column, and makes its blocks of it. Told of everything twice: first to
// count, so that it is known which stretches have fine columns, then to add up. Only the finest columns of a stretch
// are added to, two numbers for each thing however long; coarser columns are sums of finer ones.
#pragma once

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

inline constexpr std::uint64_t kSplitFrom =
    4 * kBlockColumns;                     ///< things that begin in a block which is not yet one of the finest
inline constexpr int kFinestBelowTop = 6;  ///< levels: 4,096 blocks side by side at most

/// Of one row of a track: columns at the finest level of each stretch.
struct FineLane {
  struct Leaf {
    std::vector<std::uint32_t> begins = std::vector<std::uint32_t>(kBlockColumns);
    // Time in columns that something only reaches in part, and from which column on how many more are there.
    struct Line {
      std::vector<std::int64_t> part = std::vector<std::int64_t>(kBlockColumns);
      std::vector<std::int32_t> change = std::vector<std::int32_t>(kBlockColumns);
    };
    std::array<std::unique_ptr<Line>, kStates> lines;
  };
  std::vector<std::unique_ptr<Leaf>> leaves;  // in order of time; made when something is in them
  std::uint64_t events = 0;
};

struct FineTrack {
  std::unordered_map<std::uint32_t, std::uint32_t> begins;  // by slot: what begins there
  std::vector<std::uint32_t> leaf_of;                       // by slot
  struct Place {
    int level;
    std::int64_t number;
  };
  std::vector<Place> places;  // of the leaves
  std::vector<TimeNs> ends;   // of the last thing in each row
  std::vector<FineLane> rows;
  std::string name;
};

/// One thread.
class LaneBuilder {
 public:
  /// All that it will be told of lies in [first, last].
  LaneBuilder(TimeNs first, TimeNs last);
  int top() const { return top_; }

  FineTrack& track(const TrackKey& key);

  void count(FineTrack& track, TimeNs begin) { ++track.begins[slot(begin)]; }

  /// Between the two: which stretches have fine columns.
  void split();

  /// The row of a track in which there is room, from the first on. In order of begin.
  FineLane& row_with_room(FineTrack& track, TimeNs begin, TimeNs end);
  FineLane& lane(FineTrack& track, std::size_t row);

  void add_begin(FineTrack& track, FineLane& lane, TimeNs begin);
  /// `things`: so many of them at once.
  void add_time(FineTrack& track, FineLane& lane, State state, TimeNs begin, TimeNs end, std::uint32_t things = 1);

  /// Hands out every lane with its blocks, the finest first, until `take` returns something but 0: then that.
  int finish(const std::function<int(const Lane&, const std::vector<LaneBlock>&)>& take);

 private:
  std::uint32_t slot(TimeNs time) const { return static_cast<std::uint32_t>((time - origin_) / block_width(finest_)); }
  std::uint32_t leaf_at(const FineTrack& track, TimeNs time) const { return track.leaf_of[slot(time)]; }
  TimeNs leaf_begin(const FineTrack& track, std::uint32_t leaf) const;
  std::uint32_t column(const FineTrack& track, std::uint32_t leaf, TimeNs time) const;
  TimeNs column_begin(const FineTrack& track, std::uint32_t leaf, std::uint32_t column) const;
  void split(FineTrack& track, int level, std::int64_t number);

  TimeNs origin_;
  int top_ = 0, finest_ = 0;
  std::map<TrackKey, FineTrack> tracks_;
  TrackKey last_key_;
  FineTrack* last_track_ = nullptr;
};

}  // namespace wicprof::store
