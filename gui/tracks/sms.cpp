// The SMs with waiting warps: a strip of how many warps compute, poll, park or wait at a barrier. It opens into rows
// with their waits.
#include <fmt/format.h>

#include <map>
#include <ranges>
#include <tuple>

#include "analyzer/waits/wait_state_table.h"
#include "analyzer/words/format.h"
#include "gui/view/track_kind.h"

namespace wicprof::gui {

template <>
Track empty_track<struct Sms>(const analyzer::TraceModel& model, const store::TrackKey& key, const TrackScope& scope,
                              std::string_view) {
  Track track;
  track.key = fmt::format("sm/{}/{}", key.device, key.number);
  track.name = scope.several_devices ? fmt::format("{} SM {}", model.device_key(key.device), key.number)
                                     : fmt::format("SM {}", key.number);
  track.note = model.device_name(key.device);
  return track;
}

template <>
std::vector<Track> build_tracks<struct Sms>(const analyzer::TraceModel& model) {
  struct Sm {
    Density density;
    std::vector<Span> spans;
  };
  std::map<store::TrackKey, Sm> sms;
  std::map<std::tuple<DeviceId, std::uint32_t, std::uint32_t>, store::Stay> stays;  // by device, block, warp
  const analyzer::WaitStateTable states(model);
  for (std::size_t i = 0; i < model.waits.size(); ++i) {
    const store::WaitRow& wait = model.waits[i];
    Sm& sm = sms[store::track_of(wait)];
    const EventRef ref{EventKind::wait, static_cast<std::uint32_t>(i)};
    const analyzer::WaitStateTable::Own own = states.own(i);
    sm.spans.push_back({wait.arrived, wait.resumed, ref, own.last});
    const auto add = [&](auto... stretch) { sm.density.add(stretch...); };
    store::each_stretch(wait, own, states.others(i), stays[{wait.device, wait.block, wait.warp}], add);
  }
  const TrackScope scope = scope_of(std::views::keys(sms));
  std::vector<Track> list;
  for (auto& [key, sm] : sms) {
    Track track = empty_track<Sms>(model, key, scope, "");
    track.density = std::move(sm.density);
    track.density.finish();
    track.rows = pack(std::move(sm.spans));
    track.note += fmt::format("; at most {} at once", analyzer::count_of(track.density.most(), "warp"));
    list.push_back(std::move(track));
  }
  return list;
}

}  // namespace wicprof::gui
