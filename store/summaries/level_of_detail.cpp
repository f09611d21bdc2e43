#include "store/summaries/level_of_detail.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/format/plausible_times.h"
#include "store/format/rows.h"
#include "store/summaries/lane_builder.h"
#include "store/summaries/wait_states.h"

namespace wicprof::store {

namespace {

/// Runs statements and reads rows; after the first failure every call does nothing.
class Source {
 public:
  Source(Database& database, const SummaryWatch& watch) : database_(database), watch_(watch) {}

  /// Calls `take(row)` for each row.
  template <class Take>
  void each(const std::string& sql, Take take) {
    if (code_ != 0) return;
    Statement statement = database_.prepare(sql, code_);
    while (code_ == 0 && statement.next(code_)) {
      take(statement);
      if (++read_ % kRowsPerLook == 0) look();
    }
  }
  /// Reports the progress; stops if the watcher says so.
  void look() {
    // Without an expectation, all rows have been read.
    const double part = expected == 0 ? 1.0 : std::min(1.0, static_cast<double>(read_) / static_cast<double>(expected));
    if (code_ == 0 && watch_ && !watch_(part)) code_ = -1;
  }
  bool next(Statement& statement) { return code_ == 0 && statement.next(code_); }
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
  std::uint64_t expected = 0;  // rows

 private:
  static constexpr std::uint64_t kRowsPerLook = 4096;  // about a millisecond

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

/// Finds a bound that at least 63 of 64 lengths stay below.
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

/// Reads the trace's kernels in order of time, so that memory holds only those that run at once.
class KernelsInOrder {
 public:
  explicit KernelsInOrder(Source& source)
      : source_(source),
        rows_(source.prepare("SELECT device_id, start_ns, end_ns, grid_x, grid_y, grid_z, block_x, block_y, block_z "
                             "FROM kernel ORDER BY start_ns")) {}

  /// Passes the kernels that began up to `time` to `to`. Times of successive calls do not decrease.
  void up_to(TimeNs time, WaitStates& to) {
    for (; next() && next_->start <= time; next_.reset()) to.begin_kernel(shape_of(*next_));
  }

 private:
  bool next() {
    if (next_ || done_) return !done_;
    done_ = !source_.next(rows_);
    if (done_) return false;
    KernelRow& kernel = next_.emplace();
    kernel.device = static_cast<DeviceId>(rows_.integer(0));
    kernel.start = rows_.integer(1);
    kernel.end = rows_.integer(2);
    for (int i = 0; i < 3; ++i) {
      kernel.grid[i] = static_cast<std::uint32_t>(rows_.integer(3 + i));
      kernel.block[i] = static_cast<std::uint32_t>(rows_.integer(6 + i));
    }
    return true;
  }

  Source& source_;
  Statement rows_;
  std::optional<KernelRow> next_;
  bool done_ = false;
};

/// Passes every row that a lane shows to the builder: the first pass counts, the second (`adding`) sums.
class Walk {
 public:
  /// Rows with times outside `times` are on no lane.
  Walk(Source& source, LaneBuilder& builder, WaitStates& states, const PlausibleTimes& times, bool adding)
      : source_(source), builder_(builder), states_(states), times_(times), adding_(adding) {}

  void all() {
    waits();
    signals();
    spans("SELECT process_id, thread, 0, 0, begin_ns, end_ns, 0, id, cpu_ns FROM host_wait",
          "SELECT process_id, thread, 0, 0, start_ns, end_ns, 1, id, NULL FROM call", [](const Statement& row) {
            TrackKey key{LaneKind::thread, static_cast<ProcessId>(row.integer(0)), 0, 0,
                         static_cast<std::uint32_t>(row.integer(1))};
            if (row.integer(6) != 0) return std::pair(key, State::calling);
            return std::pair(key,
                             state_of_host_wait(row.integer(4), row.integer(5), row.is_null(8) ? -1 : row.integer(8)));
          });
    delays();
    streams();
    spans(
        "SELECT process_id, thread, 0, 0, start_ns, end_ns, 0, id, (SELECT value FROM string WHERE string.id = "
        "domain_id) FROM nvtx",
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
      return static_cast<std::size_t>(((w.device * 0x9e3779b97f4a7c15ll) ^ (w.block * 64 + w.warp)) *
                                      0x2545f4914f6cdd1dll);
    }
  };

