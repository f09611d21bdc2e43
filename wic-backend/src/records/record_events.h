// Converts device records into events.
#pragma once

#include "protocol/events/signal.h"
#include "protocol/events/wait.h"
#include "protocol/open_work.h"
#include "wic/record.h"

namespace wic {

inline std::uint64_t join_words(std::uint32_t low, std::uint32_t high) { return (std::uint64_t{high} << 32) | low; }

inline wicprof::EventKind record_kind(const DeviceRecord& r) {
  return static_cast<wicprof::EventKind>(r.quads[0].payload[0] & 0xffu);
}

inline wicprof::WaitEvent wait_event(const DeviceRecord& r, wicprof::DeviceId device) {
  auto e = wicprof::make_event<wicprof::WaitEvent>();
  e.site = r.quads[0].payload[1] & 0xffu;
  e.device = device;
  e.block = r.quads[0].payload[2];
  e.warp = static_cast<std::uint16_t>(r.quads[0].payload[1] >> 16);
  e.sm = static_cast<std::uint16_t>(r.quads[3].payload[2]);
  e.word_tag = static_cast<wicprof::WordTag>(r.quads[3].payload[2] >> 16);
  e.iteration = r.quads[1].payload[0];
  e.polls = r.quads[1].payload[1];
  e.arrived_ns = join_words(r.quads[2].payload[0], r.quads[2].payload[1]);
  e.resumed_ns = join_words(r.quads[3].payload[0], r.quads[3].payload[1]);
  e.switched_after_ns = r.quads[1].payload[2];
  e.value = r.quads[2].payload[2];
  e.strategy = static_cast<std::uint8_t>(r.quads[0].payload[0] >> 8);
  e.status = static_cast<wicprof::WaitStatus>((r.quads[0].payload[0] >> 16) & 0x7fu);
  e.waited = static_cast<std::uint8_t>((r.quads[0].payload[0] >> 23) & 1u);
  e.warps = static_cast<std::uint8_t>((r.quads[0].payload[0] >> 24) & 0x7fu);
  e.ahead_plus_one = static_cast<std::uint8_t>(r.quads[0].payload[1] >> 8);
  e.each_thread = static_cast<std::uint8_t>(r.quads[0].payload[0] >> 31);
  return e;
}

inline wicprof::SignalEvent signal_event(const DeviceRecord& r, wicprof::DeviceId device) {
  auto e = wicprof::make_event<wicprof::SignalEvent>();
  e.site = r.quads[0].payload[1] & 0xffu;
  e.device = device;
  e.block = r.quads[0].payload[2];
  e.warp = static_cast<std::uint16_t>(r.quads[0].payload[1] >> 16);
  e.sm = static_cast<std::uint16_t>(r.quads[3].payload[2]);
  e.word_tag = static_cast<wicprof::WordTag>(r.quads[3].payload[2] >> 16);
  e.iteration = r.quads[1].payload[0];
  e.value = r.quads[2].payload[2];
  e.at_ns = join_words(r.quads[2].payload[0], r.quads[2].payload[1]);
  e.offset = std::uint64_t{r.quads[3].payload[0]} * 4;
  e.span = std::uint64_t{r.quads[3].payload[1]} * 4;
  e.bytes = r.quads[1].payload[1];
  e.pieces = r.quads[1].payload[2] & 0x7fffffffu;
  e.regular = static_cast<std::uint8_t>(r.quads[1].payload[2] >> 31);
  return e;
}

/// Of a record of the kind kOpenWaitRecord.
inline std::uint64_t arrival_of(const DeviceRecord& r) {
  return join_words(r.quads[2].payload[0], r.quads[2].payload[1]);
}
inline std::uint32_t report_number(const DeviceRecord& r) { return (r.quads[0].payload[1] >> 8) & 0xffu; }

/// The wait in progress that the record reports, without its times and what its site says.
inline wicprof::OpenWait open_wait(const DeviceRecord& r, wicprof::DeviceId device) {
  wicprof::OpenWait w;
  w.device = device;
  w.block = r.quads[0].payload[2];
  w.warp = static_cast<std::uint16_t>(r.quads[0].payload[1] >> 16);
  w.sm = static_cast<std::uint16_t>(r.quads[3].payload[2]);
  w.word_tag = static_cast<wicprof::WordTag>(r.quads[3].payload[2] >> 16);
  w.iteration = r.quads[1].payload[0];
  w.blocks = r.quads[1].payload[1];
  w.wanted = r.quads[1].payload[2];
  w.value = r.quads[2].payload[2];
  w.address = join_words(r.quads[3].payload[0], r.quads[3].payload[1]);
  w.names_wanted = static_cast<std::uint8_t>((r.quads[0].payload[0] >> 23) & 1u);
  return w;
}

}  // namespace wic
