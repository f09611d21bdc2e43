// Readings of the machine, with `run --energy`: the power of each meter of energy, and the clock and the temperature of
// each GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "analyzer/compare/energy.h"
#include "gui/view/track_kind.h"

namespace wicprof::gui {

namespace {

/// More is none: damaged traces have any number.
constexpr double kMostReading = 1e9;

Track reading_track(std::string key, std::string name, std::string_view unit, std::string note) {
  Track track;
  track.key = std::move(key);
  track.name = std::move(name);
  track.unit = unit;
  track.note = std::move(note);
  return track;
}

void add_reading(Track& track, TimeNs begin, TimeNs end, double value) {
  if (!std::isfinite(value)) return;
  track.readings.add(State::computing, begin, end,
                     static_cast<std::uint32_t>(std::clamp(value, 0.0, kMostReading) + 0.5));
}

/// The GPU as the program knows it; else as NVML does.
std::string device_of_uuid(const analyzer::TraceModel& model, const std::string& uuid) {
  const auto found = std::find_if(model.devices.begin(), model.devices.end(),
                                  [&](const store::DeviceRow& device) { return device.uuid == uuid; });
  return found == model.devices.end() ? uuid : model.device_key(found->id);
}

/// A track of clocks and one of temperatures per GPU. A reading holds until the next one.
void add_states(const analyzer::TraceModel& model, std::vector<Track>& list) {
  std::map<std::string_view, std::vector<const store::DeviceStateRow*>> gpus;
  for (const store::DeviceStateRow& row : model.device_states) gpus[row.uuid.text()].push_back(&row);
  for (const auto& [uuid, rows] : gpus) {
    const std::string id(uuid), gpu = device_of_uuid(model, id);
    Track clock = reading_track("clock/" + id, "clock of " + gpu, "MHz", "the clock of the SMs, about once per second");
    Track temperature = reading_track("temperature/" + id, "temp. of " + gpu, "C", "the temperature of the GPU");
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const store::DeviceStateRow& row = *rows[i - 1];
      add_reading(clock, row.at, rows[i]->at, row.sm_clock_mhz);
      if (row.temperature_c) add_reading(temperature, row.at, rows[i]->at, *row.temperature_c);
    }
    list.push_back(std::move(clock));
    list.push_back(std::move(temperature));
  }
}

}  // namespace

template <>
std::vector<Track> build_tracks<struct Readings>(const analyzer::TraceModel& model) {
  std::vector<Track> list;
  for (const analyzer::MeterReadings& meter : analyzer::energy_meters(model)) {
    Track track = reading_track("power/" + meter.meter, meter.meter, "W",
                                "the power from one reading of the meter to the next; all of it, whoever uses it");
    for (std::size_t i = 1; i < meter.readings.size(); ++i) {
      const analyzer::EnergyReading &from = meter.readings[i - 1], &to = meter.readings[i];
      if (to.at <= from.at) continue;
      add_reading(track, from.at, to.at, (to.joules - from.joules) * kSecond / static_cast<double>(to.at - from.at));
    }
    list.push_back(std::move(track));
  }
  add_states(model, list);
  for (Track& track : list) track.readings.finish();
  std::erase_if(list, [](const Track& track) { return !track.has_readings(); });
  return list;
}

}  // namespace wicprof::gui
