// The warps of each SM that wait at all: a strip of how many compute, poll, are parked and stand at a barrier, which opens
// into their waits.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyzer/reports/format.h"
#include "analyzer/wait_states.h"
#include "gui/tracks/list.h"

namespace wicprof::gui {

namespace {

using Place = std::tuple<DeviceId, std::uint32_t>;                        // device, SM
using Waiter = std::tuple<DeviceId, std::uint32_t, std::uint32_t>;  // device, block, warp

struct Stay {
  Place place;
  std::uint32_t iteration = 0;
  TimeNs last = 0;
};

}  // namespace

std::vector<Track> sm_tracks(const analyzer::TraceModel& model) {
  std::map<Place, Track> tracks;
  std::map<Place, std::vector<Span>> spans;
  std::map<Waiter, Stay> stays;
  const analyzer::WaitStates states(model);
  for (std::size_t i = 0; i < model.waits.size(); ++i) {
    const store::WaitRow& wait = model.waits[i];
    const Place place{wait.device, wait.sm};
    Track& track = tracks[place];
    const EventRef ref{EventKind::wait, static_cast<std::uint32_t>(i)};
    const analyzer::WaitStates::Own own = states.own(i);
    const std::uint32_t others = states.others(i);
    track.density.add(own.first, wait.arrived, own.change);
    track.density.add(own.last, own.change, wait.resumed);
    track.density.add(State::at_barrier, wait.arrived, wait.resumed, others);
    spans[place].push_back({wait.arrived, wait.resumed, ref, own.last});
    // Between two waits of one launch its warps compute; where the iterations start again, another launch has begun.
    const auto [stay, first_wait] = stays.try_emplace({wait.device, wait.block, wait.warp}, Stay{place, wait.iteration, wait.arrived});
    if (!first_wait) {
      Stay& s = stay->second;
      if (s.place == place && wait.iteration >= s.iteration) track.density.add(State::computing, s.last, wait.arrived, 1 + others);
      s = {place, wait.iteration, s.last};
    }
    stay->second.last = std::max(stay->second.last, wait.resumed);
  }
  const bool many = std::any_of(tracks.begin(), tracks.end(), [&](const auto& entry) {
    return std::get<0>(entry.first) != std::get<0>(tracks.begin()->first);
  });
  std::vector<Track> list;
  for (auto& [place, track] : tracks) {
    const auto [device, sm] = place;
    track.key = fmt::format("sm/{}/{}", device, sm);
    track.name = many ? fmt::format("{} SM {}", model.device_key(device), sm) : fmt::format("SM {}", sm);
    track.density.finish();
    track.rows = pack(std::move(spans[place]));
    track.note = fmt::format("{}; at most {} at once", model.device_name(device),
                             analyzer::count_of(track.density.most(), "warp"));
    list.push_back(std::move(track));
  }
  return list;
}

}  // namespace wicprof::gui
