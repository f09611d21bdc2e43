// Writes one record from inside a kernel: claims a slot of the SM's ring in device memory, then sends the record to
// host memory as four posted 16-byte stores. Never waits: if the host does not empty the ring in time, new records
// overwrite old ones, and the host counts the losses by the tags.
#pragma once

#include "protocol/events/header.h"
#include "protocol/events/signal.h"
#include "protocol/events/wait.h"
#include "wic/device_state.h"
#include "wic/payload.h"
#include "wic/thread.h"
#include "wic/types.h"
#include "wic/word_tag.h"

namespace wic {

/// The kind of a record that reports a wait in progress (OpenWaitReport). Not an event of the trace.
inline constexpr wicprof::EventKind kOpenWaitRecord{255};

/// The content of a DeviceRecord: twelve words.
struct RecordPayload {
  wicprof::EventKind kind;
  std::uint8_t strategy;
  WaitStatus status;
  std::uint32_t site;
  std::uint32_t iteration;
  std::uint32_t polls;
  std::uint64_t begin_ns;  ///< device time of arrival, or of the signal
  std::uint64_t end_ns;    ///< device time of resumption
  std::uint32_t switched_after_ns;
  std::uint32_t value;
  wicprof::WordTag word_tag = 0;
  std::uint8_t warps = 0;  ///< of the waiting group; at most 32
  Pollers pollers = Pollers::leader;
  bool waited = false;              ///< the word was not ready at the first look
  std::uint8_t ahead_plus_one = 0;  ///< as in WaitEvent
};

/// A signal has no end, no polls and no change of strategy: its payload goes into those fields.
WIC_DEVICE inline RecordPayload signal_record(SiteId site, std::uint32_t iteration, std::uint64_t at,
                                              std::uint32_t value, wicprof::WordTag tag, const Payload& payload) {
  const std::uint64_t first = payload.offset / 4;
  const std::uint64_t words = (payload.offset + payload.span + 3) / 4 - first;
  const bool fits = ((first | words) >> 32) == 0;
  const std::uint32_t pieces = fits ? payload.pieces & 0x7fffffffu : 0;
  return {wicprof::SignalEvent::kKind,
          0,
          WaitStatus::satisfied,
          site,
          iteration,
          payload.bytes,
          at,
          fits ? (words << 32) | first : 0,
          pieces | (std::uint32_t{payload.regular} << 31),
          value,
          tag};
}

/// A wait that lasts is reported when its age is this, and again whenever its age has doubled, so that a hang shows its
/// waiters. At this rate a wait of an hour writes 13 records.
inline constexpr std::uint64_t kFirstReportNs = 500'000'000;
inline constexpr std::uint32_t kMostReports = 30;  ///< the last one after 8 years

/// The age at which report number `report` (from 0) is due.
WIC_DEVICE constexpr std::uint64_t report_age_ns(std::uint32_t report) { return kFirstReportNs << report; }

/// The device time for a signal's record. Zero, and no reading, where the view keeps no records of signals: the reading
/// would come before the release, which others wait for.
WIC_DEVICE inline std::uint64_t signal_time(const Thread& thread, const DeviceView& view) {
  return view.records != nullptr && view.record_sample_mask == 0 ? thread.clock_ns() : 0;
}

/// A wait in progress: its word, the value seen last and the value wanted.
struct OpenWaitReport {
  const std::uint32_t* word;
  std::uint64_t arrived_ns;
  std::uint32_t site;
  std::uint32_t iteration;
  std::uint32_t value;
  std::uint32_t wanted;
  bool names_wanted;
  std::uint8_t report;  ///< its number, from 0: the wait's age is report_age_ns(report)
};

/// Whether the sample contains that key: one key in mask + 1 is, at random. A call: most runs record every wait.
WIC_OUT_OF_LINE inline bool in_sample(std::uint64_t key, std::uint32_t mask) {
  key *= 0x9e3779b97f4a7c15u;
  key = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15u;
  return ((key >> 40) & mask) == 0;
}

/// The sample holds all waiters of an iteration or none, since it exists to count simultaneous waiters. For programs
/// that do not count iterations the key also contains the time, in steps of some 67 ms.
WIC_DEVICE inline std::uint64_t sample_key(std::uint32_t iteration, std::uint64_t end_ns) {
  return (std::uint64_t{iteration} << 32) + (end_ns >> 26);
}

WIC_DEVICE inline std::uint32_t low_word(std::uint64_t v) { return static_cast<std::uint32_t>(v); }
WIC_DEVICE inline std::uint32_t high_word(std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); }

// Inline, as is the record of a wait that finds its word ready: as calls, they made the device's part of c_h3d 17 %
// slower (own_overhead_calls.h200.json).
WIC_DEVICE inline void write_record(const Thread& thread, const DeviceView& view, const RecordPayload& r) {
  if (view.records == nullptr) return;
  if (view.record_sample_mask != 0 &&
      (r.kind != wicprof::WaitEvent::kKind || !in_sample(sample_key(r.iteration, r.end_ns), view.record_sample_mask))) {
    return;
  }
  std::uint32_t sm = thread.sm();
  WIC_ROLLED
  while (sm >= view.sm_count) sm -= view.sm_count;  // under MPS; a division would take 20 instructions of each wait
  const std::uint32_t sequence = thread.fetch_add(&view.ring_heads[sm].next, 1);
  const std::uint32_t generation = sequence >> view.ring_capacity_log2;
  const std::uint32_t slot = sequence - (generation << view.ring_capacity_log2);
  const std::uint32_t tag = generation + 1;
  DeviceRecord& to = view.records[(std::size_t{sm} << view.ring_capacity_log2) + slot];
  const std::uint32_t head = static_cast<std::uint32_t>(r.kind) | (std::uint32_t{r.strategy} << 8) |
                             (static_cast<std::uint32_t>(r.status) << 16) | (std::uint32_t{r.waited} << 23) |
                             (std::uint32_t{r.warps} << 24) | (static_cast<std::uint32_t>(r.pollers) << 31);
  thread.store_quad(&to.quads[0], head, r.site | (std::uint32_t{r.ahead_plus_one} << 8) | (thread.warp() << 16),
                    thread.block(), tag);
  thread.store_quad(&to.quads[1], r.iteration, r.polls, r.switched_after_ns, tag);
  thread.store_quad(&to.quads[2], low_word(r.begin_ns), high_word(r.begin_ns), r.value, tag);
  thread.store_quad(&to.quads[3], low_word(r.end_ns), high_word(r.end_ns), sm | (std::uint32_t{r.word_tag} << 16), tag);
}

/// Writes a report of a wait in progress. A call, since few waits come here.
WIC_OUT_OF_LINE inline void write_open_wait(const Thread& thread, const DeviceView& view, OpenWaitReport report) {
  write_record(thread, view,
               {kOpenWaitRecord, 0, WaitStatus::satisfied, report.site, report.iteration, thread.block_count(),
                report.arrived_ns, reinterpret_cast<std::uint64_t>(report.word), report.wanted, report.value,
                word_tag(report.word), 0, Pollers::leader, report.names_wanted, report.report});
}

}  // namespace wic
