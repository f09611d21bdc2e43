#include "analyzer/trace/trace_model.h"

#include "analyzer/trace/wait_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <future>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <utility>

#include "analyzer/trace/damage.h"
#include "store/read/sort_rows.h"

namespace wicprof::analyzer {
namespace {

/// Widens [begin, end] by every interval that it is given.
struct Extent {
  bool any = false;
  TimeNs begin = 0, end = 0;

  void add(TimeNs from, TimeNs to) {
    begin = any ? std::min(begin, from) : from;
    end = any ? std::max(end, to) : to;
    any = true;
  }
};

/// The positive number in `meta`, mostly a time; nothing if the trace does not hold it.
std::optional<TimeNs> number_in(const TraceModel& model, store::MetaKey key) {
  const std::string text = model.meta_value(key);
  TimeNs time = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), time);
  if (error != std::errc() || end != text.data() + text.size() || time <= 0) return std::nullopt;
  return time;
}

/// When the recording began: the program's start, or the end of --delay.
std::optional<TimeNs> recorded_from(const TraceModel& model) {
  const std::optional<TimeNs> started = number_in(model, store::MetaKey::started_ns);
  if (!started) return std::nullopt;
  return std::max(*started, number_in(model, store::MetaKey::capture_from_ns).value_or(*started));
}

Extent extent_of(const TraceModel& model) {
  Extent extent;
  for_each_wait(model, [&](const WaitView& wait) {
    if (!wait.in_call) extent.add(wait.begin, wait.end);
  });
  for (const auto& signal : model.signals) extent.add(signal.at, signal.at);
  for (const auto& kernel : model.kernels) extent.add(kernel.start, kernel.end);
  for (const auto& copy : model.copies) extent.add(copy.start, copy.end);
  const auto add_sums = [&](std::initializer_list<store::SumOf> kinds) {
    for (const store::DigestSumRow& sum : model.digest_sums) {
      if (std::find(kinds.begin(), kinds.end(), sum.of) != kinds.end()) extent.add(sum.begin, sum.end);
    }
  };
  using store::SumOf;
  add_sums({SumOf::wait, SumOf::signal, SumOf::kernel, SumOf::copy});
  if (extent.any) return extent;
  // Without activity on a device, the activity of host threads counts.
  for (const auto& wait : model.host_waits) extent.add(wait.begin, wait.end);
  for (const auto& call : model.calls) extent.add(call.start, call.end);
  for (const auto& range : model.nvtx) extent.add(range.start, range.end);
  for (const auto& interval : model.pc_intervals) extent.add(interval.begin, interval.end);
  // What such a program does is mostly not recorded as events, so the whole run counts.
  for (const auto& sample : model.thread_samples) extent.add(sample.begin, sample.end);
  add_sums({SumOf::host_wait, SumOf::call, SumOf::nvtx, SumOf::thread_sample});
  if (const std::optional<Interval> run = recorded_run(model)) {
    extent.add(run->begin, run->end);
  } else if (const std::optional<TimeNs> from = recorded_from(model); from && extent.any) {
    extent.add(*from, *from);
  }
  return extent;
}

std::string why_incomplete(const TraceModel& model) {
  const std::string state = model.meta_value(store::MetaKey::state);
  if (state == "complete") return {};
  if (state == store::kWithoutLog) {
    return fmt::format(
        "{}-wal is missing, which holds the latest events: the trace was copied without it while it was recorded; copy "
        "both, or copy the trace after the run",
        model.name);
  }
  if (state == "recording") {
    return "the trace was never closed: it is still being written, or wic-prof was killed; what came after its last "
           "batch is missing";
  }
  return "the trace does not say whether it was closed";
}

}  // namespace

std::optional<Interval> recorded_run(const TraceModel& model) {
  const std::optional<TimeNs> from = recorded_from(model), ended = number_in(model, store::MetaKey::ended_ns);
  if (!from || !ended) return std::nullopt;
  const TimeNs until = std::min(*ended, number_in(model, store::MetaKey::capture_until_ns).value_or(*ended));
  const TimeNs kept = number_in(model, store::MetaKey::capture_keep_last_ns).value_or(until);
  if (until <= *from) return std::nullopt;
  return Interval{std::max(*from, until - kept), until};
}

std::string TraceModel::meta_value(store::MetaKey key) const {
  const auto found = meta.find(std::string(store::name_of(key)));
  return found == meta.end() ? std::string() : found->second;
}

store::ProcessId TraceModel::app() const {
  return static_cast<store::ProcessId>(number_in(*this, store::MetaKey::pid).value_or(0));
}

const store::SiteRow* TraceModel::site(SiteId id) const {
  const auto found = std::find_if(sites.begin(), sites.end(), [&](const auto& row) { return row.id == id; });
  return found == sites.end() ? nullptr : &*found;
}

const store::DeviceRow* TraceModel::device(DeviceId id) const {
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const auto& row) { return row.id == id; });
  return found == devices.end() ? nullptr : &*found;
}

const store::ProcessRow* TraceModel::process(store::ProcessId id) const {
  const auto found = std::find_if(processes.begin(), processes.end(), [&](const auto& row) { return row.id == id; });
  return found == processes.end() ? nullptr : &*found;
}

TimeNs TraceModel::clock_error(store::ProcessId first, store::ProcessId second) const {
  const auto a = joined_trace.find(first), b = joined_trace.find(second);
  if (a == joined_trace.end() || b == joined_trace.end()) return 0;
  const JoinedTrace &one = joined[a->second], &other = joined[b->second];
  return one.clock == other.clock ? 0 : one.error + other.error;
}

