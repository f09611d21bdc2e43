#pragma once

#include "protocol/events/copy.h"
#include "store/format/column.h"
#include "store/format/row_list.h"

namespace wicprof::store {

struct CopyRow {
  RowId id;
  DeviceId device, peer_device;
  CopyKind kind;
  TimeNs start, end;
  std::uint64_t bytes;
  std::uint32_t context, stream, correlation;
  CopyMemory source = CopyMemory::unknown, destination = CopyMemory::unknown;
  bool asynchronous = false;  ///< the call returned before the copy ended
  std::uint32_t graph = 0;    ///< 0 = not part of a graph
  std::uint64_t graph_node = 0;
  ProcessId process = 0;
};

struct CopyTable;
using CopyList = RowList<CopyRow, CopyTable>;

struct CopyTable {
  using Event = CopyEvent;
  using Row = CopyRow;
  struct List {
    CopyList copies;
  };
  static constexpr auto kRows = &List::copies;
  static constexpr auto kSortedBy = &Row::start;
  static constexpr const char* kName = "copy";
  static constexpr RowTime kTime{"start_ns", "end_ns"};
  static constexpr Columns kColumns{
      column::device("device_id", &Event::device, &Row::device),
      column::device("peer_device_id", &Event::peer_device, &Row::peer_device),
      column::known("kind", &Event::kind, &Row::kind),
      column::known("start_ns", &Event::start_ns, &Row::start),
      column::known("end_ns", &Event::end_ns, &Row::end),
      column::known("bytes", &Event::bytes, &Row::bytes),
      column::known("context", &Event::context, &Row::context),
      column::known("stream", &Event::stream, &Row::stream),
      column::known("correlation", &Event::correlation, &Row::correlation),
      column::known("source_memory", &Event::source, &Row::source),
      column::known("destination_memory", &Event::destination, &Row::destination),
      column::known("asynchronous", &Event::asynchronous, &Row::asynchronous),
      column::nullable("graph", &Event::graph, &Row::graph),
      column::known_if("graph_node", &Event::graph, &Event::graph_node, &Row::graph_node),
  };
};

}  // namespace wicprof::store
