// The trace in Chrome's trace event format, which Perfetto's viewer (ui.perfetto.dev) opens: one JSON document.
//
// A device is a process with a track per stream and several tracks per SM; a traced process is a process with tracks
// for its host threads. Waits, signals, kernels, copies, calls and NVTX ranges are slices, wake edges are flow arrows,
// and interventions are marks across all tracks. Times are in microseconds since the begin of the trace.
//
// A wait takes some 170 bytes and its arrow as much again. The document has at most kMostBytes: from a longer trace it
// keeps stretches of time, those around changes of mode first (stretches.h), and with them the kernels, calls and
// ranges that are long compared with the run. A track of its own shows the stretches that were left out.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/trace/device_work.h"
#include "analyzer/waits/matching.h"
#include "analyzer/words/format.h"
#include "analyzer/work/kernels.h"
#include "reports/parts/json.h"
#include "reports/parts/report.h"
#include "reports/perfetto/stretches.h"

namespace wicprof::reports {
namespace {

// Track numbers fit 32 bits and are never 0, which Perfetto takes for the idle thread. A device's streams come after
// its SMs: kStreamTracks exceeds the number of SMs times lanes of any device.
constexpr std::uint64_t kFirstTrack = 1;
constexpr std::uint64_t kLanesPerSm = 256, kWaitLanes = 192, kSignalLanes = kLanesPerSm - kWaitLanes;
constexpr std::uint64_t kStreamTracks = 1'000'000, kLanesPerStream = 8;
constexpr std::uint64_t kLanesPerThread = 16;
constexpr std::uint64_t kDeviceProcesses = 5'000'000;  // above any pid: Linux has at most 2^22
constexpr std::uint64_t kUnknownProcess = 1;
constexpr std::uint64_t kLeftOutTrack = 4'000'000'000;  // of the unknown process: above any thread's tracks

constexpr std::size_t kMostBytes = 10'000'000;  // the viewer is ready within seconds
/// No event is shorter. A trace with more rows than fit at this length is never written as a whole.
constexpr std::size_t kLeastBytesPerRow = 60;
constexpr double kAim = 0.95;  // of the bound, so that a second attempt suffices
/// A host wait, kernel, copy, call or range that takes this part of the run is kept wherever it begins.
constexpr double kLongPart = 0.01;

constexpr std::size_t kNameCharacters = 512;  // of a slice: a name of kilobytes per slice would make gigabytes

std::string json_text(std::string_view text) { return dump_json(shorten(text, kNameCharacters)); }

struct Track {
  std::uint64_t process, thread;
  auto operator<=>(const Track&) const = default;
};

class Document {
 public:
  explicit Document(TimeNs begin) : begin_(begin) {}