std::size_t TraceModel::program_processes() const {
  const auto count = std::count_if(processes.begin(), processes.end(), [](const auto& row) { return !is_own(row); });
  return static_cast<std::size_t>(count);
}

bool is_own(const store::ProcessRow& process) { return process.name == "wic-prof"; }

std::set<std::string> TraceModel::device_names() const {
  std::set<std::string> names;
  for (const store::DeviceRow& device : devices) {
    if (device.id != kHostDevice) names.insert(device.name);
  }
  return names;
}

bool TraceModel::has_gpu() const {
  return std::any_of(devices.begin(), devices.end(),
                     [](const store::DeviceRow& device) { return device.kind == DeviceKind::cuda; });
}

std::string TraceModel::site_name(SiteId id) const {
  const store::SiteRow* row = site(id);
  return row != nullptr && !row->name.empty() ? row->name : fmt::format("site {}", id);
}

std::string TraceModel::site_place(SiteId id) const {
  const store::SiteRow* row = id == 0 ? nullptr : site(id);
  return row != nullptr ? row->place : std::string();
}

std::string TraceModel::device_name(DeviceId id) const {
  if (id == kHostDevice) return "the CPU";
  const store::DeviceRow* row = device(id);
  return row != nullptr && !row->name.empty() ? row->name : fmt::format("device {}", id);
}

std::string TraceModel::device_key(DeviceId id) const {
  if (id == kHostDevice) return "cpu";
  return id >= kSimtDeviceBase ? fmt::format("simt:{}", id - kSimtDeviceBase) : fmt::format("cuda:{}", id);
}

namespace {

/// Computes the derived members from the sorted lists.
void derive(TraceModel& model) {
  const Extent extent = extent_of(model);
  model.begin = extent.begin;
  model.end = extent.end;
  model.incomplete_reason = why_incomplete(model);
  model.complete = model.incomplete_reason.empty();
}

}  // namespace

void settle(TraceModel& model) {
  store::for_each_table<store::ReadTables>(
      [&]<class Table>(store::Type<Table>) { store::sort_by_time<Table>(model.*Table::kRows); });
  derive(model);
}

namespace {

/// Reads the parts of a trace with several threads: each takes the next part that no thread has taken.
class Loading {
 public:
  Loading(const std::string& name, const LoadWatch& watch) : name_(name), watch_(watch) {}

  /// `read(reader)` gives a Result<T>.
  template <class Read, class T>
  void part(Read read, T& to) {
    parts_.push_back([read, &to](const store::Reader& reader) { return take(std::invoke(read, reader), to); });
  }

  /// Returns when no part is left, or one has failed.
  void help(const store::Reader& reader) {
    while (const std::optional<std::size_t> next = begin_next()) {
      std::optional<Error> error = parts_[*next](reader);
      if (!error) continue;
      const std::lock_guard lock(mutex_);
      // Of several failures, always reports the one of the first part.
      if (!error_ || *next < failed_) {
        error_ = std::move(error);
        failed_ = *next;
      }
    }
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  template <class T>
  static std::optional<Error> take(Result<T> from, T& to) {
    if (!from) return from.error();
    to = *std::move(from);
    return std::nullopt;
  }

  std::optional<std::size_t> begin_next() {
    const std::lock_guard lock(mutex_);
    if (error_ || next_ == parts_.size()) return std::nullopt;
    if (watch_ && !watch_(next_, parts_.size())) {
      error_ = unavailable("reading " + name_ + " was cancelled");
      failed_ = 0;
      return std::nullopt;
    }
    return next_++;
  }

  const std::string& name_;
  const LoadWatch& watch_;
  std::vector<std::function<std::optional<Error>(const store::Reader&)>> parts_;
  std::mutex mutex_;
  std::size_t next_ = 0, failed_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<TraceModel> load(const store::Reader& reader, std::string name, const LoadWatch& watch) {
  using store::Reader;
  TraceModel model;
  Result<std::map<std::string, std::string>> meta = reader.meta();
  if (!meta) return meta.error();
  model.meta = *std::move(meta);
  Loading loading(name, watch);
  // The parts that may take longest come first, so that the threads end together.
  loading.part(&Reader::pc_totals, model.pc_totals);
  store::for_each_table<store::ReadTables>([&]<class Table>(store::Type<Table>) {
    loading.part([](const Reader& from) { return from.rows<Table>(); }, model.*Table::kRows);
  });
  loading.part(&Reader::sass, model.sass);
  loading.part(&Reader::stats, model.stats);
  loading.part(&Reader::digest_sums, model.digest_sums);
  if (!model.meta_value(store::MetaKey::open_work).empty()) {
    loading.part(&Reader::last_signals, model.last_signals);
    loading.part(&Reader::last_messages, model.last_messages);
  }
  {
    const std::optional<Reader> other = reader.another();
    std::future<void> helper;
    // Deferred where the system refuses a thread.
    if (other) helper = std::async(std::launch::async | std::launch::deferred, [&] { loading.help(*other); });
    loading.help(reader);
    if (other) helper.get();
  }
  if (loading.error()) return *loading.error();
  model.name = std::move(name);
  remove_impossible_rows(model);
  derive(model);
  return model;
}

}  // namespace wicprof::analyzer
