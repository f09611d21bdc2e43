// Signals to each wait site, from any sender.
#include <fmt/format.h>

#include <map>

#include "gui/view/track_kind.h"

namespace wicprof::gui {

template <>
Track empty_track<struct Signals>(const analyzer::TraceModel& model, const store::TrackKey& key, const TrackScope&,
                                  std::string_view) {
  Track track;
  track.name = model.site_name(key.number);
  track.key = "signals/" + track.name;
  track.note = "signals to " + track.name;
  return track;
}

template <>
std::vector<Track> build_tracks<struct Signals>(const analyzer::TraceModel& model) {
  std::map<store::TrackKey, std::vector<Span>> by_site;
  for (std::size_t i = 0; i < model.signals.size(); ++i) {
    const store::SignalRow& signal = model.signals[i];
    by_site[{store::LaneKind::signals, 0, 0, 0, signal.site}].push_back(
        {signal.at, signal.at, {EventKind::signal, static_cast<std::uint32_t>(i)}, store::state_of(signal)});
  }
  std::vector<Track> list;
  for (auto& [key, spans] : by_site) {
    Track track = empty_track<Signals>(model, key, {}, "");
    SpanRow row;  // one row: simultaneous signals overlap
    for (const Span& span : spans) row.add(span);
    row.finish();
    track.rows.push_back(std::move(row));
    list.push_back(std::move(track));
  }
  return list;
}

}  // namespace wicprof::gui
