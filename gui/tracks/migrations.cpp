// What happened to managed memory: page faults, and pages that travelled.
#include <fmt/format.h>

#include <map>

#include "gui/tracks/list.h"

namespace wicprof::gui {

std::vector<Track> migration_tracks(const analyzer::TraceModel& model) {
  std::map<DeviceId, std::vector<Span>> by_device;
  for (std::size_t i = 0; i < model.uvm.size(); ++i) {
    const store::UvmRow& row = model.uvm[i];
    const bool travels = row.kind == UvmKind::host_to_device || row.kind == UvmKind::device_to_host ||
                         row.kind == UvmKind::device_to_device;
    by_device[row.device].push_back({row.start, row.end, {EventKind::migration, static_cast<std::uint32_t>(i)},
                                     travels ? State::transferring : State::host_waiting});
  }
  std::vector<Track> list;
  for (auto& [device, spans] : by_device) {
    Track track;
    track.key = fmt::format("managed/{}", device);
    track.name = model.device_key(device);
    track.note = model.device_name(device);
    track.rows = pack(std::move(spans));
    list.push_back(std::move(track));
  }
  return list;
}

}  // namespace wicprof::gui