  void name_process(std::uint64_t process, std::string_view name, int order) {
    line(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", process, json_text(name));
    line(R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})", process, order);
  }
  /// Only the first name of a track is used.
  void name_track(const Track& track, std::string_view name) {
    if (!named_.insert(track).second) return;
    line(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", track.process, track.thread,
         json_text(name));
    line(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", track.process,
         track.thread, track.thread);
  }
  /// `args`: the members of a JSON object, without its braces.
  void slice(const Track& track, std::string_view category, std::string_view name, TimeNs begin, TimeNs end,
             const std::string& args = {}) {
    line(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{}{}{}{}}})", category, json_name(name),
         track.process, track.thread, us(begin - begin_), us(std::max<TimeNs>(end - begin, 1)),
         args.empty() ? "" : R"(,"args":{)", args, args.empty() ? "" : "}");
  }
  void arrow(const Track& from, TimeNs sent, const Track& to, TimeNs received) {
    ++arrows_;
    line(R"({{"ph":"s","cat":"wake","name":"wake","id":{},"pid":{},"tid":{},"ts":{}}})", arrows_, from.process,
         from.thread, us(sent - begin_));
    line(R"({{"ph":"f","bp":"e","cat":"wake","name":"wake","id":{},"pid":{},"tid":{},"ts":{}}})", arrows_, to.process,
         to.thread, us(received - begin_));
  }
  void mark(std::string_view name, TimeNs at, const std::string& args) {
    line(R"({{"ph":"i","s":"g","cat":"intervention","name":{},"pid":{},"tid":{},"ts":{},"args":{{{}}}}})",
         json_text(name), kUnknownProcess, kFirstTrack, us(at - begin_), args);
  }
  /// `note`: about the document as a whole; empty = none.
  std::string close(std::string_view note) && {
    text_ += "\n],";
    if (!note.empty()) text_ += fmt::format(R"("otherData":{{"left_out":{}}},)", json_text(note));
    text_ += "\"displayTimeUnit\":\"ns\"}\n";
    return std::move(text_);
  }

 private:
  /// Without the zeros at its end.
  static std::string us(TimeNs ns) {
    const bool negative = ns < 0;
    const TimeNs size = negative ? -ns : ns;
    std::string text = fmt::format("{}{}", negative ? "-" : "", size / 1000);
    if (size % 1000 == 0) return text;
    text += fmt::format(".{:03}", size % 1000);
    text.erase(text.find_last_not_of('0') + 1);
    return text;
  }
  /// Names repeat; quoting a name costs more than the rest of its event.
  const std::string& json_name(std::string_view name) {
    auto found = quoted_.find(name);
    if (found == quoted_.end()) found = quoted_.emplace(std::string(name), json_text(name)).first;
    return found->second;
  }
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }

  TimeNs begin_;
  std::string text_ = "{\"traceEvents\":[";
  bool first_ = true;
  std::uint64_t arrows_ = 0;
  std::set<Track> named_;
  std::map<std::string, std::string, std::less<>> quoted_;
};

/// Perfetto drops slices of one track that overlap without nesting. So each slice goes to the first lane that is free;
/// take() is called in order of time.
class Lanes {
 public:
  /// `nested`: whether a lane may take a slice within its last slice.
  Lanes(std::uint64_t most, bool nested) : most_(most), nested_(nested) {}

  std::uint64_t take(TimeNs begin, TimeNs end) {
    end = std::max(end, begin + 1);  // as slice() draws it
    for (std::uint64_t lane = 0; lane < lanes_.size(); ++lane) {
      if (fits(lanes_[lane], begin, end)) return lane;
    }
    if (lanes_.size() < most_) lanes_.emplace_back();
    lanes_.back().push_back(end);
    return lanes_.size() - 1;
  }

 private:
  using Open = std::vector<TimeNs>;  // the ends of nested slices, outermost first

  bool fits(Open& open, TimeNs begin, TimeNs end) const {
    while (!open.empty() && open.back() <= begin) open.pop_back();
    if (!open.empty() && !(nested_ && end <= open.back())) return false;
    open.push_back(end);
    return true;
  }

  std::uint64_t most_;
  bool nested_;
  std::vector<Open> lanes_;
};

/// A call, wait or range of one thread; they mostly nest.
struct ThreadSlice {
  std::string_view category, name;
  TimeNs begin = 0, end = 0;
  std::string args;
  std::optional<std::size_t> host_wait;  ///< its index
};

std::uint64_t process_of_device(DeviceId device) { return kDeviceProcesses + device; }

std::size_t rows_of(const TraceModel& model) {
  return model.waits.size() + model.signals.size() + model.host_waits.size() + model.calls.size() + model.nvtx.size() +
         model.kernels.size() + model.copies.size();
}

/// Whether a row is kept wherever it begins: it encloses other rows, or takes its stream for long.
bool is_long(const TraceModel& model, TimeNs begin, TimeNs end) {
  return static_cast<double>(end - begin) >= kLongPart * static_cast<double>(model.end - model.begin);
}

