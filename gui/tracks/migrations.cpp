// Managed memory: page faults and page migrations, per device.
#include <fmt/format.h>

#include <map>

#include "gui/view/track_kind.h"

namespace wicprof::gui {

template <>
Track empty_track<struct Migrations>(const analyzer::TraceModel& model, const store::TrackKey& key, const TrackScope&,
                                     std::string_view) {
  Track track;
  track.key = fmt::format("managed/{}", key.device);
  track.name = model.device_key(key.device);
  track.note = model.device_name(key.device);
  return track;
}

template <>
std::vector<Track> build_tracks<struct Migrations>(const analyzer::TraceModel& model) {
  std::map<store::TrackKey, std::vector<Span>> by_device;
  for (std::size_t i = 0; i < model.uvm.size(); ++i) {
    const store::UvmRow& row = model.uvm[i];
    by_device[{store::LaneKind::managed, 0, row.device}].push_back(
        {row.start, row.end, {EventKind::migration, static_cast<std::uint32_t>(i)}, store::state_of(row)});
  }
  std::vector<Track> list;
  for (auto& [key, spans] : by_device) {
    Track track = empty_track<Migrations>(model, key, {}, "");
    track.rows = pack(std::move(spans));
    list.push_back(std::move(track));
  }
  return list;
}

}  // namespace wicprof::gui
