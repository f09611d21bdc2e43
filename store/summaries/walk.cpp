#include "store/summaries/walk.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/format/rows.h"

namespace wicprof::store {

namespace {

/// Reads the trace's kernels in order of time, so that memory holds only those that run at once.
class KernelsInOrder {
 public:
  explicit KernelsInOrder(RowSource& source)
      : source_(source),
        rows_(source.prepare("SELECT device_id, start_ns, end_ns, grid_x, grid_y, grid_z, block_x, block_y, block_z, "
                             "graph, graph_node FROM kernel ORDER BY start_ns")) {}

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
    if (!rows_.is_null(9)) {
      kernel.graph = static_cast<std::uint32_t>(rows_.integer(9));
      kernel.graph_node = static_cast<std::uint64_t>(rows_.integer(10));
    }
    return true;
  }

  RowSource& source_;
  Statement rows_;
  std::optional<KernelRow> next_;
  bool done_ = false;
};

/// The first pass counts, the second (`adding`) sums.
class Walk {
 public:
  /// Rows with times outside `times` are on no lane.
  Walk(RowSource& source, LaneBuilder& builder, WaitStates& states, const PlausibleTimes& times, bool adding)
      : source_(source), builder_(builder), states_(states), times_(times), adding_(adding) {}

  void all() {
    waits();
    signals();
    spans("SELECT process_id, thread, 0, 0, begin_ns, end_ns, 0, id, cpu_ns, " + own_way() +
              ", coalesce(polls, 0) FROM host_wait",
          "SELECT process_id, thread, 0, 0, start_ns, end_ns, 1, id, NULL, 0, 0 FROM call", [](const Statement& row) {
            const TrackKey key = thread_of(row);
            if (row.integer(6) != 0) return std::pair(key, state_of(RowKind::call));
            return std::pair(key,
                             state_of_host_wait(row.integer(4), row.integer(5), row.is_null(8) ? -1 : row.integer(8),
                                                row.integer(10), row.integer(9) != 0));
          });
    delays();
    streams();
    spans(
        "SELECT process_id, thread, 0, 0, start_ns, end_ns, 0, id, (SELECT value FROM string WHERE string.id = "
        "domain_id) FROM nvtx",
        "", [](const Statement& row) {
          return std::pair(TrackKey{LaneKind::nvtx, static_cast<ProcessId>(row.integer(0)), 0, 0,
                                    static_cast<std::uint32_t>(row.integer(1)), std::string(row.text(8))},
                           state_of(RowKind::nvtx));
        });
    spans("SELECT 0, 0, 0, device_id, start_ns, end_ns, 0, id, kind FROM uvm", "", [](const Statement& row) {
      return std::pair(TrackKey{LaneKind::managed, 0, static_cast<DeviceId>(row.integer(3))},
                       state_of_migration(static_cast<UvmKind>(row.integer(8))));
    });
  }

 private:
  /// Of a row whose first columns are the process and the thread.
  static TrackKey thread_of(const Statement& row, LaneKind kind = LaneKind::thread) {
    return track_of_thread(static_cast<ProcessId>(row.integer(0)), static_cast<std::uint32_t>(row.integer(1)), kind);
  }

  /// SQL: whether the thread waited in a call, in the program's own way. Traces before version 7 know no other way.
  std::string own_way() {
    bool has_strategy = false;
    source_.each("SELECT 1 FROM pragma_table_info('host_wait') WHERE name = 'strategy_id'",
                 [&](const Statement&) { has_strategy = true; });
    return std::string("(site_id IS NULL OR call_id IS NOT NULL)") +
           (has_strategy ? " AND coalesce(strategy_id, 0) = 0" : "");
  }

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
      FineLane& lane = builder_.lane(track, 0);
      builder_.add_begin(track, lane, wait.arrived);
      each_stretch(wait, states_.own(wait), states_.others(wait), stays[{wait.device, wait.block, wait.warp}],
                   [&](State state, TimeNs begin, TimeNs end, std::uint32_t warps) {
                     builder_.add_time(track, lane, state, begin, end, warps);
                   });
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
            return std::pair(key, state_of(row.integer(6) != 0 ? RowKind::copy : RowKind::kernel));
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
          const TrackKey key = thread_of(row, LaneKind::delay);
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

  RowSource& source_;
  LaneBuilder& builder_;
  WaitStates& states_;
  const PlausibleTimes& times_;
  bool adding_;
  std::unordered_map<std::uint64_t, FineTrack*> sms_;
};

}  // namespace

void walk_rows(RowSource& source, const PlausibleTimes& times, Pass pass, WaitStates& states, LaneBuilder& builder) {
  Walk(source, builder, states, times, pass == Pass::sum).all();
}

}  // namespace wicprof::store
