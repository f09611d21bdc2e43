// Turns the records of rings into rows: converts device times, resolves texts, and keeps what later records refer to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "protocol/events/header.h"
#include "protocol/events/loss.h"
#include "protocol/events/nvtx.h"
#include "protocol/events/text.h"
#include "protocol/ring.h"
#include "store/format/event_tables.h"
#include "store/format/plausible_times.h"
#include "store/write/device_clocks.h"
#include "store/write/participants.h"
#include "store/write/recorder.h"
#include "store/write/retention.h"
#include "store/write/trace_output.h"
#include "store/write/wait_tally.h"

namespace wicprof::store {

/// One thread. An event with a device time is held until the first reading of that device's clock.
class EventIntake {
 public:
  /// `tally`: nullptr = nothing is summed.
  EventIntake(TraceOutput& output, DeviceClocks& clocks, Retention& retention, WaitTally* tally)
      : output_(&output), clocks_(clocks), retention_(retention), tally_(tally) {}
  EventIntake(const EventIntake&) = delete;

  void add(std::size_t ring, const EventHeader& header);
  /// From now on rows with other times are lost, and counted so. At first every time is taken.
  void expect_times(const PlausibleTimes& times) { times_ = times; }
  void set_process(std::size_t ring, std::uint32_t pid) { participants_.set_process(ring, pid); }
  /// The ring has a new producer. Held events of the old one are lost.
  void forget_ring(std::size_t ring);
  /// The held events are lost: no clock reading comes any more.
  void lose_held();

  /// Empty if it is not known.
  std::string text(std::size_t ring, TextId id) const;

  std::string site_name(std::size_t ring, SiteId id) const { return participants_.site_name(ring, id); }

  /// The functions with samples in the output.
  const SampledFunctions& sampled_functions() const { return functions_; }

  /// Later rows go to `output`. Returns the functions with samples in the earlier one.
  SampledFunctions continue_in(TraceOutput& output) {
    output_ = &output;
    sampled_.clear();
    return std::exchange(functions_, {});
  }

 private:
  template <class Event, class Take>
  bool take_if(const EventHeader& header, Take&& take);
  void take(std::size_t ring, const TextEvent& event);
  void take(std::size_t ring, const LossEvent& event);
  void take(std::size_t ring, const NvtxOpenEvent& event);
  template <class Table>
  void take_row(std::size_t ring, const typename Table::Event& event);
  template <class Table>
  void take_device_time(std::size_t ring, const typename Table::Event& event);

  // What an event means besides its row.
  template <class Event>
  void note(std::size_t, const Event&) {}
  void note(std::size_t ring, const DeviceEvent& event);
  void note(std::size_t ring, const SiteEvent& event);
  void note(std::size_t ring, const PcSampleEvent& event);
  void note(std::size_t ring, const NvtxEvent& event);
  void note(std::size_t ring, const ClockEvent& event);

  template <class Table>
  void insert(const typename Table::Event& event, std::size_t ring, DeviceClock* clock);
  template <class Event>
  void sum_up(std::size_t ring, const Event& event, const ClockConverter* clock);

  TraceOutput* output_;
  DeviceClocks& clocks_;
  Retention& retention_;
  WaitTally* tally_;
  Participants participants_;
  std::optional<PlausibleTimes> times_;
  static constexpr std::size_t kMaxSampled = 100'000;  // bounds the memory; the set only saves looks. Not calibrated
  std::set<std::tuple<std::uint64_t, std::size_t, TextId>> sampled_;  // modules and the symbols' rings and numbers
  SampledFunctions functions_;                                        // the same with texts
};

}  // namespace wicprof::store
