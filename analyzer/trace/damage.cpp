#include "analyzer/trace/damage.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/measure/tasks.h"
#include "store/format/plausible_times.h"

namespace wicprof::analyzer {
namespace {

using store::kMaxDistance;
/// A sum may be so many times as long as a recording.
constexpr TimeNs kMostThreads = 256;

/// The times and lengths that a row may contain.
class PlausibleRange {
 public:
  explicit PlausibleRange(TimeNs middle) : times_(store::PlausibleTimes::around(middle)) {}

  /// 0 means an unknown time.
  bool time(TimeNs time) const { return time == 0 || times_.has(time); }
  bool time(const std::optional<TimeNs>& at) const { return !at || time(*at); }
  static bool length(TimeNs length) { return length >= -kMaxDistance && length <= kMaxDistance; }
  static bool length(const std::optional<TimeNs>& known) { return !known || length(*known); }

 private:
  store::PlausibleTimes times_;
};

/// A time close to most of the trace: the middle row's time in the longest list.
std::optional<TimeNs> middle_of(const TraceModel& model) {
  std::optional<TimeNs> middle;
  std::size_t most = 0;
  const auto consider = [&](const auto& rows, const auto& time_of) {
    if (rows.size() <= most) return;
    most = rows.size();
    middle = time_of(rows[rows.size() / 2]);
  };
  consider(model.waits, [](const auto& row) { return row.arrived; });
  consider(model.signals, [](const auto& row) { return row.at; });
  consider(model.host_waits, [](const auto& row) { return row.begin; });
  consider(model.kernels, [](const auto& row) { return row.start; });
  consider(model.copies, [](const auto& row) { return row.start; });
  consider(model.calls, [](const auto& row) { return row.start; });
  consider(model.syncs, [](const auto& row) { return row.start; });
  consider(model.overheads, [](const auto& row) { return row.start; });
  consider(model.thread_samples, [](const auto& row) { return row.begin; });
  consider(model.mpi_calls, [](const auto& row) { return row.begin; });
  consider(model.nvtx, [](const auto& row) { return row.start; });
  consider(model.uvm, [](const auto& row) { return row.start; });
  consider(model.pc_intervals, [](const auto& row) { return row.begin; });
  return middle;
}

class RowFilter {
 public:
  RowFilter(TraceModel& model, PlausibleRange possible) : model_(model), possible_(possible) {}

  void run() {
    const PlausibleRange& p = possible_;
    const auto span = [&](const auto& row) { return p.time(row.start) && p.time(row.end); };
    keep("wait", model_.waits, [&](const auto& row) {
      return p.time(row.arrived) && p.time(row.resumed) && p.time(row.ready) && p.time(row.switched);
    });
    keep("signal", model_.signals, [&](const auto& row) { return p.time(row.at); });
    keep("host_wait", model_.host_waits, [&](const auto& row) {
      return p.time(row.begin) && p.time(row.end) && p.length(row.cpu) && p.length(row.run_delay);
    });
    keep("kernel", model_.kernels, span);
    keep("copy", model_.copies, span);
    keep("call", model_.calls, span);
    keep("sync", model_.syncs, span);
    keep("cuda_event", model_.cuda_events, [&](const auto& row) { return p.time(row.at); });
    keep("overhead", model_.overheads, span);
    keep("thread_sample", model_.thread_samples, [&](const auto& row) {
      return p.time(row.begin) && p.time(row.end) && p.length(row.cpu) && p.length(row.run_delay);
    });
    keep("nvtx", model_.nvtx, span);
    keep("uvm", model_.uvm, span);
    keep("intervention", model_.interventions,
         [&](const auto& row) { return p.time(row.requested) && p.time(row.effective); });
    keep("choice", model_.choices,
         [&](const auto& row) { return p.time(row.at) && p.length(row.median_wait) && p.length(row.look); });
    keep("decision", model_.decisions, [&](const auto& row) {
      return p.time(row.from) && p.time(row.at) && p.length(row.poll) && p.length(row.park) && p.length(row.poll_p99) &&
             p.length(row.park_p99);
    });
    keep("wait_count", model_.wait_counts, [&](const auto& row) {
      return p.time(row.begin) && p.time(row.end) && row.timed_time >= 0 &&
             row.timed_time / kMostThreads <= kMaxDistance && row.one_in >= 1 &&
             static_cast<double>(std::abs(row.sampled)) <= static_cast<double>(row.sampled_squares);
    });
    keep("energy", model_.energy, [&](const auto& row) { return p.time(row.at); });
    keep("device_state", model_.device_states, [&](const auto& row) { return p.time(row.at); });
    keep("pc_interval", model_.pc_intervals, [&](const auto& row) { return p.time(row.begin) && p.time(row.end); });
    keep("pc_sample", model_.pc_totals, [&](const auto& row) { return p.time(row.begin) && p.time(row.end); });
    // A length counts as often as its row stands for others.
    const auto call = [&](const auto& row) {
      return p.time(row.begin) && p.time(row.end) &&
             std::abs(row.end - row.begin) <= kMaxDistance / std::max<TimeNs>(1, row.stands_for);
    };
    keep("mpi_call", model_.mpi_calls, call);
    keep("mpi_request", model_.mpi_requests, [=](const auto& row) { return call(row) && p.time(row.posted); });
    keep("digest_sum", model_.digest_sums, [&](const auto& row) {
      return p.time(row.begin) && p.time(row.end) && row.total >= 0 && row.total / kMostThreads <= kMaxDistance &&
             row.longest >= 0 && p.length(row.longest);
    });
    keep("process", model_.processes, [&](const auto& row) { return p.time(row.seen); });
    tasks_.run();
    for (const Removed& removed : removed_) {
      if (removed.rows == 0) continue;
      model_.stats.push_back({"impossible_rows",
                              std::string(removed.table) + ": impossible times or lengths; the trace is damaged",
                              store::StatRow::Severity::data_loss, static_cast<std::int64_t>(removed.rows)});
    }
    for (store::DeviceRow& device : model_.devices) {
      if (!p.length(device.clock_error_ns) || device.clock_error_ns.value_or(0) < 0) device.clock_error_ns.reset();
    }
  }

 private:
  template <class Rows, class Keeps>
  void keep(std::string_view table, Rows& rows, const Keeps& keeps) {
    std::size_t& removed = removed_.emplace_back(Removed{table, 0}).rows;
    tasks_.add([&rows, keeps, &removed] {
      const auto impossible = [&](const auto& row) { return !keeps(row); };
      if constexpr (requires { rows.erase_if(impossible); }) {
        removed = rows.erase_if(impossible);
      } else {
        removed = std::erase_if(rows, impossible);
      }
    });
  }

  struct Removed {
    std::string_view table;
    std::size_t rows = 0;
  };

  TraceModel& model_;
  const PlausibleRange possible_;
  std::deque<Removed> removed_;  // in the order of the tables
  Tasks tasks_;
};

}  // namespace

void remove_impossible_rows(TraceModel& model) {
  // If the middle itself is impossible, only rows without times remain.
  RowFilter(model, PlausibleRange(middle_of(model).value_or(0))).run();
}

}  // namespace wicprof::analyzer
