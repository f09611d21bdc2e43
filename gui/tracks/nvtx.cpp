// NVTX ranges and marks, per thread and domain.
#include <fmt/format.h>

#include <map>

#include "gui/view/track_kind.h"

namespace wicprof::gui {

template <>
Track empty_track<struct Nvtx>(const analyzer::TraceModel&, const store::TrackKey& key, const TrackScope&,
                               std::string_view) {
  Track track;
  track.key = fmt::format("nvtx/{}/{}/{}", key.process, key.number, key.domain);
  const std::string thread =
      key.number != 0 && key.number == key.process ? "main thread" : fmt::format("thread {}", key.number);
  track.name = key.domain.empty() ? thread : fmt::format("{}, {}", key.domain, thread);
  track.note = fmt::format("process {}", key.process);
  return track;
}

template <>
std::vector<Track> build_tracks<struct Nvtx>(const analyzer::TraceModel& model) {
  std::map<store::TrackKey, std::vector<Span>> by_thread;
  for (std::size_t i = 0; i < model.nvtx.size(); ++i) {
    const store::NvtxRow& row = model.nvtx[i];
    by_thread[{store::LaneKind::nvtx, row.process, 0, 0, row.thread, row.domain}].push_back(
        {row.start, row.end, {EventKind::nvtx, static_cast<std::uint32_t>(i)}, store::state_of(row)});
  }
  std::vector<Track> list;
  for (auto& [key, spans] : by_thread) {
    Track track = empty_track<Nvtx>(model, key, {}, "");
    track.rows = pack(std::move(spans));
    list.push_back(std::move(track));
  }
  return list;
}

}  // namespace wicprof::gui