  void waits() {
    std::unordered_map<Warp, Stay, WarpHash> stays;
    KernelsInOrder kernels(source_);
    const std::string sql =
        "SELECT device_id, sm, arrived_ns, resumed_ns, strategy_id, switched_ns, block, warp, iteration, site_id, "
        "polls FROM wait";
    source_.each(adding_ ? sql + " ORDER BY arrived_ns, id" : sql, [&](const Statement& row) {
      const WaitRow wait = wait_of(row);
      if (!times_.has(wait.arrived, wait.resumed)) return;
      FineTrack& track = sm_track(wait.device, wait.sm);
      if (!adding_) {
        states_.add_wait(wait);
        return builder_.count(track, wait.arrived);
      }
      kernels.up_to(wait.arrived, states_);
      const WaitStates::Own own = states_.own(wait);
      const std::uint32_t others = states_.others(wait);
      FineLane& lane = builder_.lane(track, 0);
      builder_.add_begin(track, lane, wait.arrived);
      builder_.add_time(track, lane, own.first, wait.arrived, own.change);
      builder_.add_time(track, lane, own.last, own.change, wait.resumed);
      builder_.add_time(track, lane, State::at_barrier, wait.arrived, wait.resumed, others);
      Stay& stay = stays[{wait.device, wait.block, wait.warp}];
      if (const auto since = stay.computed_since(wait.sm, wait.iteration))
        builder_.add_time(track, lane, State::computing, *since, wait.arrived, 1 + others);
      stay.add(wait.sm, wait.iteration, wait.resumed);
    });
  }

  static WaitRow wait_of(const Statement& row) {
    WaitRow wait{};
    wait.device = static_cast<DeviceId>(row.integer(0));
    wait.sm = static_cast<std::uint32_t>(row.integer(1));
    wait.arrived = row.integer(2);
    wait.resumed = row.integer(3);
    wait.strategy = static_cast<StrategyId>(row.integer(4));
    if (!row.is_null(5)) wait.switched = row.integer(5);
    wait.block = static_cast<std::uint32_t>(row.integer(6));
    wait.warp = static_cast<std::uint32_t>(row.integer(7));
    wait.iteration = static_cast<std::uint32_t>(row.integer(8));
    wait.site = static_cast<SiteId>(row.integer(9));
    wait.polls = static_cast<std::uint32_t>(row.integer(10));
    return wait;
  }

  FineTrack& sm_track(DeviceId device, std::uint32_t sm) {
    FineTrack*& found = sms_[std::uint64_t{static_cast<std::uint32_t>(device)} << 32 | sm];
    if (found == nullptr) found = &builder_.track({LaneKind::sm, 0, device, 0, sm});
    return *found;
  }

  void signals() {
    source_.each("SELECT site_id, at_ns FROM signal", [&](const Statement& row) {
      if (!times_.has(row.integer(1))) return;
      FineTrack& track = builder_.track({LaneKind::signals, 0, 0, 0, static_cast<std::uint32_t>(row.integer(0))});
      if (!adding_) return builder_.count(track, row.integer(1));
      FineLane& lane = builder_.lane(track, 0);
      builder_.add_begin(track, lane, row.integer(1));
    });
  }

  /// Rows of one or two tables. Columns: process, number, context, device, begin, end, which table, id, and one more
  /// that determines the state or the track.
  template <class Place>
  void spans(const std::string& first, const std::string& second, Place place) {
    std::string sql = second.empty() ? first : first + " UNION ALL " + second;
    // Of two spans that begin together the longer is the outer one; equal ones keep the order of recording.
    if (adding_) sql += " ORDER BY 5, 6 DESC, 7, 8";
    source_.each(sql, [&](const Statement& row) {
      if (!times_.has(row.integer(4), row.integer(5))) return;
      const auto [key, state] = place(row);
      span(key, state, row.integer(4), row.integer(5));
    });
  }

  void span(const TrackKey& key, State state, TimeNs begin, TimeNs end) {
    FineTrack& track = builder_.track(key);
    if (!adding_) return builder_.count(track, begin);
    FineLane& lane = builder_.free_row(track, begin, end);
    builder_.add_begin(track, lane, begin);
    builder_.add_time(track, lane, state, begin, end);
  }

