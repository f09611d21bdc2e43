#pragma once

#include <utility>

#include "protocol/events/signal.h"
#include "store/format/column.h"
#include "store/format/row_list.h"

namespace wicprof::store {

struct SignalRow {
  RowId id;
  SiteId site;
  DeviceId device;
  std::uint32_t block, warp, sm, iteration, value;
  std::optional<WordTag> word;  ///< equals the tag of a wait on the same word where both see the word at one address
  TimeNs at;
  std::uint32_t bytes = 0;   ///< that the signal announces; 0 = not known
  std::uint32_t pieces = 0;  ///< contiguous runs that hold these bytes; 0 = where they are is not known
  std::uint64_t offset = 0;  ///< bytes from the start of the site's data to the first piece
  std::uint64_t span = 0;    ///< bytes from there to the end of the last piece
  bool regular = false;      ///< the pieces have one length and one distance
  SignalWriter writer = SignalWriter::program;
  std::uint32_t correlation = 0;  ///< of the call that made a copy, a memset or a stream's write
  std::uint32_t thread = 0;       ///< of a signal from the CPU, whose block is then 0; 0 = not known
};

struct SignalTable;
using SignalList = RowList<SignalRow, SignalTable>;

struct SignalTable {
  using Event = SignalEvent;
  using Row = SignalRow;
  struct List {
    SignalList signals;
  };
  static constexpr auto kRows = &List::signals;
  static constexpr auto kSortedBy = &Row::at;
  static constexpr const char* kName = "signal";
  static constexpr RowTime kTime{"at_ns", "at_ns"};
  static constexpr Columns kColumns{

      column::site("site_id", &Event::site, &Row::site),
      column::device("device_id", &Event::device, &Row::device),
      column::known("block", &Event::block, &Row::block),
      column::known("warp", &Event::warp, &Row::warp),
      column::known("sm", &Event::sm, &Row::sm),
      column::known("iteration", &Event::iteration, &Row::iteration),
      column::special(
          "value",
          [](const Event& event, const Lookup&) {
            return event.writer == SignalWriter::unknown_copy ? kNull : number(event.value);
          },
          &Row::value),
      column::device_time("at_ns", &Event::at_ns, &Row::at),
      column::nullable("word_tag", &Event::word_tag, &Row::word),
      column::nullable("bytes", &Event::bytes, &Row::bytes),
      column::nullable("pieces", &Event::pieces, &Row::pieces),
      column::known_if("regular", &Event::pieces, &Event::regular, &Row::regular),
      column::known_if("offset_bytes", &Event::pieces, &Event::offset, &Row::offset),
      column::known_if("span_bytes", &Event::pieces, &Event::span, &Row::span),
      column::nullable("writer", &Event::writer, &Row::writer).since_version(8),
      column::nullable("correlation", &Event::correlation, &Row::correlation).since_version(8),
  };

  static constexpr auto kCompleted = &Row::thread;
  /// A signal from the CPU has its thread's number in place of a block.
  static void complete(Row& row) {
    if (row.device == kHostDevice) row.thread = std::exchange(row.block, 0u);
  }
};

}  // namespace wicprof::store
