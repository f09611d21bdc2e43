#include "analyzer/trace/damage.h"

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analyzer/measure/tasks.h"

namespace wicprof::analyzer {
namespace {

constexpr TimeNs kLongest = TimeNs{1} << 50;  // 13 days

/// What a row may hold.
class Possible {
 public:
  explicit Possible(TimeNs middle) : from_(middle - kLongest), upto_(middle + kLongest) {}

  /// 0 stands for a time that is not known.
  bool time(TimeNs time) const { return time == 0 || (time >= from_ && time <= upto_); }
  bool time(const std::optional<TimeNs>& at) const { return !at || time(*at); }
  static bool length(TimeNs length) { return length >= -kLongest && length <= kLongest; }
  static bool length(const std::optional<TimeNs>& known) { return !known || length(*known); }

 private:
  TimeNs from_, upto_;
};

/// A time of which most of the trace is not far: that in the middle of the longest list.
std::optional<TimeNs> middle_of(const TraceModel& model) {
  std::optional<TimeNs> middle;
  std::size_t most = 0;
  const auto look = [&](const auto& rows, const auto& time_of) {
    if (rows.size() <= most) return;
    most = rows.size();
    middle = time_of(rows[rows.size() / 2]);
  };
  look(model.waits, [](const auto& row) { return row.arrived; });
  look(model.signals, [](const auto& row) { return row.at; });
  look(model.host_waits, [](const auto& row) { return row.begin; });
  look(model.kernels, [](const auto& row) { return row.start; });
  look(model.copies, [](const auto& row) { return row.start; });
  look(model.calls, [](const auto& row) { return row.start; });
  look(model.syncs, [](const auto& row) { return row.start; });
  look(model.overheads, [](const auto& row) { return row.start; });
  look(model.thread_samples, [](const auto& row) { return row.begin; });
  look(model.nvtx, [](const auto& row) { return row.start; });
  look(model.uvm, [](const auto& row) { return row.start; });
  look(model.pc_intervals, [](const auto& row) { return row.begin; });
  return middle;
}

class Removing {
 public:
  Removing(TraceModel& model, Possible possible) : model_(model), possible_(possible) {}

  void run() {
    const Possible& p = possible_;
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
    keep("pc_interval", model_.pc_intervals, [&](const auto& row) { return p.time(row.begin) && p.time(row.end); });
    keep("pc_sample", model_.pc_totals, [&](const auto& row) { return p.time(row.begin) && p.time(row.end); });
    keep("process", model_.processes, [&](const auto& row) { return p.time(row.seen); });
    tasks_.run();
    for (const Kept& kept : kept_) {
      if (kept.removed == 0) continue;
      model_.stats.push_back({"impossible_rows",
                              std::string(kept.table) + ": times or lengths that cannot be; the trace is damaged",
                              store::StatRow::Severity::data_loss, static_cast<std::int64_t>(kept.removed)});
    }
    for (store::DeviceRow& device : model_.devices) {
      if (!p.length(device.clock_error_ns) || device.clock_error_ns.value_or(0) < 0) device.clock_error_ns.reset();
    }
  }

 private:
  template <class Row, class Keeps>
  void keep(std::string_view table, std::vector<Row>& rows, const Keeps& keeps) {
    std::size_t& removed = kept_.emplace_back(Kept{table, 0}).removed;
    tasks_.add(
        [&rows, keeps, &removed] { removed = std::erase_if(rows, [&](const Row& row) { return !keeps(row); }); });
  }

  struct Kept {
    std::string_view table;
    std::size_t removed = 0;
  };

  TraceModel& model_;
  const Possible possible_;
  std::deque<Kept> kept_;  // in the order of the tables
  Tasks tasks_;
};

}  // namespace

void remove_impossible_rows(TraceModel& model) {
  // A middle that is impossible itself leaves nothing but what has no times.
  const TimeNs middle = middle_of(model).value_or(0);
  const bool sane = middle > -(TimeNs{1} << 61) && middle < (TimeNs{1} << 61);
  Removing(model, Possible(sane ? middle : 0)).run();
}

}  // namespace wicprof::analyzer