  /// A stream whose events are all of one kernel has the kernel's name.
  void streams() {
    constexpr std::int64_t kMixed = 0;  // no text has this id
    std::map<TrackKey, std::int64_t> kernels;
    std::pair<const TrackKey, std::int64_t>* last = nullptr;
    spans("SELECT process_id, stream, context, device_id, start_ns, end_ns, 0, id, name_id FROM kernel",
          "SELECT process_id, stream, context, device_id, start_ns, end_ns, 1, id, 0 FROM copy",
          [&](const Statement& row) {
            const TrackKey key{LaneKind::stream, static_cast<ProcessId>(row.integer(0)),
                               static_cast<DeviceId>(row.integer(3)), static_cast<std::uint32_t>(row.integer(2)),
                               static_cast<std::uint32_t>(row.integer(1))};
            if (last == nullptr || last->first != key) last = &*kernels.try_emplace(key, row.integer(8)).first;
            if (last->second != row.integer(8)) last->second = kMixed;
            return std::pair(key, row.integer(6) != 0 ? State::transferring : State::computing);
          });
    if (!adding_) return;
    for (const auto& [key, kernel] : kernels) {
      if (kernel == kMixed) continue;
      source_.each("SELECT value FROM string WHERE id = " + std::to_string(kernel),
                   [&, &of = key](const Statement& row) { builder_.track(of).name = row.text(0); });
    }
  }