/// Of all rows that may be left out.
std::vector<TimeNs> begins_of(const TraceModel& model) {
  std::vector<TimeNs> begins;
  begins.reserve(rows_of(model));
  const auto add = [&](TimeNs begin, TimeNs end) {
    if (!is_long(model, begin, end)) begins.push_back(begin);
  };
  for (const auto& row : model.waits) begins.push_back(row.arrived);
  for (const auto& row : model.signals) begins.push_back(row.at);
  for (const auto& row : model.host_waits) add(row.begin, row.end);
  for (const auto& row : model.calls) add(row.start, row.end);
  for (const auto& row : model.nvtx) add(row.start, row.end);
  for (const auto& row : model.kernels) add(row.start, row.end);
  for (const auto& row : model.copies) add(row.start, row.end);
  return begins;
}

class Writer {
 public:
  Writer(const TraceModel& model, const std::vector<WakeEdge>& edges, const Stretches& stretches)
      : model_(model), edges_(edges), stretches_(stretches), to_(first_time(model)) {}

  std::string write() && {
    processes();
    signals();
    waits();
    threads();
    kernels_and_copies();
    arrows();  // after the slices: Perfetto ties an arrow to the slice that is open when the arrow is read
    for (const store::InterventionRow& row : model_.interventions) {
      to_.mark(fmt::format("{} to {}", mode_name(row.old_mode), mode_name(row.new_mode)), row.effective,
               fmt::format(R"("site":{},"strategy":"{}","requested_us_before":{:.3f})",
                           json_text(row.site == 0 ? "all" : model_.site_name(row.site)),
                           strategy_name(row.new_strategy), static_cast<double>(row.effective - row.requested) / 1e3));
    }
    return std::move(to_).close(left_out());
  }

 private:
  /// Shows the stretches that the document lacks, and says the same in words; "" if it lacks nothing.
  std::string left_out() {
    const Track track{kUnknownProcess, kLeftOutTrack};
    std::size_t rows = 0;
    for (const LeftOut& gap : stretches_.left_out()) {
      rows += gap.rows;
      to_.name_track(track, "left out of this file");
      to_.slice(track, "left_out", "left out of this file", gap.begin, gap.end, fmt::format(R"("rows":{})", gap.rows));
    }
    if (rows == 0) return {};
    return fmt::format(
        "The trace has more than {} MB of events. This file keeps all that begins in some stretches of time, those "
        "around changes of mode first, and host waits, kernels, copies, calls and ranges that take {:.0f} % of "
        "the run. {} of {} rows are left out: the track \"left out of this file\" shows where.",
        kMostBytes / 1'000'000, kLongPart * 100, rows, rows_of(model_));
  }

  bool keeps(TimeNs begin) const { return stretches_.keeps(begin); }
  bool keeps(TimeNs begin, TimeNs end) const { return keeps(begin) || is_long(model_, begin, end); }

  /// The earliest time that is written. Perfetto drops events before 0.
  static TimeNs first_time(const TraceModel& model) {
    TimeNs first = model.begin;
    for (const store::HostWaitRow& wait : model.host_waits) first = std::min(first, wait.begin);
    for (const store::CallRow& call : model.calls) first = std::min(first, call.start);
    for (const store::NvtxRow& range : model.nvtx) first = std::min(first, range.start);
    for (const store::InterventionRow& row : model.interventions) first = std::min(first, row.effective);
    return first;
  }

  std::uint64_t process_number(store::ProcessId process) const { return process == 0 ? kUnknownProcess : process; }

  void processes() {
    int order = 0;
    to_.name_process(kUnknownProcess, "program", order++);
    for (const store::ProcessRow& process : model_.processes) {
      to_.name_process(process.id, process.name.empty() ? "process" : process.name, order++);
    }
    for (const store::DeviceRow& device : model_.devices) {
      if (device.id == kHostDevice) continue;
      to_.name_process(process_of_device(device.id), model_.device_key(device.id) + " " + device.name, order++);
    }
  }

