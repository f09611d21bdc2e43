// Host threads: their calls, how they wait within them, and when the scheduler kept them from a CPU.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "gui/tracks/list.h"

namespace wicprof::gui {

namespace {

/// By CPU time beside wall time, as analyzer::HostWaitStats tells it.
State way_of(const store::HostWaitRow& wait) {
  if (!wait.cpu || wait.end <= wait.begin) return State::host_waiting;
  const double share = static_cast<double>(*wait.cpu) / static_cast<double>(wait.end - wait.begin);
  if (share >= 0.8) return State::polling;
  if (share <= 0.2) return State::parked;
  return State::host_waiting;
}

/// From this part of an interval on the thread was so often kept from a CPU that it shows.
constexpr double kNoticeable = 0.05;

}  // namespace

std::vector<Track> host_thread_tracks(const analyzer::TraceModel& model) {
  using Thread = std::tuple<store::ProcessId, std::uint32_t>;
  std::map<Thread, std::vector<Span>> threads, delays;
  std::map<Thread, std::string> names;
  for (std::size_t i = 0; i < model.host_waits.size(); ++i) {
    const store::HostWaitRow& row = model.host_waits[i];
    threads[{row.process, row.thread}].push_back(
        {row.begin, row.end, {EventKind::host_wait, static_cast<std::uint32_t>(i)}, way_of(row)});
  }
  for (std::size_t i = 0; i < model.calls.size(); ++i) {
    const store::CallRow& row = model.calls[i];
    threads[{row.process, row.thread}].push_back(
        {row.start, row.end, {EventKind::call, static_cast<std::uint32_t>(i)}, State::calling});
  }
  for (std::size_t i = 0; i < model.thread_samples.size(); ++i) {
    const store::ThreadSampleRow& row = model.thread_samples[i];
    const Thread thread{row.process, row.thread};
    names[thread] = row.name;
    if (!row.run_delay || static_cast<double>(*row.run_delay) < kNoticeable * static_cast<double>(row.end - row.begin)) continue;
    // The sample says how long, not when: the stretch stands at the interval's end, as long as the delay was.
    const TimeNs length = std::min(*row.run_delay, row.end - row.begin);
    delays[thread].push_back({row.end - length, row.end, {EventKind::thread_sample, static_cast<std::uint32_t>(i)}, State::descheduled});
  }
  std::set<store::ProcessId> processes;
  for (const auto& [thread, spans] : threads) processes.insert(std::get<0>(thread));
  std::vector<Track> list;
  for (auto& [thread, spans] : threads) {
    const auto [process, number] = thread;
    Track track;
    track.key = fmt::format("thread/{}/{}", process, number);
    const auto name = names.find(thread);
    track.name = name != names.end() && !name->second.empty() ? fmt::format("{} {}", name->second, number)
                                                               : fmt::format("thread {}", number);
    if (processes.size() > 1) track.name += fmt::format(", process {}", process);
    track.note = fmt::format("thread {} of process {}", number, process);
    track.rows = pack(std::move(spans));
    if (const auto delay = delays.find(thread); delay != delays.end()) {
      for (SpanRow& row : pack(std::move(delay->second))) track.rows.push_back(std::move(row));
    }
    list.push_back(std::move(track));
  }
  return list;
}

}  // namespace wicprof::gui
