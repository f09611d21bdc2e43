// What the reader takes from an event of a Kineto file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace wicprof::imports {

struct JsonEvent {
  std::string name, category, phase;
  std::optional<std::int64_t> pid, tid;
  std::optional<std::int64_t> ts, dur;  ///< in nanoseconds
  // Of `args`.
  std::optional<std::int64_t> correlation, device, context, stream, bytes, registers, shared_memory;
  std::optional<std::int64_t> graph, graph_node, awaited_stream, awaited_event, recorded_by;
  std::int64_t grid[3] = {}, block[3] = {};
  std::string sync_kind, given_name;

  void clear() {
    name.clear();
    category.clear();
    phase.clear();
    sync_kind.clear();
    given_name.clear();
    for (auto* const value : {&pid, &tid, &ts, &dur, &correlation, &device, &context, &stream, &bytes, &registers,
                              &shared_memory, &graph, &graph_node, &awaited_stream, &awaited_event, &recorded_by})
      value->reset();
    for (int i = 0; i < 3; ++i) grid[i] = block[i] = 0;
  }
};

struct JsonDevice {
  std::optional<std::int64_t> id, memory, major, minor, threads_per_sm, registers_per_sm, shared_per_sm, sms;
  std::string name;
};

}  // namespace wicprof::imports