  void delays() {
    struct Delay {
      TrackKey key;
      TimeNs begin, end;
    };
    std::vector<Delay> list;  // few: about ten samples per thread and second
    std::map<TrackKey, std::string> names;
    source_.each(
        "SELECT process_id, thread, begin_ns, end_ns, run_delay_ns, (SELECT value FROM string WHERE string.id = "
        "name_id) "
        "FROM thread_sample ORDER BY begin_ns, id",
        [&](const Statement& row) {
          TrackKey key{LaneKind::delay, static_cast<ProcessId>(row.integer(0)), 0, 0,
                       static_cast<std::uint32_t>(row.integer(1))};
          names[key] = row.text(5);
          if (!times_.has(row.integer(2), row.integer(3))) return;
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
  LaneBuilder& builder_;
  WaitStates& states_;
  const PlausibleTimes& times_;
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

/// A time close to most of the trace: the median begin of some rows of the longest table, spread over its ids.
TimeNs middle_of(Database& database) {
  constexpr std::int64_t kSamples = 65;
  std::int64_t most = 0;
  const LaneTable* longest = nullptr;
  for (const LaneTable& table : kLaneTables) {
    const std::int64_t count = database.integer(std::string("SELECT count(*) FROM ") + table.name);
    if (count > most) longest = &table;
    most = std::max(most, count);
  }
  if (longest == nullptr) return 0;
  const std::string table = longest->name;
  const std::int64_t first = database.integer("SELECT min(id) FROM " + table),
                     last = database.integer("SELECT max(id) FROM " + table);
  const std::uint64_t step = (static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first)) / kSamples;
  int code = 0;
  Statement at = database.prepare(
      std::string("SELECT ") + longest->begin + " FROM " + table + " WHERE id >= ? ORDER BY id LIMIT 1", code);
  std::vector<TimeNs> begins;
  for (std::int64_t i = 0; i < kSamples && code == 0; ++i) {
    at.bind(1, static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(i) * step));
    if (at.next(code)) begins.push_back(at.integer(0));
    at.reset();
  }
  if (begins.empty()) return 0;
  const auto middle = begins.begin() + static_cast<std::ptrdiff_t>(begins.size() / 2);
  std::nth_element(begins.begin(), middle, begins.end());
  return *middle;
}

/// Facts about the trace's rows, known before the first pass.
struct Rows {
  PlausibleTimes times{};  // of the rows that lanes show
  std::array<Extent, kRowKinds> extents;
  std::array<Lengths, kRowKinds> lengths;
  std::array<std::uint64_t, kRowKinds> count{};
  Extent shown;   // of all rows
  Extent traced;  // as in analyzer::TraceModel
};

std::string plausible_sql(const std::string& begin, const std::string& end, const PlausibleTimes& times) {
  const std::string between = " BETWEEN " + std::to_string(times.from) + " AND " + std::to_string(times.upto);
  return begin + between + " AND " + end + between;
}

Rows survey_rows(Source& source, const PlausibleTimes& times) {
  Rows rows;
  rows.times = times;
  for (std::size_t k = 0; k < kRowKinds; ++k) {
    const LaneTable& table = kLaneTables[k];
    source.each(std::string("SELECT ") + table.begin + ", " + table.end + " FROM " + table.name,
                [&](const Statement& row) {
                  ++rows.count[k];
                  if (!times.has(row.integer(0), row.integer(1))) return;
                  const TimeNs begin = row.integer(0), end = std::max<TimeNs>(row.integer(1), begin);
                  rows.extents[k].add({true, begin, end});
                  rows.lengths[k].add(end - begin);
                });
    rows.shown.add(rows.extents[k]);
  }
  Extent site_waits, intervals;
  const auto bounds = [&](const std::string& sql, Extent& to) {
    source.each(sql, [&](const Statement& row) {
      if (!row.is_null(0)) to.add({true, row.integer(0), row.integer(1)});
    });
  };
  const std::string plausible = plausible_sql("begin_ns", "end_ns", times);
  bounds("SELECT min(begin_ns), max(end_ns) FROM host_wait WHERE site_id <> 0 AND " + plausible, site_waits);
  bounds("SELECT min(begin_ns), max(end_ns) FROM pc_interval WHERE " + plausible, intervals);
  rows.traced = traced_time(rows.extents, site_waits, intervals);
  return rows;
}

/// Writes the tables `lane` and `lane_block`.
class LaneWriter {
 public:
  explicit LaneWriter(Source& source)
      : source_(source),
        put_lane_(source.prepare(
            "INSERT INTO lane (kind, process_id, device_id, context, number, domain_id, row, name_id, events, most) "
            "VALUES (?, ?, ?, ?, ?, " +
            kTextId + ", ?, " + kTextId + ", ?, ?)")),
        put_block_(source.prepare("INSERT INTO lane_block (lane_id, level, number, columns) VALUES (?, ?, ?, ?)")) {}

  void put(const Lane& lane, const std::vector<LaneBlock>& lane_blocks) {
    const LaneKind kind = lane.track.kind;
    put_lane_.bind(1, static_cast<std::int64_t>(kind));
    bind_if(2, lane.track.process != 0, lane.track.process);
    bind_if(3, kind == LaneKind::stream || kind == LaneKind::managed || kind == LaneKind::sm, lane.track.device);
    bind_if(4, kind == LaneKind::stream, lane.track.context);
    bind_if(5, kind != LaneKind::managed, lane.track.number);
    bind_text(6, lane.track.domain);
    put_lane_.bind(7, std::int64_t{lane.row});
    bind_text(8, lane.name);
    put_lane_.bind(9, static_cast<std::int64_t>(lane.events));
    put_lane_.bind(10, std::int64_t{lane.most});
    source_.run(put_lane_);
    const std::int64_t id = source_.last_id();
    ++lanes_;
    for (const LaneBlock& block : lane_blocks) put(id, block);
  }
  std::int64_t lanes() const { return lanes_; }
  std::int64_t blocks() const { return blocks_; }

 private:
  inline static const std::string kTextId = "(SELECT id FROM string WHERE value = ? LIMIT 1)";

  void put(std::int64_t lane, const LaneBlock& block) {
    const std::string bytes = pack_block(block);
    put_block_.bind(1, lane);
    put_block_.bind(2, std::int64_t{block.level});
    put_block_.bind(3, block.number);
    put_block_.bind_bytes(4, bytes);
    source_.run(put_block_);
    ++blocks_;
  }
  void bind_text(int parameter, const std::string& value) {
    if (value.empty()) {
      put_lane_.bind_null(parameter);
    } else {
      put_lane_.bind(parameter, std::string_view(value));
    }
  }
  void bind_if(int parameter, bool has_meaning, std::int64_t value) {
    if (has_meaning) {
      put_lane_.bind(parameter, value);
    } else {
      put_lane_.bind_null(parameter);
    }
  }

  Source& source_;
  Statement put_lane_, put_block_;
  std::int64_t lanes_ = 0, blocks_ = 0;
};

}  // namespace

std::string create_summary_tables_sql(bool temporary) {
  const std::string create = temporary ? "CREATE TEMP TABLE " : "CREATE TABLE ";
  return create +
         "lane (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, process_id INTEGER, device_id INTEGER, context INTEGER, "
         "number INTEGER, domain_id INTEGER, row INTEGER NOT NULL, name_id INTEGER, events INTEGER NOT NULL, "
         "most INTEGER NOT NULL) STRICT;\n" +
         create +
         "lane_block (id INTEGER PRIMARY KEY, lane_id INTEGER NOT NULL, level INTEGER NOT NULL, number INTEGER NOT "
         "NULL, "
         "columns BLOB NOT NULL) STRICT;\n" +
         create +
         "lane_extent (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, origin_ns INTEGER NOT NULL, top_level INTEGER "
         "NOT NULL, lanes INTEGER NOT NULL, "
         "blocks INTEGER NOT NULL, begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL) STRICT;\n" +
         create + "row_kind (id INTEGER PRIMARY KEY, rows INTEGER NOT NULL, short_ns INTEGER NOT NULL) STRICT;\n" +
         create +
         "long_row (id INTEGER PRIMARY KEY, kind_id INTEGER NOT NULL, row_id INTEGER NOT NULL, begin_ns INTEGER NOT "
         "NULL, "
         "end_ns INTEGER NOT NULL) STRICT;\n";
}

struct Summary::State {
  struct Kind {
    std::uint64_t rows = 0;
    TimeNs short_ns = 0;  // nearly all are no longer
  };
  PlausibleTimes times{};
  std::array<Kind, kRowKinds> kinds;
  TimeNs shown_begin = 0, traced_begin = 0, traced_end = 0;
  std::optional<LaneBuilder> builder;
};

Summary::Summary() : state_(std::make_unique<State>()) {}
Summary::Summary(Summary&&) noexcept = default;
Summary& Summary::operator=(Summary&&) noexcept = default;
Summary::~Summary() = default;

int Summary::read(Database& database, const SummaryWatch& watch) {
  Source source(database, watch);
  for (const LaneTable& table : kLaneTables)
    source.expected +=
        static_cast<std::uint64_t>(database.integer(std::string("SELECT count(*) FROM ") + table.name)) * 3;
  const Rows rows = survey_rows(source, PlausibleTimes::around(middle_of(database)));
  if (source.code() != 0) return source.code();
  state_->times = rows.times;
  for (std::size_t k = 0; k < kRowKinds; ++k) state_->kinds[k] = {rows.count[k], rows.lengths[k].nearly_all()};
  state_->shown_begin = rows.shown.begin;
  state_->traced_begin = rows.traced.begin;
  state_->traced_end = rows.traced.end;
  LaneBuilder& builder = state_->builder.emplace(rows.shown.begin, rows.shown.end);
  WaitStates states;
  source.each("SELECT id, pollers FROM site", [&](const Statement& row) {
    states.add_site(static_cast<SiteId>(row.integer(0)), static_cast<Pollers>(row.integer(1)));
  });
  Walk(source, builder, states, rows.times, false).all();
  if (source.code() != 0) return source.code();
  builder.split();
  Walk(source, builder, states, rows.times, true).all();
  return source.code();
}

int Summary::write(Database& database, const SummaryWatch& watch) {
  Source source(database, watch);
  LaneBuilder& builder = *state_->builder;
  LaneWriter writer(source);
  const int code = builder.finish([&](const Lane& lane, const std::vector<LaneBlock>& blocks) {
    writer.put(lane, blocks);
    source.look();
    return source.code();
  });
  if (code != 0) return code;
  for (std::size_t k = 0; k < kRowKinds; ++k) {
    const LaneTable& table = kLaneTables[k];
    const State::Kind& kind = state_->kinds[k];
    const std::string id = std::to_string(k), begin = table.begin, end = table.end;
    source.execute("INSERT INTO row_kind (id, rows, short_ns) VALUES (" + id + ", " + std::to_string(kind.rows) + ", " +
                   std::to_string(kind.short_ns) + ")");
    source.execute("INSERT INTO long_row (kind_id, row_id, begin_ns, end_ns) SELECT " + id + ", id, " + begin + ", " +
                   end + " FROM " + table.name + " WHERE " + plausible_sql(begin, end, state_->times) + " AND " + end +
                   " - " + begin + " > " + std::to_string(kind.short_ns));
  }
  // Written last: its presence means that the summaries are complete.
  source.execute(
      "INSERT INTO lane_extent (id, version, origin_ns, top_level, lanes, blocks, begin_ns, end_ns) VALUES (1, " +
      std::to_string(kSummaryVersion) + ", " + std::to_string(state_->shown_begin) + ", " +
      std::to_string(builder.top()) + ", " + std::to_string(writer.lanes()) + ", " + std::to_string(writer.blocks()) +
      ", " + std::to_string(state_->traced_begin) + ", " + std::to_string(state_->traced_end) + ")");
  return source.code();
}

int summarise(Database& database, const SummaryWatch& watch) {
  Summary summary;
  const int code = summary.read(database, watch);
  return code == 0 ? summary.write(database, watch) : code;
}

}  // namespace wicprof::store
