#include "store/write/event_intake.h"

#include <unistd.h>

#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "store/write/row_lookup.h"

namespace wicprof::store {

namespace {

Stat stat_of(LossSource source) {
  switch (source) {
    case LossSource::ring:
      return Stat::ring_dropped;
    case LossSource::device_ring:
      return Stat::device_ring_dropped;
    case LossSource::cupti:
      return Stat::cupti_dropped;
    case LossSource::clock:
      return Stat::clock_lost;
    case LossSource::pc_sampling:
      return Stat::pc_samples_dropped;
    case LossSource::store:
      break;
  }
  return Stat::store_lost;
}

std::string device_detail(DeviceId device) {
  return device == kHostDevice ? "host" : "device " + std::to_string(device);
}

// 0 and unknown times are plausible: CUPTI reports 0 where it could not take a time.
template <class Table>
bool has_plausible_times(const typename Table::Event& event, const Lookup& lookup, const PlausibleTimes& times) {
  if constexpr (has_time<Table>()) {
    const auto [begin, end] = times_of<Table>(event, lookup);
    const auto plausible = [&](const Value& time) {
      return !time.known || time.integer == 0 || times.has(time.integer);
    };
    return plausible(begin) && plausible(end);
  } else {
    return true;
  }
}

}  // namespace

void EventIntake::add(std::size_t ring, const EventHeader& header) {
  if (header.kind == EventKind::padding) return;
  const auto row = [&]<class... Tables>(const std::tuple<Tables...>*) {
    return (take_if<typename Tables::Event>(header, [&](const auto& event) { take_row<Tables>(ring, event); }) || ...);
  };
  const auto rowless = [&]<class... Events>(const std::tuple<Events...>*) {
    return (take_if<Events>(header, [&](const auto& event) { take(ring, event); }) || ...);
  };
  const bool known =
      row(static_cast<const EventTables*>(nullptr)) || rowless(static_cast<const RowlessEvents*>(nullptr));
  if (!known) output_->count_unknown();
}

// Whether the record is of that kind; a record that is too short for its kind is only counted.
template <class Event, class Take>
bool EventIntake::take_if(const EventHeader& header, Take&& take) {
  if (header.kind != Event::kKind) return false;
  if (const auto* event = event_cast<Event>(header)) {
    take(*event);
  } else {
    output_->counters().add(Stat::damaged_records, "", 1);
  }
  return true;
}

void EventIntake::take(std::size_t ring, const TextEvent& event) {
  output_->bind_text(ring, event.id, std::string(text_of(event)));
}

void EventIntake::take(std::size_t ring, const LossEvent& event) {
  std::string detail = device_detail(participants_.device(ring, event.device));
  if (const TextTable::Entry* reason = output_->texts().find(ring, event.reason)) detail += ": " + reason->first;
  output_->counters().add(stat_of(event.source), detail, event.count);
}

void EventIntake::take(std::size_t ring, const NvtxOpenEvent& event) {
  retention_.range_opened(ring, event.thread, text(ring, event.name), text(ring, event.domain), event.start_ns);
}

template <class Table>
void EventIntake::take_row(std::size_t ring, const typename Table::Event& event) {
  if constexpr (has_device_time<Table>()) {
    take_device_time<Table>(ring, event);
  } else {
    note(ring, event);
    insert<Table>(event, ring, nullptr);
  }
}

template <class Table>
void EventIntake::take_device_time(std::size_t ring, const typename Table::Event& event) {
  if (event.device == kHostDevice) return insert<Table>(event, ring, nullptr);
  const DeviceId device = participants_.device(ring, event.device);
  if (!clocks_.takes(device)) return output_->counters().add(Stat::clock_lost, "further devices", 1);
  DeviceClock& clock = clocks_.of(device);
  if (clock.converter.ready()) return insert<Table>(event, ring, &clock);
  if (!clock.hold({ring, event})) output_->counters().add(Stat::clock_lost, device_detail(device), 1);
}

void EventIntake::note(std::size_t ring, const DeviceEvent& event) {
  participants_.add_device(ring, event.device, text(ring, event.uuid));
  // The row may be new, without its clock's error.
  const DeviceId device = participants_.device(ring, event.device);
  if (clocks_.takes(device)) clocks_.of(device).error_changed = true;
}

void EventIntake::note(std::size_t ring, const SiteEvent& event) {
  const std::string name = text(ring, event.name);
  participants_.add_site(ring, event.site, name);
  if (tally_ != nullptr) tally_->name_site(participants_.site(ring, event.site), name);
}

void EventIntake::note(std::size_t ring, const PcSampleEvent& event) {
  const TextTable::Entry* const symbol = output_->texts().find(ring, event.symbol);
  if (symbol == nullptr || !sampled_.insert({event.module, ring, event.symbol}).second) return;
  functions_[event.module].insert(symbol->first);
  if (sampled_.size() > kMaxSampled) sampled_.clear();
}

void EventIntake::note(std::size_t ring, const NvtxEvent& event) {
  if (event.kind != NvtxKind::range || retention_.plan().ranges.empty()) return;
  retention_.range_ended(ring, event.thread, text(ring, event.name), text(ring, event.domain), event.start_ns,
                         event.end_ns);
}

void EventIntake::note(std::size_t ring, const ClockEvent& event) {
  const DeviceId device = participants_.device(ring, event.device);
  if (!clocks_.takes(device)) return output_->counters().add(Stat::clock_refused, "further devices", 1);
  DeviceClock& clock = clocks_.of(device);
  const bool plausible = !times_ || times_->has(event.host_ns);
  if (!plausible || !clock.converter.add({event.device_ns, event.host_ns, TimeNs{event.error_ns}})) {
    output_->counters().add(Stat::clock_refused, device_detail(device), 1);
  }
  if (!clock.converter.ready()) return;
  clock.error_changed = true;
  const std::vector<HeldEvent> held = std::exchange(clock.held, {});
  for (const HeldEvent& one : held) {
    for_each_table<DeviceTimeTables>([&]<class Table>(Type<Table>) {
      if (const auto* timed = std::get_if<typename Table::Event>(&one.event)) insert<Table>(*timed, one.ring, &clock);
    });
  }
}

template <class Table>
void EventIntake::insert(const typename Table::Event& event, std::size_t ring, DeviceClock* clock) {
  const RowLookup lookup(output_->texts(), participants_, ring, clock == nullptr ? nullptr : &clock->converter);
  if (times_ && !has_plausible_times<Table>(event, lookup, *times_)) {
    return output_->counters().add(Stat::impossible_rows, Table::kName, 1);
  }
  if (tally_ != nullptr) sum_up(ring, event, clock == nullptr ? nullptr : &clock->converter);
  if (!output_->stopped() && retention_.plan().fixed() && retention_.outside<Table>(event, lookup)) {
    return output_->count_left_out(1);
  }
  const bool written = output_->insert<Table>(event, lookup);
  output_->write_texts(lookup.new_texts());
  if (!written) return;
  if (lookup.missing_texts() != 0) output_->counters().add(Stat::missing_texts, "", lookup.missing_texts());
  if (clock != nullptr && lookup.worst_error_ns() > clock->worst_error_ns) {
    clock->worst_error_ns = lookup.worst_error_ns();
    clock->error_changed = true;
  }
  output_->commit_if_full();
}

template <class Event>
void EventIntake::sum_up(std::size_t ring, const Event& event, const ClockConverter* clock) {
  const auto host_time = [clock](std::uint64_t ns) {
    return clock == nullptr ? static_cast<TimeNs>(ns) : clock->convert(ns).ns;
  };
  if constexpr (std::is_same_v<Event, WaitEvent>) {
    const SiteId site = participants_.site(ring, event.site);
    tally_->add(site, event);
    tally_->wakes(site, event, host_time(event.arrived_ns), host_time(event.resumed_ns));
  } else if constexpr (std::is_same_v<Event, SignalEvent>) {
    tally_->signals(participants_.site(ring, event.site), event, host_time(event.at_ns));
  } else if constexpr (std::is_same_v<Event, HostWaitEvent>) {
    tally_->add(participants_.site(ring, event.site), event);
  } else if constexpr (std::is_same_v<Event, InterventionEvent>) {
    tally_->add(event);
  } else if constexpr (std::is_same_v<Event, MpiCallEvent> || std::is_same_v<Event, MpiCommunicatorEvent>) {
    tally_->ranks().add(participants_.process(ring), event);
  } else if constexpr (std::is_same_v<Event, ThreadSampleEvent>) {
    const bool in_program = event.pid != static_cast<std::uint32_t>(getpid());
    if (in_program && text(ring, event.name).starts_with("wicprof")) tally_->add_collector_cpu(event.cpu_ns);
  }
}

std::string EventIntake::text(std::size_t ring, TextId id) const {
  const TextTable::Entry* entry = output_->texts().find(ring, id);
  return entry == nullptr ? std::string() : entry->first;
}

void EventIntake::forget_ring(std::size_t ring) {
  participants_.forget_ring(ring);
  sampled_.clear();
  // The held events' process is unknown once the ring has another producer.
  for (auto& [device, clock] : clocks_.all()) {
    const auto of_ring = [ring](const HeldEvent& held) { return held.ring == ring; };
    output_->counters().add(Stat::clock_lost, device_detail(device), std::erase_if(clock.held, of_ring));
  }
}

void EventIntake::lose_held() {
  for (auto& [device, clock] : clocks_.all()) {
    output_->counters().add(Stat::clock_lost, device_detail(device), clock.held.size());
    clock.held.clear();
  }
}

}  // namespace wicprof::store
