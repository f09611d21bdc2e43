// What happened to managed memory: page faults, and pages that travelled.
#include <fmt/format.h>

#include <map>

#include "gui/tracks/list.h"

namespace wicprof::gui {

Track migration_track(const analyzer::TraceModel& model, const store::TrackKey& key, const Crowd&) {
  Track track;
  track.key = fmt::format("managed/{}", key.device);
  track.name = model.device_key(key.device);
  track.note = model.device_name(key.device);
  return track;
}

std::vector<Track> migration_tracks(const analyzer::TraceModel& model) {
  std::map<store::TrackKey, std::vector<Span>> by_device;
  for (std::size_t i = 0; i < model.uvm.size(); ++i) {
    const store::UvmRow& row = model.uvm[i];
    by_device[{store::LaneKind::managed, 0, row.device}].push_back(
        {row.start,
         row.end,
         {EventKind::migration, static_cast<std::uint32_t>(i)},
         store::state_of_migration(row.kind)});
  }
  std::vector<Track> list;
  for (auto& [key, spans] : by_device) {
    Track track = migration_track(model, key, {});
    track.rows = pack(std::move(spans));
    list.push_back(std::move(track));
  }
  return list;
}

}  // namespace wicprof::gui