  void signals() {
    std::map<Track, Lanes> lanes;
    signal_tracks_.reserve(model_.signals.size());
    for (const store::SignalRow& signal : model_.signals) {
      signal_tracks_.emplace_back();
      if (!keeps(signal.at)) continue;
      const bool host = signal.device == kHostDevice;
      Track track{host ? kUnknownProcess : process_of_device(signal.device),
                  kFirstTrack + (host ? 0 : signal.sm * kLanesPerSm + kWaitLanes)};
      track.thread += lanes.try_emplace(track, host ? kLanesPerThread : kSignalLanes, false)
                          .first->second.take(signal.at, signal.at + 1);
      signal_tracks_.back() = track;
      to_.name_track(track, host ? "signals" : fmt::format("SM {} signals", signal.sm));
      to_.slice(track, "signal", model_.site_name(signal.site), signal.at, signal.at + 1,
                fmt::format(R"("iteration":{},"value":{},"block":{})", signal.iteration, signal.value, signal.block));
    }
  }

  void waits() {
    std::map<Track, Lanes> lanes;
    wait_tracks_.reserve(model_.waits.size());
    for (const store::WaitRow& wait : model_.waits) {
      wait_tracks_.emplace_back();
      if (!keeps(wait.arrived)) continue;
      Track track{process_of_device(wait.device), kFirstTrack + wait.sm * kLanesPerSm};
      const std::uint64_t lane =
          lanes.try_emplace(track, kWaitLanes, false).first->second.take(wait.arrived, wait.resumed);
      track.thread += lane;
      to_.name_track(track, fmt::format("SM {} waits {}", wait.sm, lane));
      wait_tracks_.back() = track;
      to_.slice(track, "wait", model_.site_name(wait.site), wait.arrived, wait.resumed,
                fmt::format(R"("iteration":{},"block":{},"warp":{},"polls":{},"strategy":"{}")", wait.iteration,
                            wait.block, wait.warp, wait.polls, strategy_name(wait.strategy)));
    }
  }

  void threads() {
    std::map<Track, std::vector<ThreadSlice>> threads;  // by process and the system's thread id
    for (std::size_t i = 0; i < model_.host_waits.size(); ++i) {
      const store::HostWaitRow& wait = model_.host_waits[i];
      if (!keeps(wait.begin, wait.end)) continue;
      const std::string_view name = wait.site == 0
                                        ? std::string_view(wait.call)
                                        : site_names_.emplace(wait.site, model_.site_name(wait.site)).first->second;
      threads[{process_number(wait.process), wait.thread}].push_back(
          {"host_wait", name, wait.begin, wait.end,
           fmt::format(R"("iteration":{},"place":{})", wait.iteration, json_text(model_.site_place(wait.site))), i});
    }
    for (const store::CallRow& call : model_.calls) {
      if (!keeps(call.start, call.end)) continue;
      threads[{process_number(call.process), call.thread}].push_back(
          {"call", call.name, call.start, call.end, fmt::format(R"("correlation":{})", call.correlation), {}});
    }
    for (const store::NvtxRow& range : model_.nvtx) {
      if (!keeps(range.start, range.end)) continue;
      threads[{process_number(range.process), range.thread}].push_back(
          {"nvtx", range.name, range.start, range.end, fmt::format(R"("domain":{})", json_text(range.domain)), {}});
    }
    host_tracks_.resize(model_.host_waits.size());
    for (auto& [thread, slices] : threads) write_thread(thread, slices);
  }

