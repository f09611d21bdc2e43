// The warps of each SM that wait at all: a strip of how many compute, poll and are parked, which opens into their waits.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analyzer/reports/format.h"
#include "analyzer/sites.h"
#include "gui/tracks/list.h"

namespace wicprof::gui {

namespace {

using Place = std::tuple<DeviceId, std::uint32_t>;                        // device, SM
using Waiter = std::tuple<DeviceId, std::uint32_t, std::uint32_t>;  // device, block, warp

State state_under(StrategyId strategy) {
  return analyzer::every_waiter_polls(strategy) ? State::polling : State::parked;
}

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
  for (std::size_t i = 0; i < model.waits.size(); ++i) {
    const store::WaitRow& wait = model.waits[i];
    const Place place{wait.device, wait.sm};
    Track& track = tracks[place];
    const EventRef ref{EventKind::wait, static_cast<std::uint32_t>(i)};
    const State last = state_under(wait.strategy);
    if (wait.switched && *wait.switched > wait.arrived && *wait.switched < wait.resumed) {
      const State first = last == State::polling ? State::parked : State::polling;
      track.density.add(first, wait.arrived, *wait.switched);
      track.density.add(last, *wait.switched, wait.resumed);
    } else {
      track.density.add(last, wait.arrived, wait.resumed);
    }
    spans[place].push_back({wait.arrived, wait.resumed, ref, last});
    // Between two waits of one launch the warp computes; where its iterations start again, another launch has begun.
    const auto [stay, first_wait] = stays.try_emplace({wait.device, wait.block, wait.warp}, Stay{place, wait.iteration, wait.arrived});
    if (!first_wait) {
      Stay& s = stay->second;
      if (s.place == place && wait.iteration >= s.iteration) track.density.add(State::computing, s.last, wait.arrived);
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
                             analyzer::count_of(track.density.most(), "waiter"));
    list.push_back(std::move(track));
  }
  return list;
}

}  // namespace wicprof::gui
