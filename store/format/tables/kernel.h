#pragma once

#include "protocol/events/kernel.h"
#include "store/format/column.h"
#include "store/format/row_list.h"

namespace wicprof::store {

struct KernelRow {
  RowId id;
  DeviceId device;
  Name name;
  TimeNs start, end;
  std::uint32_t context, stream, correlation;
  std::uint32_t grid[3], block[3];
  std::uint32_t registers_per_thread, static_shared_bytes, dynamic_shared_bytes;
  std::optional<std::uint32_t> shared_executed_bytes = {};  ///< shared memory that its SMs were configured with
  std::uint32_t local_bytes_per_thread = 0;
  std::uint32_t cluster[3] = {};  ///< 0 = no clusters
  std::uint32_t graph = 0;        ///< 0 = not part of a graph
  std::uint64_t graph_node = 0;   ///< 0 of the launch of a whole graph, whose blocks are not known
  ProcessId process = 0;

  bool is_graph() const { return graph != 0 && graph_node == 0 && grid[0] == 0; }
};

struct KernelTable;
using KernelList = RowList<KernelRow, KernelTable>;

struct KernelTable {
  using Event = KernelEvent;
  using Row = KernelRow;
  struct List {
    KernelList kernels;
  };
  static constexpr auto kRows = &List::kernels;
  static constexpr auto kSortedBy = &Row::start;
  static constexpr const char* kName = "kernel";
  static constexpr RowTime kTime{"start_ns", "end_ns"};
  static constexpr Columns kColumns{

      column::device("device_id", &Event::device, &Row::device),
      column::text("name_id", &Event::name, &Row::name),
      column::known("start_ns", &Event::start_ns, &Row::start),
      column::known("end_ns", &Event::end_ns, &Row::end),
      column::known("context", &Event::context, &Row::context),
      column::known("stream", &Event::stream, &Row::stream),
      column::known("correlation", &Event::correlation, &Row::correlation),
      column::known("grid_x", column::element(&Event::grid, 0), column::element(&Row::grid, 0)),
      column::known("grid_y", column::element(&Event::grid, 1), column::element(&Row::grid, 1)),
      column::known("grid_z", column::element(&Event::grid, 2), column::element(&Row::grid, 2)),
      column::known("block_x", column::element(&Event::block, 0), column::element(&Row::block, 0)),
      column::known("block_y", column::element(&Event::block, 1), column::element(&Row::block, 1)),
      column::known("block_z", column::element(&Event::block, 2), column::element(&Row::block, 2)),
      column::known("registers_per_thread", &Event::registers_per_thread, &Row::registers_per_thread),
      column::known("static_shared_bytes", &Event::static_shared_bytes, &Row::static_shared_bytes),
      column::known("dynamic_shared_bytes", &Event::dynamic_shared_bytes, &Row::dynamic_shared_bytes),
      column::nullable("shared_executed_bytes", &Event::shared_executed_bytes, &Row::shared_executed_bytes),
      column::known("local_bytes_per_thread", &Event::local_bytes_per_thread, &Row::local_bytes_per_thread),
      column::nullable("cluster_x", column::element(&Event::cluster, 0), column::element(&Row::cluster, 0)),
      column::nullable("cluster_y", column::element(&Event::cluster, 1), column::element(&Row::cluster, 1)),
      column::nullable("cluster_z", column::element(&Event::cluster, 2), column::element(&Row::cluster, 2)),
      column::nullable("graph", &Event::graph, &Row::graph),
      column::known_if("graph_node", &Event::graph, &Event::graph_node, &Row::graph_node),
  };
};

}  // namespace wicprof::store
