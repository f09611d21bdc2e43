// The trace in Chrome's trace event format, which Perfetto's viewer (ui.perfetto.dev) opens: one JSON document.
//
// A device is a process with a track per stream and several tracks per SM; a traced process is a process with tracks
// for its host threads. Waits, signals, kernels, copies, calls and NVTX ranges are slices, wake edges are flow arrows,
// and interventions are marks across all tracks. Times are in microseconds since the begin of the trace. An event takes
// about 200 bytes.

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
#include "reports/parts/report.h"

namespace wicprof::reports {
namespace {

// Track numbers fit 32 bits and are never 0, which Perfetto takes for the idle thread. A device's streams come after
// its SMs: kStreamTracks exceeds the number of SMs times lanes of any device.
constexpr std::uint64_t kFirstTrack = 1;
constexpr std::uint64_t kLanesPerSm = 256, kWaitLanes = 192, kSignalLanes = kLanesPerSm - kWaitLanes;
constexpr std::uint64_t kStreamTracks = 1'000'000, kLanesPerStream = 8;
constexpr std::uint64_t kLanesPerThread = 16;
constexpr std::uint64_t kDeviceProcesses = 1'000'000'000;  // above any pid
constexpr std::uint64_t kUnknownProcess = 1;

constexpr std::size_t kNameCharacters = 512;  // of a slice: a name of kilobytes per slice would make gigabytes

std::string json_text(std::string_view text) {
  return nlohmann::json(shorten(text, kNameCharacters)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

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
    line(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", category,
         json_text(name), track.process, track.thread, us(begin - begin_), us(std::max<TimeNs>(end - begin, 1)), args);
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
  std::string close() && {
    text_ += "\n],\"displayTimeUnit\":\"ns\"}\n";
    return std::move(text_);
  }

 private:
  static std::string us(TimeNs ns) {
    const bool negative = ns < 0;
    const TimeNs size = negative ? -ns : ns;
    return fmt::format("{}{}.{:03}", negative ? "-" : "", size / 1000, size % 1000);
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

class Writer {
 public:
  explicit Writer(const TraceModel& model) : model_(model), to_(first_time(model)) {}

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
    return std::move(to_).close();
  }

 private:
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
      const bool host = signal.device == kHostDevice;
      Track track{host ? kUnknownProcess : process_of_device(signal.device),
                  kFirstTrack + (host ? 0 : signal.sm * kLanesPerSm + kWaitLanes)};
      track.thread += lanes.try_emplace(track, host ? kLanesPerThread : kSignalLanes, false)
                          .first->second.take(signal.at, signal.at + 1);
      signal_tracks_.push_back(track);
      to_.name_track(track, host ? "signals" : fmt::format("SM {} signals", signal.sm));
      to_.slice(track, "signal", model_.site_name(signal.site), signal.at, signal.at + 1,
                fmt::format(R"("iteration":{},"value":{},"block":{})", signal.iteration, signal.value, signal.block));
    }
  }

  void waits() {
    std::map<Track, Lanes> lanes;
    wait_tracks_.reserve(model_.waits.size());
    for (const store::WaitRow& wait : model_.waits) {
      Track track{process_of_device(wait.device), kFirstTrack + wait.sm * kLanesPerSm};
      const std::uint64_t lane =
          lanes.try_emplace(track, kWaitLanes, false).first->second.take(wait.arrived, wait.resumed);
      track.thread += lane;
      to_.name_track(track, fmt::format("SM {} waits {}", wait.sm, lane));
      wait_tracks_.push_back(track);
      to_.slice(track, "wait", model_.site_name(wait.site), wait.arrived, wait.resumed,
                fmt::format(R"("iteration":{},"block":{},"warp":{},"polls":{},"strategy":"{}")", wait.iteration,
                            wait.block, wait.warp, wait.polls, strategy_name(wait.strategy)));
    }
  }

  void threads() {
    std::map<Track, std::vector<ThreadSlice>> threads;  // by process and the system's thread id
    for (std::size_t i = 0; i < model_.host_waits.size(); ++i) {
      const store::HostWaitRow& wait = model_.host_waits[i];
      const std::string_view name = wait.site == 0
                                        ? std::string_view(wait.call)
                                        : site_names_.emplace(wait.site, model_.site_name(wait.site)).first->second;
      threads[{process_number(wait.process), wait.thread}].push_back(
          {"host_wait", name, wait.begin, wait.end, fmt::format(R"("iteration":{})", wait.iteration), i});
    }
    for (const store::CallRow& call : model_.calls) {
      threads[{process_number(call.process), call.thread}].push_back(
          {"call", call.name, call.start, call.end, fmt::format(R"("correlation":{})", call.correlation), {}});
    }
    for (const store::NvtxRow& range : model_.nvtx) {
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
    for (const WakeEdge& edge : match(model_).edges) {
      const Track to = edge.host ? host_tracks_[edge.wait] : wait_tracks_[edge.wait];
      // The arrow ends in the wait's last nanosecond, which is still within its slice.
      const TimeNs begin = edge.host ? model_.host_waits[edge.wait].begin : model_.waits[edge.wait].arrived;
      const TimeNs end = edge.host ? model_.host_waits[edge.wait].end : model_.waits[edge.wait].resumed;
      to_.arrow(signal_tracks_[edge.signal], model_.signals[edge.signal].at, to, std::max(begin, end - 1));
    }
  }

  void kernels_and_copies() {
    struct Work {
      TimeNs begin;
      const store::KernelRow* kernel;
      const store::CopyRow* copy;
    };
    std::vector<Work> all;
    for (const store::KernelRow& kernel : model_.kernels) all.push_back({kernel.start, &kernel, nullptr});
    for (const store::CopyRow& copy : model_.copies) all.push_back({copy.start, nullptr, &copy});
    std::stable_sort(all.begin(), all.end(), [](const Work& a, const Work& b) { return a.begin < b.begin; });
    for (const Work& work : all) {
      if (const store::KernelRow* kernel = work.kernel) {
        to_.slice(
            stream_track(kernel->device, kernel->stream, kernel->start, kernel->end), "kernel", kernel->name,
            kernel->start, kernel->end,
            fmt::format(R"("grid":"{}x{}x{}","block":"{}x{}x{}","correlation":{})", kernel->grid[0], kernel->grid[1],
                        kernel->grid[2], kernel->block[0], kernel->block[1], kernel->block[2], kernel->correlation));
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
  Document to_;
  std::vector<Track> signal_tracks_, wait_tracks_, host_tracks_;  // same indexes as the model's lists
  std::map<Track, Lanes> stream_lanes_;
  std::map<SiteId, std::string> site_names_;
};

}  // namespace

template <>
std::string render_as<struct Perfetto>(const ReportInput& input) {
  return Writer(input.model).write();
}

}  // namespace wicprof::reports
