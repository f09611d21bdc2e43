// Host threads: their calls and waits, and below those the times when the scheduler kept them off the CPU.
#include <fmt/format.h>

#include <map>
#include <ranges>

#include "gui/view/track_kind.h"

namespace wicprof::gui {

template <>
Track empty_track<struct HostThreads>(const analyzer::TraceModel&, const store::TrackKey& key, const TrackScope& scope,
                                      std::string_view thread_name) {
  Track track;
  track.key = fmt::format("thread/{}/{}", key.process, key.number);
  track.name = fmt::format("{} {}", thread_name.empty() ? "thread" : thread_name, key.number);
  if (scope.several_processes) track.name += fmt::format(", process {}", key.process);
  track.note = fmt::format("thread {} of process {}", key.number, key.process);
  return track;
}

template <>
std::vector<Track> build_tracks<struct HostThreads>(const analyzer::TraceModel& model) {
  std::map<store::TrackKey, std::vector<Span>> threads, delays;
  std::map<store::TrackKey, std::string> names;
  const auto key_of = [](const auto& row) {
    return store::TrackKey{store::LaneKind::thread, row.process, 0, 0, row.thread};
  };
  for (std::size_t i = 0; i < model.host_waits.size(); ++i) {
    const store::HostWaitRow& row = model.host_waits[i];
    threads[key_of(row)].push_back({row.begin,
                                    row.end,
                                    {EventKind::host_wait, static_cast<std::uint32_t>(i)},
                                    store::state_of_host_wait(row.begin, row.end, row.cpu.value_or(-1))});
  }
  for (std::size_t i = 0; i < model.calls.size(); ++i) {
    const store::CallRow& row = model.calls[i];
    threads[key_of(row)].push_back(
        {row.start, row.end, {EventKind::call, static_cast<std::uint32_t>(i)}, State::calling});
  }
  for (std::size_t i = 0; i < model.thread_samples.size(); ++i) {
    const store::ThreadSampleRow& row = model.thread_samples[i];
    names[key_of(row)] = row.name;
    if (const auto length = store::noticeable_delay(row.begin, row.end, row.run_delay)) {
      delays[key_of(row)].push_back(
          {row.end - *length, row.end, {EventKind::thread_sample, static_cast<std::uint32_t>(i)}, State::descheduled});
    }
  }
  const TrackScope scope = scope_of(std::views::keys(threads));
  std::vector<Track> list;
  for (auto& [key, spans] : threads) {
    Track track = empty_track<HostThreads>(model, key, scope, names[key]);
    track.rows = pack(std::move(spans));
    if (const auto delay = delays.find(key); delay != delays.end()) {
      for (SpanRow& row : pack(std::move(delay->second))) track.rows.push_back(std::move(row));
    }
    list.push_back(std::move(track));
  }
  return list;
}

}  // namespace wicprof::gui
