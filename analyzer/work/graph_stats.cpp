#include "analyzer/work/graph_stats.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace wicprof::analyzer {
namespace {

struct Graph {
  std::string name;
  TimeNs whole_ns = 0, parts_ns = 0;
  std::uint64_t kernels = 0;
  std::set<std::uint32_t> launches;  ///< correlations of those with kernels
  std::map<std::string_view, TimeNs> parts;
};

using Graphs = std::map<std::pair<store::ProcessId, std::uint32_t>, Graph>;

Graphs graphs_of(const TraceModel& model) {
  Graphs graphs;
  for (const store::KernelRow& kernel : model.kernels) {
    if (!kernel.is_graph()) continue;
    Graph& graph = graphs[{kernel.process, kernel.graph}];
    graph.name = kernel.name;
    graph.whole_ns += std::max<TimeNs>(0, kernel.end - kernel.start);
  }
  for (const store::KernelRow& kernel : model.kernels) {
    if (kernel.graph == 0 || kernel.is_graph()) continue;
    Graph& graph = graphs[{kernel.process, kernel.graph}];
    if (graph.name.empty()) graph.name = "CUDA graph " + std::to_string(kernel.graph);
    const TimeNs took = std::max<TimeNs>(0, kernel.end - kernel.start);
    ++graph.kernels;
    graph.parts_ns += took;
    graph.launches.insert(kernel.correlation);
    graph.parts[kernel.name] += took;
  }
  return graphs;
}

}  // namespace

std::vector<GraphStats> graph_stats(const TraceModel& model) {
  const Graphs graphs = graphs_of(model);
  std::vector<const Graph*> order;
  for (const auto& [key, graph] : graphs) order.push_back(&graph);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::max(a->whole_ns, a->parts_ns) > std::max(b->whole_ns, b->parts_ns);
  });
  std::vector<GraphStats> all;
  for (const Graph* graph : order) {
    GraphStats& stats = all.emplace_back();
    stats.name = graph->name;
    stats.launches = graph->launches.size();
    if (stats.launches == 0) continue;
    stats.kernels_per_launch = static_cast<double>(graph->kernels) / static_cast<double>(stats.launches);
    for (const auto& [name, took] : graph->parts) {
      const double share = graph->parts_ns == 0 ? 0 : static_cast<double>(took) / static_cast<double>(graph->parts_ns);
      stats.parts.push_back({std::string(name), share});
    }
    std::stable_sort(stats.parts.begin(), stats.parts.end(),
                     [](const GraphPart& a, const GraphPart& b) { return a.share > b.share; });
  }
  return all;
}

}  // namespace wicprof::analyzer
