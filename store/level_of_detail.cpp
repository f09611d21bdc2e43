#include "store/level_of_detail.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

namespace wicprof::store {

namespace {

// --- Blocks as bytes: each list as numbers of seven bits a byte, and of empty columns how many follow each other.

void put_number(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

template <class List>
void put_list(std::string& bytes, const List& list) {
  for (std::size_t i = 0; i < list.size();) {
    put_number(bytes, static_cast<std::uint64_t>(list[i]));
    if (list[i++] != 0) continue;
    const std::size_t first = i;
    while (i < list.size() && list[i] == 0) ++i;
    put_number(bytes, i - first);
  }
}

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) break;
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    good_ = false;
    return 0;
  }
  template <class T>
  std::vector<T> list() {
    std::vector<T> values(kBlockColumns);
    for (std::size_t i = 0; i < values.size() && good_;) {
      const std::uint64_t value = number();
      if (value > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) good_ = false;
      values[i++] = static_cast<T>(value);
      if (value != 0) continue;
      const std::uint64_t more = number();
      if (more > values.size() - i) good_ = false;
      i += good_ ? more : 0;
    }
    return values;
  }
  bool good() const { return good_; }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

// --- Making them.

constexpr std::array<LaneTable, kRowKinds> kTables{{{"wait", "arrived_ns", "resumed_ns"},
                                                {"signal", "at_ns", "at_ns"},
                                                {"host_wait", "begin_ns", "end_ns"},
                                                {"kernel", "start_ns", "end_ns"},
                                                {"copy", "start_ns", "end_ns"},
                                                {"call", "start_ns", "end_ns"},
                                                {"nvtx", "start_ns", "end_ns"},
                                                {"uvm", "start_ns", "end_ns"},
                                                {"thread_sample", "begin_ns", "end_ns"}}};
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

/// What the summaries of all lanes are made from: told of everything twice, first to count, then to add up.
class Builder {
 public:
  Builder(TimeNs first, TimeNs last) : origin_(first) {
    while (block_width(top_) <= last - first) ++top_;
    finest_ = std::max(0, top_ - kFinestBelowTop);
  }
  int top() const { return top_; }

  FineTrack& track(const TrackKey& key) {
    if (last_track_ == nullptr || key != last_key_) {
      last_key_ = key;
      last_track_ = &tracks_[key];
    }
    return *last_track_;
  }

  void count(FineTrack& track, TimeNs begin) { ++track.begins[slot(begin)]; }

  /// Between the two: which stretches have fine columns.
  void split() {
    for (auto& [key, track] : tracks_) {
      track.leaf_of.resize(std::size_t{1} << (2 * (top_ - finest_)));
      split(track, top_, 0);
      track.begins.clear();
    }
  }

  /// The row of a track in which there is room, from the first on. In order of begin.
  FineLane& row_with_room(FineTrack& track, TimeNs begin, TimeNs end) {
    const auto room = std::find_if(track.ends.begin(), track.ends.end(), [begin](TimeNs last) { return begin >= last; });
    const auto row = static_cast<std::size_t>(room - track.ends.begin());
    if (room == track.ends.end()) track.ends.push_back(0);
    track.ends[row] = end;
    return lane(track, row);
  }
  FineLane& lane(FineTrack& track, std::size_t row) {
    if (track.rows.size() <= row) track.rows.resize(row + 1);
    track.rows[row].leaves.resize(track.places.size());
    return track.rows[row];
  }

  void add_begin(FineTrack& track, FineLane& lane, TimeNs begin) {
    const std::uint32_t leaf = leaf_at(track, begin);
    ++leaf_of(lane, leaf).begins[column(track, leaf, begin)];
    ++lane.events;
  }

  void add_time(FineTrack& track, FineLane& lane, State state, TimeNs begin, TimeNs end) {
    if (end <= begin) return;
    std::uint32_t first = leaf_at(track, begin), last = leaf_at(track, end);
    std::uint32_t from = column(track, first, begin), to = column(track, last, end);
    if (first == last && from == to) {
      line_of(lane, first, state).part[from] += end - begin;
      return;
    }
    line_of(lane, first, state).part[from] += column_begin(track, first, from) + column_width(track.places[first].level) - begin;
    line_of(lane, last, state).part[to] += end - column_begin(track, last, to);
    if (++from == kBlockColumns) {
      from = 0;
      ++first;
    }
    if (first == last && from == to) return;
    ++line_of(lane, first, state).change[from];
    --line_of(lane, last, state).change[to];
  }

