// Host threads: their calls and waits, and below those the times when the scheduler kept them off the CPU.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/words/runtime_names.h"
#include "analyzer/work/kernels.h"
#include "gui/view/track_kind.h"

namespace wicprof::gui {

namespace {

/// Linux keeps so many characters of a thread's name.
constexpr std::size_t kLinuxName = 15;

/// Threads that launched kernels of the runtime, and neither a kernel nor a copy of the program. The kernels of the
/// runtime are few, so all sets are small.
std::set<store::TrackKey> threads_of_runtime(const analyzer::TraceModel& model) {
  const auto launch = [](const auto& row) { return std::uint64_t{row.process} << 32 | row.correlation; };
  analyzer::ProgramKernels is_programs;
  std::unordered_set<std::uint64_t> launches;
  for (const store::KernelRow& row : model.kernels) {
    if (!is_programs(row)) launches.insert(launch(row));
  }
  std::set<store::TrackKey> threads;
  if (launches.empty()) return threads;
  for (const store::CallRow& row : model.calls) {
    if (row.thread != row.process && launches.count(launch(row)) != 0) threads.insert(store::track_of(row));
  }
  for (const store::HostWaitRow& row : model.host_waits) threads.erase(store::track_of(row));
  if (threads.empty()) return threads;
  std::unordered_map<std::uint64_t, store::TrackKey> others;  // the other calls of these threads
  for (const store::CallRow& row : model.calls) {
    const store::TrackKey key = store::track_of(row);
    if (threads.count(key) != 0 && launches.count(launch(row)) == 0) others.emplace(launch(row), key);
  }
  const auto of_program = [&](const auto& row) {
    if (const auto found = others.find(launch(row)); found != others.end()) threads.erase(found->second);
  };
  for (const store::KernelRow& row : model.kernels) of_program(row);
  for (const store::CopyRow& row : model.copies) of_program(row);
  return threads;
}

/// Threads whose calls only ask the driver for values, such as the one of CUPTI: nothing of the program happens there.
std::set<store::TrackKey> threads_that_only_ask(const analyzer::TraceModel& model) {
  std::unordered_map<const std::string*, bool> names;  // equal names share their text
  const auto asks = [&](const store::CallRow& row) {
    const auto [known, fresh] = names.try_emplace(&row.name.text(), false);
    if (fresh) known->second = row.name.text().starts_with("cu") && row.name.text().find("Get") != std::string::npos;
    return known->second;
  };
  std::set<store::TrackKey> asking, others;
  for (const store::CallRow& row : model.calls) {
    if (row.thread != row.process) (asks(row) ? asking : others).insert(store::track_of(row));
  }
  for (const store::TrackKey& key : others) asking.erase(key);
  for (const store::HostWaitRow& row : model.host_waits) asking.erase(store::track_of(row));
  return asking;
}

/// A program that neither waits nor calls CUDA has only samples of its threads: each sample has the time that its
/// thread was on a CPU, drawn at the interval's begin. Without the recorder's own threads.
SpansOfTracks sampled_threads(const analyzer::TraceModel& model) {
  SpansOfTracks threads;
  for (std::size_t i = 0; i < model.thread_samples.size(); ++i) {
    const store::ThreadSampleRow& row = model.thread_samples[i];
    if (analyzer::is_runtime_thread(row.name)) continue;
    std::vector<Span>& spans = threads[store::track_of(row)];
    const TimeNs end = row.begin + std::min(row.cpu, row.end - row.begin);
    if (end > row.begin)
      spans.push_back({row.begin, end, {EventKind::thread_sample, static_cast<std::uint32_t>(i)}, State::computing});
  }
  return threads;
}

}  // namespace

template <>
Track empty_track<struct HostThreads>(const analyzer::TraceModel& model, const store::TrackKey& key,
                                      const TrackScope& scope, std::string_view thread_name) {
  Track track;
  track.key = fmt::format("thread/{}/{}", key.process, key.number);
  // The number of a process is that of its first thread; threads that nobody named have the name of the program.
  const store::ProcessRow* process = model.process(key.process);
  const bool named = !thread_name.empty() && (process == nullptr || thread_name != process->name.substr(0, kLinuxName));
  track.name = key.number != 0 && key.number == key.process ? "main thread"
               : named                                      ? fmt::format("{} (thread {})", thread_name, key.number)
                                                            : fmt::format("thread {}", key.number);
  track.folded = analyzer::is_runtime_thread(thread_name);
  if (scope.several_processes)
    track.name += process != nullptr && process->rank ? fmt::format(", rank {}", *process->rank)
                                                      : fmt::format(", process {}", key.process);
  track.note = fmt::format("thread {} of process {}", key.number, key.process);
  return track;
}

template <>
std::vector<Track> build_tracks<struct HostThreads>(const analyzer::TraceModel& model) {
  SpansOfTracks threads, delays;
  std::map<store::TrackKey, std::string> names;
  add_spans(threads, model.host_waits);
  add_spans(threads, model.calls);
  for (std::size_t i = 0; i < model.thread_samples.size(); ++i) {
    const store::ThreadSampleRow& row = model.thread_samples[i];
    const store::TrackKey key = store::track_of(row);
    names[key] = row.name;
    if (const auto length = store::noticeable_delay(row.begin, row.end, row.run_delay)) {
      delays[key].push_back(
          {row.end - *length, row.end, {EventKind::thread_sample, static_cast<std::uint32_t>(i)}, State::descheduled});
    }
  }
  if (threads.empty()) threads = sampled_threads(model);
  const TrackScope scope = scope_of(std::views::keys(threads));
  std::set<store::TrackKey> runtime = threads_of_runtime(model);
  runtime.merge(threads_that_only_ask(model));
  std::vector<Track> list;
  for (auto& [key, spans] : threads) {
    // New threads have the name of the first one, which may differ from the program's.
    store::TrackKey first = key;
    first.number = key.process;
    const std::string& own = names[key];
    const bool unnamed = own == names[first];
    Track track = empty_track<HostThreads>(model, key, scope, unnamed && !analyzer::is_runtime_thread(own) ? "" : own);
    track.folded = track.folded || runtime.count(key) != 0;
    track.rows = pack(std::move(spans));
    if (const auto delay = delays.find(key); delay != delays.end()) {
      for (SpanRow& row : pack(std::move(delay->second))) track.rows.push_back(std::move(row));
    }
    list.push_back(std::move(track));
  }
  return list;
}

}  // namespace wicprof::gui
