#pragma once

#include "protocol/events/graph.h"
#include "store/format/column.h"

namespace wicprof::store {

/// Launches of CUDA graphs: for people who query the file.
struct GraphTable {
  using Event = GraphEvent;
  static constexpr const char* kName = "graph";
  static constexpr RowTime kTime{"start_ns", "end_ns"};
  static constexpr Columns kColumns{
      column::device("device_id", &Event::device),       column::known("graph", &Event::graph),
      column::known("start_ns", &Event::start_ns),       column::known("end_ns", &Event::end_ns),
      column::known("context", &Event::context),         column::known("stream", &Event::stream),
      column::known("correlation", &Event::correlation),
  };
};

}  // namespace wicprof::store