  /// Hands out every lane with its blocks, the finest first.
  template <class Take>
  int finish(Take take) {
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

 private:
  std::uint32_t slot(TimeNs time) const { return static_cast<std::uint32_t>((time - origin_) / block_width(finest_)); }
  std::uint32_t leaf_at(const FineTrack& track, TimeNs time) const { return track.leaf_of[slot(time)]; }
  TimeNs leaf_begin(const FineTrack& track, std::uint32_t leaf) const {
    return origin_ + track.places[leaf].number * block_width(track.places[leaf].level);
  }
  std::uint32_t column(const FineTrack& track, std::uint32_t leaf, TimeNs time) const {
    return static_cast<std::uint32_t>((time - leaf_begin(track, leaf)) / column_width(track.places[leaf].level));
  }
  TimeNs column_begin(const FineTrack& track, std::uint32_t leaf, std::uint32_t column) const {
    return leaf_begin(track, leaf) + column * column_width(track.places[leaf].level);
  }
  static FineLane::Leaf& leaf_of(FineLane& lane, std::uint32_t leaf) {
    if (!lane.leaves[leaf]) lane.leaves[leaf] = std::make_unique<FineLane::Leaf>();
    return *lane.leaves[leaf];
  }
  static FineLane::Leaf::Line& line_of(FineLane& lane, std::uint32_t leaf, State state) {
    auto& line = leaf_of(lane, leaf).lines[index_of(state)];
    if (!line) line = std::make_unique<FineLane::Leaf::Line>();
    return *line;
  }

  std::uint64_t split(FineTrack& track, int level, std::int64_t number) {
    const auto slots = std::int64_t{1} << (2 * (level - finest_));
    std::uint64_t things = 0;
    if (track.begins.size() < static_cast<std::size_t>(slots)) {
      for (const auto& [slot, count] : track.begins) things += slot / slots == number ? count : 0;
    } else {
      for (std::int64_t i = number * slots; i < (number + 1) * slots; ++i) {
        const auto found = track.begins.find(static_cast<std::uint32_t>(i));
        if (found != track.begins.end()) things += found->second;
      }
    }
    if (things <= kSplitFrom || level == finest_) {
      const auto leaf = static_cast<std::uint32_t>(track.places.size());
      track.places.push_back({level, number});
      std::fill_n(track.leaf_of.begin() + number * slots, slots, leaf);
    } else {
      for (int child = 0; child < 4; ++child) split(track, level - 1, number * 4 + child);
    }
    return things;
  }

  static LaneBlock settled(const FineTrack::Place& place, const FineLane::Leaf* leaf, std::array<std::int64_t, kStates>& now,
                           std::uint32_t& most) {
    LaneBlock block{place.level, place.number, {}, {}};
    block.begins = leaf != nullptr ? leaf->begins : std::vector<std::uint32_t>(kBlockColumns);
    std::vector<std::int64_t> all(kBlockColumns);
    for (std::size_t s = 0; s < kStates; ++s) {
      const FineLane::Leaf::Line* line = leaf != nullptr ? leaf->lines[s].get() : nullptr;
      if (line == nullptr && now[s] == 0) continue;
      std::vector<std::int64_t>& time = block.time[s];
      time.resize(kBlockColumns);
      for (std::size_t i = 0; i < kBlockColumns; ++i) {
        if (line != nullptr) now[s] += line->change[i];
        time[i] = now[s] * column_width(place.level) + (line != nullptr ? line->part[i] : 0);
        all[i] += time[i];
      }
    }
    const std::int64_t width = column_width(place.level);
    for (const std::int64_t time : all) most = std::max(most, static_cast<std::uint32_t>((time + width - 1) / width));
    return block;
  }

  /// Four blocks side by side as one.
  static LaneBlock merged(const LaneBlock* four) {
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

  static std::vector<LaneBlock> blocks_of(const FineTrack& track, const FineLane& lane, std::uint32_t& most) {
    std::vector<LaneBlock> all, open;  // open: in order of time, with no gap; four of one parent become that at once
    std::array<std::int64_t, kStates> now{};
    for (std::size_t i = 0; i < track.places.size(); ++i) {
      open.push_back(settled(track.places[i], lane.leaves[i].get(), now, most));
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

  TimeNs origin_;
  int top_ = 0, finest_ = 0;
  std::map<TrackKey, FineTrack> tracks_;
  TrackKey last_key_;
  FineTrack* last_track_ = nullptr;
};

/// Reads rows for the builder; keeps the first failure.
class Source {
 public:
  Source(Database& database, const SummaryWatch& watch) : database_(database), watch_(watch) {}

  /// Calls `row(statement)` for each.
  template <class Take>
  void each(const std::string& sql, Take take) {
    if (code_ != 0) return;
    Statement statement = database_.prepare(sql, code_);
    while (code_ == 0 && statement.next(code_)) {
      take(statement);
      if (++read_ % 65536 == 0 && watch_ && !watch_(std::min(1.0, static_cast<double>(read_) / static_cast<double>(expected)))) {
        code_ = -1;
      }
    }
  }
  void execute(const std::string& sql) {
    if (code_ == 0) code_ = database_.execute(sql);
  }
  void run(Statement& statement) {
    if (code_ == 0) code_ = statement.run();
  }
  Statement prepare(const std::string& sql) {
    Statement statement;
    if (code_ == 0) statement = database_.prepare(sql, code_);
    return statement;
  }
  std::int64_t last_id() { return database_.integer("SELECT last_insert_rowid()"); }
  int code() const { return code_; }
  std::uint64_t expected = 1;

 private:
  Database& database_;
  const SummaryWatch& watch_;
  int code_ = 0;
  std::uint64_t read_ = 0;
};

struct Extent {
  bool any = false;
  TimeNs begin = 0, end = 0;
  void add(const Extent& other) {
    if (!other.any) return;
    begin = any ? std::min(begin, other.begin) : other.begin;
    end = any ? std::max(end, other.end) : other.end;
    any = true;
  }
};

/// The bound under which nearly all of so many are: 63 of 64.
class Lengths {
 public:
  void add(TimeNs length) { ++by_size_[std::bit_width(static_cast<std::uint64_t>(std::max<TimeNs>(length, 0)))]; }
  TimeNs nearly_all() const {
    std::uint64_t all = 0, longer = 0;
    for (const std::uint64_t count : by_size_) all += count;
    for (std::size_t size = by_size_.size() - 1; size > 0; --size) {
      longer += by_size_[size];
      if (longer > all / 64) return static_cast<TimeNs>((std::uint64_t{1} << std::min<std::size_t>(size, 62)) - 1);
    }
    return 0;
  }

 private:
  std::array<std::uint64_t, 65> by_size_{};
};

/// Everything of the trace that lies on a lane, once for each pass.
class Walk {
 public:
  Walk(Source& source, Builder& builder, bool adding) : source_(source), builder_(builder), adding_(adding) {}

  void all() {
    waits();
    signals();
    spans("SELECT process_id, thread, 0, 0, begin_ns, end_ns, 0, id, cpu_ns FROM host_wait",
          "SELECT process_id, thread, 0, 0, start_ns, end_ns, 1, id, NULL FROM call", [](const Statement& row) {
      TrackKey key{LaneKind::thread, static_cast<ProcessId>(row.integer(0)), 0, 0, static_cast<std::uint32_t>(row.integer(1))};
      if (row.integer(6) != 0) return std::pair(key, State::calling);
      return std::pair(key, state_of_host_wait(row.integer(4), row.integer(5), row.is_null(8) ? -1 : row.integer(8)));
    });
    delays();
    spans("SELECT process_id, stream, context, device_id, start_ns, end_ns, 0, id FROM kernel",
          "SELECT process_id, stream, context, device_id, start_ns, end_ns, 1, id FROM copy", [](const Statement& row) {
      return std::pair(TrackKey{LaneKind::stream, static_cast<ProcessId>(row.integer(0)), static_cast<DeviceId>(row.integer(3)),
                                static_cast<std::uint32_t>(row.integer(2)), static_cast<std::uint32_t>(row.integer(1))},
                       row.integer(6) != 0 ? State::transferring : State::computing);
    });
    spans("SELECT process_id, thread, 0, 0, start_ns, end_ns, 0, id, (SELECT value FROM string WHERE string.id = domain_id) FROM nvtx",
          "", [](const Statement& row) {
      return std::pair(TrackKey{LaneKind::nvtx, static_cast<ProcessId>(row.integer(0)), 0, 0,
                                static_cast<std::uint32_t>(row.integer(1)), std::string(row.text(8))},
                       State::range);
    });
    spans("SELECT 0, 0, 0, device_id, start_ns, end_ns, 0, id, kind FROM uvm", "", [](const Statement& row) {
      return std::pair(TrackKey{LaneKind::managed, 0, static_cast<DeviceId>(row.integer(3))},
                       state_of_migration(static_cast<UvmKind>(row.integer(8))));
    });
  }

 private:
  struct Warp {
    std::int64_t device, block, warp;
    bool operator==(const Warp&) const = default;
  };
  struct WarpHash {
    std::size_t operator()(const Warp& w) const {
      return static_cast<std::size_t>(((w.device * 0x9e3779b97f4a7c15ll) ^ (w.block * 64 + w.warp)) * 0x2545f4914f6cdd1dll);
    }
  };

  void waits() {
    std::unordered_map<Warp, Stay, WarpHash> stays;
    const std::string sql = "SELECT device_id, sm, arrived_ns, resumed_ns, strategy_id, switched_ns, block, warp, iteration FROM wait";
    source_.each(adding_ ? sql + " ORDER BY arrived_ns, id" : sql, [&](const Statement& row) {
      const auto sm = static_cast<std::uint32_t>(row.integer(1));
      const TimeNs arrived = row.integer(2), resumed = row.integer(3);
      FineTrack& track = sm_track(static_cast<DeviceId>(row.integer(0)), sm);
      if (!adding_) return builder_.count(track, arrived);
      FineLane& lane = builder_.lane(track, 0);
      builder_.add_begin(track, lane, arrived);
      const State state = state_under(static_cast<StrategyId>(row.integer(4)));
      const TimeNs switched = row.is_null(5) ? 0 : row.integer(5);
      if (switched > arrived && switched < resumed) {
        builder_.add_time(track, lane, other_way(state), arrived, switched);
        builder_.add_time(track, lane, state, switched, resumed);
      } else {
        builder_.add_time(track, lane, state, arrived, resumed);
      }
      Stay& stay = stays[{row.integer(0), row.integer(6), row.integer(7)}];
      const auto iteration = static_cast<std::uint32_t>(row.integer(8));
      if (const auto since = stay.computed_since(sm, iteration)) builder_.add_time(track, lane, State::computing, *since, arrived);
      stay.add(sm, iteration, resumed);
    });
  }

  FineTrack& sm_track(DeviceId device, std::uint32_t sm) {
    FineTrack*& found = sms_[std::uint64_t{static_cast<std::uint32_t>(device)} << 32 | sm];
    if (found == nullptr) found = &builder_.track({LaneKind::sm, 0, device, 0, sm});
    return *found;
  }

  void signals() {
    source_.each("SELECT site_id, at_ns FROM signal", [&](const Statement& row) {
      FineTrack& track = builder_.track({LaneKind::signals, 0, 0, 0, static_cast<std::uint32_t>(row.integer(0))});
      if (!adding_) return builder_.count(track, row.integer(1));
      FineLane& lane = builder_.lane(track, 0);
      builder_.add_begin(track, lane, row.integer(1));
    });
  }

  /// Rows of one table or two: process, number, context, device, begin, end, which table, id, and what else tells the state.
  template <class Place>
  void spans(const std::string& first, const std::string& second, Place place) {
    std::string sql = second.empty() ? first : first + " UNION ALL " + second;
    // Of two that begin together the longer one is outside; then as they were recorded.
    if (adding_) sql += " ORDER BY 5, 6 DESC, 7, 8";
    source_.each(sql, [&](const Statement& row) {
      const auto [key, state] = place(row);
      span(key, state, row.integer(4), row.integer(5));
    });
  }

  void span(const TrackKey& key, State state, TimeNs begin, TimeNs end) {
    FineTrack& track = builder_.track(key);
    if (!adding_) return builder_.count(track, begin);
    FineLane& lane = builder_.row_with_room(track, begin, end);
    builder_.add_begin(track, lane, begin);
    builder_.add_time(track, lane, state, begin, end);
  }

  void delays() {
    struct Delay {
      TrackKey key;
      TimeNs begin, end;
    };
    std::vector<Delay> list;  // samples are few: a thread has some ten a second
    std::map<TrackKey, std::string> names;
    source_.each("SELECT process_id, thread, begin_ns, end_ns, run_delay_ns, (SELECT value FROM string WHERE string.id = name_id) "
                 "FROM thread_sample ORDER BY begin_ns, id",
                 [&](const Statement& row) {
                   TrackKey key{LaneKind::delay, static_cast<ProcessId>(row.integer(0)), 0, 0, static_cast<std::uint32_t>(row.integer(1))};
                   names[key] = row.text(5);
                   const auto delay = row.is_null(4) ? std::optional<TimeNs>() : std::optional<TimeNs>(row.integer(4));
                   if (const auto length = noticeable_delay(row.integer(2), row.integer(3), delay))
                     list.push_back({key, row.integer(3) - *length, row.integer(3)});
                 });
    std::stable_sort(list.begin(), list.end(), [](const Delay& a, const Delay& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    for (const Delay& delay : list) span(delay.key, State::descheduled, delay.begin, delay.end);
    for (auto& [key, name] : names) {
      for (const LaneKind kind : {LaneKind::thread, LaneKind::delay}) {
        TrackKey of = key;
        of.kind = kind;
        builder_.track(of).name = name;
      }
    }
  }

  Source& source_;
  Builder& builder_;
  bool adding_;
  std::unordered_map<std::uint64_t, FineTrack*> sms_;
};

Extent traced_time(const std::array<Extent, kRowKinds>& of, const Extent& site_waits, const Extent& intervals) {
  const auto kind = [&](RowKind k) { return of[static_cast<std::size_t>(k)]; };
  Extent traced;
  for (const RowKind k : {RowKind::wait, RowKind::signal, RowKind::kernel, RowKind::copy}) traced.add(kind(k));
  traced.add(site_waits);
  if (traced.any) return traced;
  for (const RowKind k : {RowKind::host_wait, RowKind::call, RowKind::nvtx}) traced.add(kind(k));
  traced.add(intervals);
  return traced;
}

}  // namespace

const LaneTable& table_of(RowKind kind) { return kTables[static_cast<std::size_t>(kind)]; }

std::string pack_block(const LaneBlock& block) {
  std::string bytes;
  put_list(bytes, block.begins);
  for (std::size_t s = 0; s < kStates; ++s) {
    if (block.time[s].empty()) continue;
    put_number(bytes, s);
    put_list(bytes, block.time[s]);
  }
  return bytes;
}

Result<LaneBlock> unpack_block(std::string_view text, int level, std::int64_t number) {
  Bytes bytes(text);
  LaneBlock block{level, number, bytes.list<std::uint32_t>(), {}};
  while (bytes.good() && !bytes.at_end()) {
    const std::uint64_t state = bytes.number();
    if (state >= kStates) return bad_input("a state that there is not");
    block.time[state] = bytes.list<std::int64_t>();
  }
  if (!bytes.good()) return bad_input("a block that ends early");
  return block;
}

std::string create_summary_tables_sql(bool temporary) {
  const std::string create = temporary ? "CREATE TEMP TABLE " : "CREATE TABLE ";
  return create +
         "lane (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, process_id INTEGER, device_id INTEGER, context INTEGER, "
         "number INTEGER, domain_id INTEGER, row INTEGER NOT NULL, name_id INTEGER, events INTEGER NOT NULL, "
         "most INTEGER NOT NULL) STRICT;\n" +
         create +
         "lane_block (id INTEGER PRIMARY KEY, lane_id INTEGER NOT NULL, level INTEGER NOT NULL, number INTEGER NOT NULL, "
         "columns BLOB NOT NULL) STRICT;\n" +
         create +
         "lane_extent (id INTEGER PRIMARY KEY, origin_ns INTEGER NOT NULL, top_level INTEGER NOT NULL, lanes INTEGER NOT NULL, "
         "blocks INTEGER NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL) STRICT;\n" +
         create +
         "row_kind (id INTEGER PRIMARY KEY, rows INTEGER NOT NULL, short_ns INTEGER NOT NULL) STRICT;\n" + create +
         "long_row (id INTEGER PRIMARY KEY, kind_id INTEGER NOT NULL, row_id INTEGER NOT NULL, begin_ns INTEGER NOT NULL, "
         "end_ns INTEGER NOT NULL) STRICT;\n";
}

int summarise(Database& database, const SummaryWatch& watch) {
  Source source(database, watch);
  std::array<Extent, kRowKinds> extents;
  std::array<Lengths, kRowKinds> lengths;
  std::array<std::uint64_t, kRowKinds> rows{};
  Extent shown;
  for (const LaneTable& table : kTables) source.expected += static_cast<std::uint64_t>(database.integer(std::string("SELECT count(*) FROM ") + table.name)) * 3;
  for (std::size_t k = 0; k < kRowKinds; ++k) {
    const LaneTable& table = kTables[k];
    source.each(std::string("SELECT ") + table.begin + ", " + table.end + " FROM " + table.name, [&](const Statement& row) {
      const TimeNs begin = row.integer(0), end = std::max<TimeNs>(row.integer(1), begin);
      extents[k].add({true, begin, end});
      lengths[k].add(end - begin);
      ++rows[k];
    });
    shown.add(extents[k]);
  }
  Extent site_waits, intervals;
  const auto bounds = [&](const char* sql, Extent& to) {
    source.each(sql, [&](const Statement& row) {
      if (!row.is_null(0)) to.add({true, row.integer(0), row.integer(1)});
    });
  };
  bounds("SELECT min(begin_ns), max(end_ns) FROM host_wait WHERE site_id <> 0", site_waits);
  bounds("SELECT min(begin_ns), max(end_ns) FROM pc_interval", intervals);

  Builder builder(shown.begin, shown.end);
  Walk(source, builder, false).all();
  if (source.code() != 0) return source.code();
  builder.split();
  Walk(source, builder, true).all();
  if (source.code() != 0) return source.code();

  const std::string text_id = "(SELECT id FROM string WHERE value = ? LIMIT 1)";
  Statement put_lane = source.prepare("INSERT INTO lane (kind, process_id, device_id, context, number, domain_id, row, name_id, events, most) "
                                      "VALUES (?, ?, ?, ?, ?, " + text_id + ", ?, " + text_id + ", ?, ?)");
  Statement put_block = source.prepare("INSERT INTO lane_block (lane_id, level, number, columns) VALUES (?, ?, ?, ?)");
  std::int64_t lanes = 0, blocks = 0;
  const int code = builder.finish([&](const Lane& lane, const std::vector<LaneBlock>& its) {
    const auto text = [&](int parameter, const std::string& value) {
      if (value.empty()) {
        put_lane.bind_null(parameter);
      } else {
        put_lane.bind(parameter, std::string_view(value));
      }
    };
    const auto where = [&](int parameter, bool has_meaning, std::int64_t value) {
      if (has_meaning) {
        put_lane.bind(parameter, value);
      } else {
        put_lane.bind_null(parameter);
      }
    };
    const LaneKind kind = lane.track.kind;
    put_lane.bind(1, static_cast<std::int64_t>(kind));
    where(2, lane.track.process != 0, lane.track.process);
    where(3, kind == LaneKind::stream || kind == LaneKind::managed || kind == LaneKind::sm, lane.track.device);
    where(4, kind == LaneKind::stream, lane.track.context);
    where(5, kind != LaneKind::managed, lane.track.number);
    text(6, lane.track.domain);
    put_lane.bind(7, std::int64_t{lane.row});
    text(8, lane.name);
    put_lane.bind(9, static_cast<std::int64_t>(lane.events));
    put_lane.bind(10, std::int64_t{lane.most});
    source.run(put_lane);
    const std::int64_t id = source.last_id();
    ++lanes;
    for (const LaneBlock& block : its) {
      const std::string bytes = pack_block(block);
      put_block.bind(1, id);
      put_block.bind(2, std::int64_t{block.level});
      put_block.bind(3, block.number);
      put_block.bind_bytes(4, bytes);
      source.run(put_block);
      ++blocks;
    }
    return source.code();
  });
  if (code != 0) return code;
  for (std::size_t k = 0; k < kRowKinds; ++k) {
    const LaneTable& table = kTables[k];
    const TimeNs bound = lengths[k].nearly_all();
    const std::string id = std::to_string(k), begin = table.begin, end = table.end;
    source.execute("INSERT INTO row_kind (id, rows, short_ns) VALUES (" + id + ", " + std::to_string(rows[k]) + ", " + std::to_string(bound) + ")");
    source.execute("INSERT INTO long_row (kind_id, row_id, begin_ns, end_ns) SELECT " + id + ", id, " + begin + ", " + end + " FROM " +
                   table.name + " WHERE " + end + " - " + begin + " > " + std::to_string(bound));
  }
  const Extent traced = traced_time(extents, site_waits, intervals);
  // Last: where it is, all the rest is.
  source.execute("INSERT INTO lane_extent (id, origin_ns, top_level, lanes, blocks, begin_ns, end_ns) VALUES (1, " +
                 std::to_string(shown.begin) + ", " + std::to_string(builder.top()) + ", " + std::to_string(lanes) + ", " +
                 std::to_string(blocks) + ", " + std::to_string(traced.begin) + ", " + std::to_string(traced.end) + ")");
  return source.code();
}

// --- Reading them.

Error Overview::damaged(const std::string& why) const {
  return bad_input(path_ + " is damaged (its summaries: " + why + "); copy it again, or record again");
}

Result<Overview> Overview::open(Database database, const std::string& path, const SummaryWatch& watch) {
  Overview overview;
  overview.database_ = std::move(database);
  overview.path_ = path;
  Database& from = overview.database_;
  overview.kept_ = from.integer("SELECT count(*) FROM lane_extent", 0) == 1;
  if (!overview.kept_) {
    int code = from.execute(create_summary_tables_sql(true));
    if (code == 0) code = from.execute("BEGIN");
    if (code == 0) code = summarise(from, watch);
    if (code == 0) code = from.execute("COMMIT");
    if (code == -1) return unavailable("summing up " + path + " was given up");
    if (code != 0) return overview.damaged(from.message());
  }
  if (const Result<> loaded = overview.load(); !loaded) return loaded.error();
  return Result<Overview>(std::move(overview));
}

Result<> Overview::load() {
  int code = 0;
  std::int64_t lanes = 0, blocks = 0, found = 0;
  const auto each = [&](const char* sql, auto take) {
    if (code != 0) return;
    Statement statement = database_.prepare(sql, code);
    while (code == 0 && statement.next(code)) take(statement);
  };
  each("SELECT origin_ns, top_level, lanes, blocks, begin_ns, end_ns FROM lane_extent WHERE id = 1", [&](const Statement& row) {
    origin_ = row.integer(0);
    top_level_ = static_cast<int>(row.integer(1));
    lanes = row.integer(2);
    blocks = row.integer(3);
    begin_ = row.integer(4);
    end_ = row.integer(5);
  });
  each("SELECT t.id, t.kind, t.process_id, t.device_id, t.context, t.number, d.value, t.row, n.value, t.events, t.most FROM lane t "
       "LEFT JOIN string d ON d.id = t.domain_id LEFT JOIN string n ON n.id = t.name_id ORDER BY t.id",
       [&](const Statement& row) {
         Lane lane;
         lane.id = static_cast<std::uint32_t>(row.integer(0));
         lane.track = {static_cast<LaneKind>(row.integer(1)), static_cast<ProcessId>(row.integer(2)), static_cast<DeviceId>(row.integer(3)),
                       static_cast<std::uint32_t>(row.integer(4)), static_cast<std::uint32_t>(row.integer(5)), std::string(row.text(6))};
         lane.row = static_cast<std::uint32_t>(row.integer(7));
         lane.name = row.text(8);
         lane.events = static_cast<std::uint64_t>(row.integer(9));
         lane.most = static_cast<std::uint32_t>(row.integer(10));
         lanes_.push_back(std::move(lane));
       });
  each("SELECT id, lane_id, level, number FROM lane_block", [&](const Statement& row) {
    blocks_[static_cast<std::uint32_t>(row.integer(1))][{static_cast<int>(row.integer(2)), row.integer(3)}] = row.integer(0);
    ++found;
  });
  each("SELECT id, rows, short_ns FROM row_kind", [&](const Statement& row) {
    const auto kind = static_cast<std::size_t>(row.integer(0));
    if (kind < kRowKinds) kinds_[kind] = {static_cast<std::uint64_t>(row.integer(1)), row.integer(2)};
  });
  if (code != 0) return damaged(database_.message());
  if (top_level_ < 0 || top_level_ > 26) return damaged("a level that there is not");
  if (static_cast<std::int64_t>(lanes_.size()) != lanes || found != blocks)
    return damaged(std::to_string(found) + " of " + std::to_string(blocks) + " blocks are there");
  for (const Lane& lane : lanes_) {
    if (!blocks_[lane.id].contains({top_level_, 0})) return damaged("a lane without its first block");
  }
  return ok();
}

std::uint64_t Overview::rows() const {
  std::uint64_t all = 0;
  for (const Kind& kind : kinds_) all += kind.rows;
  return all;
}

Result<std::vector<LaneBlock>> Overview::cover(std::uint32_t lane, TimeNs begin, TimeNs end, int level) const {
  std::vector<LaneBlock> list;
  const auto found = blocks_.find(lane);
  if (found == blocks_.end()) return list;
  const auto& blocks = found->second;
  int code = 0;
  Statement statement = database_.prepare("SELECT columns FROM lane_block WHERE id = ?", code);
  if (code != 0) return damaged(database_.message());
  // From the top down, left to right.
  std::vector<std::pair<int, std::int64_t>> open{{top_level_, 0}};
  while (!open.empty()) {
    const auto [at, number] = open.back();
    open.pop_back();
    const TimeNs from = origin_ + number * block_width(at);
    if (from >= end || from + block_width(at) <= begin) continue;
    if (at > level && blocks.contains({at - 1, number * 4})) {
      for (int child = 3; child >= 0; --child) open.emplace_back(at - 1, number * 4 + child);
      continue;
    }
    const auto block = blocks.find({at, number});
    if (block == blocks.end()) return damaged("a block is missing");
    statement.bind(1, block->second);
    if (!statement.next(code)) return damaged(database_.message());
    Result<LaneBlock> unpacked = unpack_block(statement.bytes(0), at, number);
    if (!unpacked) return damaged(unpacked.error().message);
    list.push_back(*std::move(unpacked));
    statement.reset();
  }
  return list;
}

Result<RowRange> Overview::range(TimeNs begin, TimeNs end) const {
  RowRange range{begin, end, {}};
  for (std::size_t k = 0; k < kRowKinds; ++k) range.kinds[k].short_ns = kinds_[k].short_ns;
  int code = 0;
  Statement statement = database_.prepare("SELECT kind_id, row_id FROM long_row WHERE begin_ns < ? AND end_ns >= ?", code);
  if (code != 0) return damaged(database_.message());
  statement.bind(1, end);
  statement.bind(2, begin);
  while (statement.next(code)) {
    const auto kind = static_cast<std::size_t>(statement.integer(0));
    if (kind < kRowKinds) range.kinds[kind].named.push_back(statement.integer(1));
  }
  if (code != 0) return damaged(database_.message());
  return range;
}

}  // namespace wicprof::store
