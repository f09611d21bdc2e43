#include "analyzer/reports/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/device_work.h"
#include "analyzer/matching.h"

namespace wicprof::analyzer {
namespace {

// A device's tracks beside its SMs' have numbers from here on; no device has as many SMs times lanes.
constexpr std::uint64_t kStreamTracks = 1'000'000;
constexpr std::uint64_t kLanesAnSm = 256;
constexpr std::uint64_t kDeviceProcesses = 1'000'000'000;  // no pid is as high
constexpr std::uint64_t kUnknownProcess = 1;

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
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
  /// The first name stays.
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
    line(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", category, json_text(name),
         track.process, track.thread, us(begin - begin_), us(std::max<TimeNs>(end - begin, 1)), args);
  }
  void arrow(const Track& from, TimeNs sent, const Track& to, TimeNs received) {
    ++arrows_;
    line(R"({{"ph":"s","cat":"wake","name":"wake","id":{},"pid":{},"tid":{},"ts":{}}})", arrows_, from.process, from.thread,
         us(sent - begin_));
    line(R"({{"ph":"f","bp":"e","cat":"wake","name":"wake","id":{},"pid":{},"tid":{},"ts":{}}})", arrows_, to.process,
         to.thread, us(received - begin_));
  }
  void mark(std::string_view name, TimeNs at, const std::string& args) {
    line(R"({{"ph":"i","s":"g","cat":"intervention","name":{},"pid":{},"tid":0,"ts":{},"args":{{{}}}}})", json_text(name),
         kUnknownProcess, us(at - begin_), args);
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

/// Slices of one track must not overlap: the first lane that is free takes the next one. In order of time.
class Lanes {
 public:
  std::uint64_t take(TimeNs begin, TimeNs end) {
    auto lane = std::find_if(ends_.begin(), ends_.end(), [&](TimeNs busy_until) { return busy_until <= begin; });
    if (lane == ends_.end() && ends_.size() + 1 < kLanesAnSm) lane = ends_.insert(ends_.end(), end);
    if (lane == ends_.end()) lane = std::min_element(ends_.begin(), ends_.end());
    *lane = std::max(*lane, end);
    return static_cast<std::uint64_t>(lane - ends_.begin());
  }

 private:
  std::vector<TimeNs> ends_;
};

std::uint64_t process_of_device(DeviceId device) { return kDeviceProcesses + device; }

class Writer {
 public:
  explicit Writer(const TraceModel& model) : model_(model), to_(model.begin) {}

  std::string write() && {
    processes();
    signals();
    waits();
    host_waits();
    arrows();
    kernels_and_copies();
    calls_and_ranges();
    for (const store::InterventionRow& row : model_.interventions) {
      to_.mark(fmt::format("{} to {}", mode_name(row.old_mode), mode_name(row.new_mode)), row.effective,
               fmt::format(R"("site":{},"strategy":"{}","requested_us_before":{:.3f})",
                           json_text(row.site == 0 ? "all" : model_.site_name(row.site)), strategy_name(row.new_strategy),
                           static_cast<double>(row.effective - row.requested) / 1e3));
    }
    return std::move(to_).close();
  }

 private:
  std::uint64_t process_number(store::ProcessId process) const {
    return process == 0 ? kUnknownProcess : process;
  }

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
    for (const store::SignalRow& signal : model_.signals) {
      const Track track = track_of(signal);
      to_.name_track(track, signal.device == kHostDevice ? "signals" : fmt::format("SM {} signals", signal.sm));
      to_.slice(track, "signal", model_.site_name(signal.site), signal.at, signal.at + 1,
                fmt::format(R"("iteration":{},"value":{},"block":{})", signal.iteration, signal.value, signal.block));
    }
  }
  static Track track_of(const store::SignalRow& signal) {
    if (signal.device == kHostDevice) return {kUnknownProcess, 0};
    return {process_of_device(signal.device), signal.sm * kLanesAnSm + kLanesAnSm - 1};
  }

  void waits() {
    std::map<std::pair<DeviceId, std::uint32_t>, Lanes> lanes;
    wait_tracks_.reserve(model_.waits.size());
    for (const store::WaitRow& wait : model_.waits) {
      const std::uint64_t lane = lanes[{wait.device, wait.sm}].take(wait.arrived, wait.resumed);
      const Track track{process_of_device(wait.device), wait.sm * kLanesAnSm + lane};
      to_.name_track(track, fmt::format("SM {} waits {}", wait.sm, lane));
      wait_tracks_.push_back(track);
      to_.slice(track, "wait", model_.site_name(wait.site), wait.arrived, wait.resumed,
                fmt::format(R"("iteration":{},"block":{},"warp":{},"polls":{},"strategy":"{}")", wait.iteration, wait.block,
                            wait.warp, wait.polls, strategy_name(wait.strategy)));
    }
  }

  void host_waits() {
    host_tracks_.reserve(model_.host_waits.size());
    for (const store::HostWaitRow& wait : model_.host_waits) {
      const Track track{process_number(wait.process), wait.thread};
      to_.name_track(track, fmt::format("thread {}", wait.thread));
      host_tracks_.push_back(track);
      to_.slice(track, "host_wait", wait.site == 0 ? wait.call : model_.site_name(wait.site), wait.begin, wait.end,
                fmt::format(R"("iteration":{})", wait.iteration));
    }
  }

  void arrows() {
    for (const WakeEdge& edge : match(model_).edges) {
      const store::SignalRow& signal = model_.signals[edge.signal];
      const Track to = edge.host ? host_tracks_[edge.wait] : wait_tracks_[edge.wait];
      // Within the slice of the wait: its last nanosecond.
      const TimeNs end = edge.host ? model_.host_waits[edge.wait].end : model_.waits[edge.wait].resumed;
      to_.arrow(track_of(signal), signal.at, to, end - 1);
    }
  }

  void kernels_and_copies() {
    for (const store::KernelRow& kernel : model_.kernels) {
      const Track track = stream_track(kernel.device, kernel.stream);
      to_.slice(track, "kernel", kernel.name, kernel.start, kernel.end,
                fmt::format(R"("grid":"{}x{}x{}","block":"{}x{}x{}","correlation":{})", kernel.grid[0], kernel.grid[1],
                            kernel.grid[2], kernel.block[0], kernel.block[1], kernel.block[2], kernel.correlation));
    }
    for (const store::CopyRow& copy : model_.copies) {
      to_.slice(stream_track(copy.device, copy.stream), "copy", copy_kind_name(copy.kind), copy.start, copy.end,
                fmt::format(R"("bytes":{},"correlation":{})", copy.bytes, copy.correlation));
    }
  }
  Track stream_track(DeviceId device, std::uint32_t stream) {
    const Track track{process_of_device(device), kStreamTracks + stream};
    to_.name_track(track, fmt::format("stream {}", stream));
    return track;
  }

  void calls_and_ranges() {
    for (const store::CallRow& call : model_.calls) {
      const Track track{process_number(call.process), call.thread};
      to_.name_track(track, fmt::format("thread {}", call.thread));
      to_.slice(track, "call", call.name, call.start, call.end, fmt::format(R"("correlation":{})", call.correlation));
    }
    for (const store::NvtxRow& range : model_.nvtx) {
      const Track track{process_number(range.process), range.thread};
      to_.name_track(track, fmt::format("thread {}", range.thread));
      to_.slice(track, "nvtx", range.name, range.start, range.end, fmt::format(R"("domain":{})", json_text(range.domain)));
    }
  }

  const TraceModel& model_;
  Document to_;
  std::vector<Track> wait_tracks_, host_tracks_;  // as the model's lists
};

}  // namespace

std::string report_perfetto(const TraceModel& model) { return Writer(model).write(); }

}  // namespace wicprof::analyzer
