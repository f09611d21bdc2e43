// NVTX ranges and marks, per thread and domain.
#include <fmt/format.h>

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
  return tracks_of_rows<Nvtx>(model, model.nvtx);
}

}  // namespace wicprof::gui
