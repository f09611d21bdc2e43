#include "analyzer/work/graph_stats.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace wicprof::analyzer {
namespace {

struct Graph {
  std::string_view name;
  TimeNs whole_ns = 0, parts_ns = 0;
  std::uint64_t kernels = 0;
  std::set<std::uint32_t> launches;  ///< correlations of those with kernels
  std::map<std::string_view, TimeNs> parts;
};

}  // namespace

std::vector<GraphStats> graph_stats(const TraceModel& model) {
  std::map<std::pair<store::ProcessId, std::uint32_t>, Graph> graphs;
  for (const store::KernelRow& kernel : model.kernels) {
    if (!kernel.is_graph()) continue;
    Graph& graph = graphs[{kernel.process, kernel.graph}];
    graph.name = kernel.name;
    graph.whole_ns += std::max<TimeNs>(0, kernel.end - kernel.start);
  }
  if (graphs.empty()) return {};
  for (const store::KernelRow& kernel : model.kernels) {
    if (kernel.graph == 0 || kernel.is_graph()) continue;
    const auto found = graphs.find({kernel.process, kernel.graph});
    if (found == graphs.end()) continue;
    Graph& graph = found->second;
    const TimeNs took = std::max<TimeNs>(0, kernel.end - kernel.start);
    ++graph.kernels;
    graph.parts_ns += took;
    graph.launches.insert(kernel.correlation);
    graph.parts[kernel.name] += took;
  }
  std::vector<const Graph*> order;
  for (const auto& [key, graph] : graphs) order.push_back(&graph);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->whole_ns > b->whole_ns; });
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
