// A device is a process with a track per stream and several tracks per SM; a traced process is a process with tracks
// for its host threads. Waits, signals, kernels, copies, calls and NVTX ranges are slices, wake edges are arrows,
// interventions are marks, and what the scheduler did with each host thread is two counters.
#include <fmt/format.h>

#include <optional>

#include "analyzer/trace/device_work.h"
#include "analyzer/words/format.h"
#include "analyzer/work/kernels.h"
#include "reports/perfetto/lanes.h"
#include "reports/perfetto/picture.h"

namespace wicprof::reports {
namespace {

// Track numbers fit 32 bits and are never 0, which Perfetto takes for the idle thread. A device's streams come after
// its SMs: kStreamTracks exceeds the number of SMs times lanes of any device.
constexpr std::uint64_t kFirstTrack = 1;
constexpr std::uint64_t kLanesPerSm = 256, kWaitLanes = 192, kSignalLanes = kLanesPerSm - kWaitLanes;
constexpr std::uint64_t kStreamTracks = 1'000'000, kLanesPerStream = 8;
constexpr std::uint64_t kLanesPerThread = 16;
constexpr std::uint64_t kDeviceProcesses = 5'000'000;    // above any pid: Linux has at most 2^22
constexpr Track kLeftOutTrack{kProgram, 4'000'000'000};  // above any thread's tracks
constexpr double kLongPart = 0.01;                       // of the run: see is_long()
constexpr std::size_t kNameCharacters = 512;  // of a slice: a name of kilobytes per slice would make gigabytes

/// A call, wait or range of one thread; they mostly nest.
struct ThreadSlice {
  std::string_view category, name;
  TimeNs begin = 0, end = 0;
  Arguments arguments;
  std::optional<std::size_t> host_wait;  ///< its index
};

std::uint64_t process_of_device(DeviceId device) { return kDeviceProcesses + device; }
std::uint64_t process_number(store::ProcessId process) { return process == 0 ? kProgram : process; }

std::string size_text(const std::uint32_t (&size)[3]) { return fmt::format("{}x{}x{}", size[0], size[1], size[2]); }

/// Whether a host wait, kernel, copy, call or range is kept wherever it begins: it encloses other rows, or takes its
/// stream for long.
bool is_long(const TraceModel& model, TimeNs begin, TimeNs end) {
  return static_cast<double>(end - begin) >= kLongPart * static_cast<double>(model.end - model.begin);
}

class Drawing {
 public:
  Drawing(const TraceModel& model, const std::vector<WakeEdge>& edges, const Stretches& stretches)
      : model_(model), edges_(edges), stretches_(stretches) {}

  Picture make() && {
    processes();
    signals();
    waits();
    threads();
    kernels_and_copies();
    arrows();
    marks();
    counters();
    left_out();
    picture_.begin = first_time();
    return std::move(picture_);
  }

 private:
  void name_track(const Track& track, std::string name) {
    if (named_.insert(track).second) picture_.tracks.emplace_back(track, std::move(name));
  }
  std::size_t slice(const Track& track, std::string_view category, std::string_view name, TimeNs begin, TimeNs end,
                    Arguments arguments) {
    auto found = names_.find(name);
    if (found == names_.end()) {
      found = names_.emplace(std::string(name), picture_.names.size()).first;
      picture_.names.push_back(shorten(name, kNameCharacters));
    }
    picture_.slices.push_back({track, category, found->second, begin, std::max(end, begin + 1), std::move(arguments)});
    return picture_.slices.size() - 1;
  }

  bool keeps(TimeNs begin) const { return stretches_.keeps(begin); }
  bool keeps(TimeNs begin, TimeNs end) const { return keeps(begin) || is_long(model_, begin, end); }

  /// Perfetto drops events before 0.
  TimeNs first_time() const {
    TimeNs first = model_.begin;
    for (const Picture::Slice& each : picture_.slices) first = std::min(first, each.begin);
    for (const Picture::Mark& each : picture_.marks) first = std::min(first, each.at);
    for (const Picture::Count& each : picture_.counts) first = std::min(first, each.at);
    return first;
  }

  void processes() {
    picture_.processes.push_back({kProgram, "program"});
    for (const store::ProcessRow& process : model_.processes) {
      picture_.processes.push_back({process.id, process.name.empty() ? "process" : std::string(process.name)});
    }
    for (const store::DeviceRow& device : model_.devices) {
      if (device.id == kHostDevice) continue;
      picture_.processes.push_back(
          {process_of_device(device.id), fmt::format("{} {}", model_.device_key(device.id), device.name)});
    }
  }

  void signals() {
    std::map<Track, Lanes> lanes;
    signal_slices_.resize(model_.signals.size());
    for (std::size_t i = 0; i < model_.signals.size(); ++i) {
      const store::SignalRow& signal = model_.signals[i];
      if (!keeps(signal.at)) continue;
      const bool host = signal.device == kHostDevice;
      Track track{host ? kProgram : process_of_device(signal.device),
                  kFirstTrack + (host ? 0 : signal.sm * kLanesPerSm + kWaitLanes)};
      track.thread += lanes.try_emplace(track, host ? kLanesPerThread : kSignalLanes, false)
                          .first->second.take(signal.at, signal.at + 1);
      name_track(track, host ? "signals" : fmt::format("SM {} signals", signal.sm));
      signal_slices_[i] = slice(track, "signal", model_.site_name(signal.site), signal.at, signal.at,
                                {{"iteration", std::uint64_t{signal.iteration}},
                                 {"value", std::uint64_t{signal.value}},
                                 {"block", std::uint64_t{signal.block}}});
    }
  }

  void waits() {
    std::map<Track, Lanes> lanes;
    wait_slices_.resize(model_.waits.size());
    for (std::size_t i = 0; i < model_.waits.size(); ++i) {
      const store::WaitRow& wait = model_.waits[i];
      if (!keeps(wait.arrived)) continue;
      Track track{process_of_device(wait.device), kFirstTrack + wait.sm * kLanesPerSm};
      const std::uint64_t lane =
          lanes.try_emplace(track, kWaitLanes, false).first->second.take(wait.arrived, wait.resumed);
      track.thread += lane;
      name_track(track, fmt::format("SM {} waits {}", wait.sm, lane));
      wait_slices_[i] = slice(track, "wait", model_.site_name(wait.site), wait.arrived, wait.resumed,
                              {{"iteration", std::uint64_t{wait.iteration}},
                               {"block", std::uint64_t{wait.block}},
                               {"warp", std::uint64_t{wait.warp}},
                               {"polls", std::uint64_t{wait.polls}},
                               {"strategy", std::string(strategy_name(wait.strategy))}});
    }
  }

  void threads() {
    std::map<Track, std::vector<ThreadSlice>> threads;  // by process and the system's thread id
    std::map<SiteId, std::string> site_names;
    for (std::size_t i = 0; i < model_.host_waits.size(); ++i) {
      const store::HostWaitRow& wait = model_.host_waits[i];
      if (!keeps(wait.begin, wait.end)) continue;
      const std::string_view name = wait.site == 0
                                        ? std::string_view(wait.call)
                                        : site_names.emplace(wait.site, model_.site_name(wait.site)).first->second;
      threads[{process_number(wait.process), wait.thread}].push_back(
          {"host_wait",
           name,
           wait.begin,
           wait.end,
           {{"iteration", std::uint64_t{wait.iteration}}, {"place", model_.site_place(wait.site)}},
           i});
    }
    for (const store::CallRow& call : model_.calls) {
      if (!keeps(call.start, call.end)) continue;
      std::vector<ThreadSlice>& slices = threads[{process_number(call.process), call.thread}];
      slices.push_back(
          {"call", call.name, call.start, call.end, {{"correlation", std::uint64_t{call.correlation}}}, {}});
      if (call.queries != 0) slices.back().arguments.push_back({"equal queries", std::uint64_t{call.queries}});
    }
    for (const store::NvtxRow& range : model_.nvtx) {
      if (!keeps(range.start, range.end)) continue;
      threads[{process_number(range.process), range.thread}].push_back(
          {"nvtx", range.name, range.start, range.end, {{"domain", std::string(range.domain)}}, {}});
    }
    host_slices_.resize(model_.host_waits.size());
    for (auto& [thread, slices] : threads) draw_thread(thread, slices);
  }

  void draw_thread(const Track& thread, std::vector<ThreadSlice>& slices) {
    std::stable_sort(slices.begin(), slices.end(), [](const ThreadSlice& a, const ThreadSlice& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
    Lanes lanes(kLanesPerThread, true);
    for (ThreadSlice& each : slices) {
      // Host signals take the first lanes of the first process.
      const Track track{thread.process,
                        kFirstTrack + (thread.thread + 1) * kLanesPerThread + lanes.take(each.begin, each.end)};
      name_track(track, fmt::format("thread {}", thread.thread));
      const std::size_t drawn = slice(track, each.category, each.name, each.begin, each.end, std::move(each.arguments));
      if (each.host_wait) host_slices_[*each.host_wait] = drawn;
    }
  }

  void kernels_and_copies() {
    struct Work {
      TimeNs begin;
      store::KernelList::Pointer kernel;
      store::CopyList::Pointer copy;
    };
    std::vector<Work> all;
    analyzer::ProgramKernels of_program;
    for (std::size_t i = 0; i < model_.kernels.size(); ++i) {
      const store::KernelRow kernel = model_.kernels[i];
      if (of_program(kernel) && keeps(kernel.start, kernel.end))
        all.push_back({kernel.start, model_.kernels.pointer_to(i), nullptr});
    }
    for (std::size_t i = 0; i < model_.copies.size(); ++i) {
      const store::CopyRow copy = model_.copies[i];
      if (keeps(copy.start, copy.end)) all.push_back({copy.start, nullptr, model_.copies.pointer_to(i)});
    }
    std::stable_sort(all.begin(), all.end(), [](const Work& a, const Work& b) { return a.begin < b.begin; });
    for (const Work& work : all) {
      if (const auto kernel = work.kernel) {
        Arguments arguments{{"correlation", std::uint64_t{kernel->correlation}}};
        if (kernel->is_graph()) {
          arguments.push_back({"graph", std::uint64_t{kernel->graph}});
        } else {
          arguments.push_back({"grid", size_text(kernel->grid)});
          arguments.push_back({"block", size_text(kernel->block)});
        }
        slice(stream_track(kernel->device, kernel->stream, kernel->start, kernel->end), "kernel", kernel->name,
              kernel->start, kernel->end, std::move(arguments));
      } else {
        const store::CopyRow copy = *work.copy;
        slice(stream_track(copy.device, copy.stream, copy.start, copy.end), "copy", copy_kind_name(copy.kind),
              copy.start, copy.end,
              {{"bytes", std::uint64_t{copy.bytes}}, {"correlation", std::uint64_t{copy.correlation}}});
      }
    }
  }
  Track stream_track(DeviceId device, std::uint32_t stream, TimeNs begin, TimeNs end) {
    Track track{process_of_device(device), kStreamTracks + stream * kLanesPerStream};
    track.thread += stream_lanes_.try_emplace(track, kLanesPerStream, false).first->second.take(begin, end);
    name_track(track, fmt::format("stream {}", stream));
    return track;
  }

  void arrows() {
    for (const WakeEdge& edge : edges_) {
      const std::optional<std::size_t>& to = edge.host ? host_slices_[edge.wait] : wait_slices_[edge.wait];
      const std::optional<std::size_t>& from = signal_slices_[edge.signal];
      if (!to || !from) continue;
      // The arrow ends in the wait's last nanosecond, which is still within its slice.
      const WaitView wait = view_of(model_, edge);
      picture_.arrows.push_back({*from, *to, model_.signals[edge.signal].at, std::max(wait.begin, wait.end - 1)});
    }
  }

  void marks() {
    for (const store::InterventionRow& row : model_.interventions) {
      picture_.marks.push_back({fmt::format("{} to {}", mode_name(row.old_mode), mode_name(row.new_mode)),
                                row.effective,
                                {{"site", row.site == 0 ? "all" : model_.site_name(row.site)},
                                 {"strategy", std::string(strategy_name(row.new_strategy))},
                                 {"requested_us_before", static_cast<double>(row.effective - row.requested) / 1e3}}});
    }
  }

  /// A thread's part of a CPU, and of the time that it was ready to run and had none; 0 where nobody looked.
  void counters() {
    std::map<Track, std::size_t> first_of_thread;
    std::map<std::size_t, TimeNs> known_until;
    for (const store::ThreadSampleRow& sample : model_.thread_samples) {
      const Track thread{process_number(sample.process), sample.thread};
      const auto [found, is_new] = first_of_thread.try_emplace(thread, picture_.counters.size());
      if (is_new) {
        const std::string name = fmt::format("thread {} {}", sample.thread, shorten(sample.name, kNameCharacters));
        picture_.counters.push_back({thread.process, name + ": CPU", "% of a CPU"});
        picture_.counters.push_back({thread.process, name + ": ready, without a CPU", "% of the time"});
      }
      const std::size_t first = found->second;
      if (sample.end <= sample.begin) continue;
      const auto count = [&](std::size_t counter, TimeNs part) {
        const auto until = known_until.find(counter);
        if (until != known_until.end() && until->second < sample.begin) {
          picture_.counts.push_back({counter, until->second, 0});
        }
        picture_.counts.push_back(
            {counter, sample.begin, 100 * static_cast<double>(part) / static_cast<double>(sample.end - sample.begin)});
        known_until[counter] = sample.end;
      };
      count(first, sample.cpu);
      if (sample.run_delay) count(first + 1, *sample.run_delay);
    }
    for (const auto& [counter, until] : known_until) picture_.counts.push_back({counter, until, 0});
  }

  /// Shows the stretches that the picture lacks, and says the same in words.
  void left_out() {
    std::size_t rows = 0;
    for (const LeftOut& gap : stretches_.left_out()) {
      rows += gap.rows;
      name_track(kLeftOutTrack, "left out of this file");
      slice(kLeftOutTrack, "left_out", "left out of this file", gap.begin, gap.end,
            {{"rows", std::uint64_t{gap.rows}}});
    }
    if (rows == 0) return;
    picture_.left_out = fmt::format(
        "The trace has more than {} MB of events. This file keeps all that begins in some stretches of time, those "
        "around changes of mode first, and host waits, kernels, copies, calls and ranges that take {:.0f} % of "
        "the run. {} of {} rows are left out: the track \"left out of this file\" shows where.",
        kMostBytes / 1'000'000, kLongPart * 100, rows, rows_of(model_));
  }

  const TraceModel& model_;
  const std::vector<WakeEdge>& edges_;
  const Stretches& stretches_;
  Picture picture_;
  std::set<Track> named_;
  std::map<std::string, std::size_t, std::less<>> names_;
  std::vector<std::optional<std::size_t>> signal_slices_, wait_slices_, host_slices_;  // nothing: left out
  std::map<Track, Lanes> stream_lanes_;
};

}  // namespace

std::size_t rows_of(const TraceModel& model) {
  return model.waits.size() + model.signals.size() + model.host_waits.size() + model.calls.size() + model.nvtx.size() +
         model.kernels.size() + model.copies.size();
}

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

Picture draw(const TraceModel& model, const std::vector<WakeEdge>& edges, const Stretches& stretches) {
  return Drawing(model, edges, stretches).make();
}

}  // namespace wicprof::reports