  void write_thread(const Track& thread, std::vector<ThreadSlice>& slices) {
    std::stable_sort(slices.begin(), slices.end(), [](const ThreadSlice& a, const ThreadSlice& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    Lanes lanes(kLanesPerThread, true);
    for (const ThreadSlice& slice : slices) {
      // Host signals take the first lanes of the first process.
      const Track track{thread.process,
                        kFirstTrack + (thread.thread + 1) * kLanesPerThread + lanes.take(slice.begin, slice.end)};
      to_.name_track(track, fmt::format("thread {}", thread.thread));
      to_.slice(track, slice.category, slice.name, slice.begin, slice.end, slice.args);
      if (slice.host_wait) host_tracks_[*slice.host_wait] = track;
    }
  }

  void arrows() {
    for (const WakeEdge& edge : edges_) {
      const std::optional<Track>& to = edge.host ? host_tracks_[edge.wait] : wait_tracks_[edge.wait];
      const std::optional<Track>& from = signal_tracks_[edge.signal];
      if (!to || !from) continue;
      // The arrow ends in the wait's last nanosecond, which is still within its slice.
      const WaitView wait = view_of(model_, edge);
      to_.arrow(*from, model_.signals[edge.signal].at, *to, std::max(wait.begin, wait.end - 1));
    }
  }

  void kernels_and_copies() {
    struct Work {
      TimeNs begin;
      const store::KernelRow* kernel;
      const store::CopyRow* copy;
    };
    std::vector<Work> all;
    analyzer::ProgramKernels of_program;
    for (const store::KernelRow& kernel : model_.kernels) {
      if (of_program(kernel) && keeps(kernel.start, kernel.end)) all.push_back({kernel.start, &kernel, nullptr});
    }
    for (const store::CopyRow& copy : model_.copies) {
      if (keeps(copy.start, copy.end)) all.push_back({copy.start, nullptr, &copy});
    }
    std::stable_sort(all.begin(), all.end(), [](const Work& a, const Work& b) { return a.begin < b.begin; });
    for (const Work& work : all) {
      if (const store::KernelRow* kernel = work.kernel) {
        to_.slice(stream_track(kernel->device, kernel->stream, kernel->start, kernel->end), "kernel", kernel->name,
                  kernel->start, kernel->end,
                  kernel->is_graph() ? fmt::format(R"("graph":{},"correlation":{})", kernel->graph, kernel->correlation)
                                     : fmt::format(R"("grid":"{}x{}x{}","block":"{}x{}x{}","correlation":{})",
                                                   kernel->grid[0], kernel->grid[1], kernel->grid[2], kernel->block[0],
                                                   kernel->block[1], kernel->block[2], kernel->correlation));
      } else {
        const store::CopyRow& copy = *work.copy;
        to_.slice(stream_track(copy.device, copy.stream, copy.start, copy.end), "copy", copy_kind_name(copy.kind),
                  copy.start, copy.end, fmt::format(R"("bytes":{},"correlation":{})", copy.bytes, copy.correlation));
      }
    }
  }
  Track stream_track(DeviceId device, std::uint32_t stream, TimeNs begin, TimeNs end) {
    Track track{process_of_device(device), kStreamTracks + stream * kLanesPerStream};
    track.thread += stream_lanes_.try_emplace(track, kLanesPerStream, false).first->second.take(begin, end);
    to_.name_track(track, fmt::format("stream {}", stream));
    return track;
  }

  const TraceModel& model_;
  const std::vector<WakeEdge>& edges_;
  const Stretches& stretches_;
  Document to_;
  std::vector<std::optional<Track>> signal_tracks_, wait_tracks_,
      host_tracks_;  // indexes of the model; nothing: left out
  std::map<Track, Lanes> stream_lanes_;
  std::map<SiteId, std::string> site_names_;
};

}  // namespace

template <>
std::string render_as<struct Perfetto>(const ReportInput& input) {
  const TraceModel& model = input.model;
  const std::vector<WakeEdge> edges = match(model).edges;
  std::vector<TimeNs> marks;
  for (const store::InterventionRow& row : model.interventions) marks.push_back(row.effective);
  const double fits = static_cast<double>(kMostBytes / kLeastBytesPerRow);
  double part = std::min(1.0, fits / static_cast<double>(std::max<std::size_t>(rows_of(model), 1)));
  while (true) {
    const Stretches stretches = part < 1 ? Stretches(begins_of(model), marks, part) : Stretches();
    std::string document = Writer(model, edges, stretches).write();
    const bool least = part * static_cast<double>(Stretches::kMost) < 1;
    if (document.size() <= kMostBytes || least) return document;
    part *= kAim * static_cast<double>(kMostBytes) / static_cast<double>(document.size());
  }
}

}  // namespace wicprof::reports
