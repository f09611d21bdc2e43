// Kernels and copies by stream.
#include <fmt/format.h>

#include <map>
#include <ranges>

#include "gui/tracks/list.h"

namespace wicprof::gui {

Track stream_track(const analyzer::TraceModel& model, const store::TrackKey& key, const Crowd& crowd) {
  Track track;
  track.key = fmt::format("stream/{}/{}/{}/{}", key.process, key.device, key.context, key.number);
  track.name = fmt::format("{} stream {}", model.device_key(key.device), key.number);
  if (crowd.processes) track.name += fmt::format(", process {}", key.process);
  track.note = fmt::format("{}, context {}", model.device_name(key.device), key.context);
  return track;
}

std::vector<Track> stream_tracks(const analyzer::TraceModel& model) {
  std::map<store::TrackKey, std::vector<Span>> streams;
  const auto put = [&](const auto& row, EventKind kind, std::size_t index, State state) {
    streams[{store::LaneKind::stream, row.process, row.device, row.context, row.stream}].push_back(
        {row.start, row.end, {kind, static_cast<std::uint32_t>(index)}, state});
  };
  for (std::size_t i = 0; i < model.kernels.size(); ++i) put(model.kernels[i], EventKind::kernel, i, State::computing);
  for (std::size_t i = 0; i < model.copies.size(); ++i) put(model.copies[i], EventKind::copy, i, State::transferring);
  const Crowd crowd = crowd_of(std::views::keys(streams));
  std::vector<Track> list;
  for (auto& [key, spans] : streams) {
    Track track = stream_track(model, key, crowd);
    track.rows = pack(std::move(spans));
    list.push_back(std::move(track));
  }
  return list;
}

}  // namespace wicprof::gui
