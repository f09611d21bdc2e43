// What is inside CUDA graphs, from those launches of which the kernels were recorded.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/trace/trace_model.h"

namespace wicprof::analyzer {

/// A kernel in a graph.
struct GraphPart {
  std::string name;
  double share = 0;  ///< of the time of all kernels in the graph
};

/// A graph that was launched.
struct GraphStats {
  std::string name;            ///< that of its launches among the kernels
  std::uint64_t launches = 0;  ///< of which the kernels were recorded; 0: its kernels are not known
  double kernels_per_launch = 0;
  std::vector<GraphPart> parts;  ///< largest share first
};

/// How many launches a recorded one stands for: those of its graph, over those of which the kernels were recorded.
class GraphWeights {
 public:
  explicit GraphWeights(const TraceModel& model);
  /// 1 for a kernel outside of graphs, and where all launches were recorded kernel by kernel.
  std::uint64_t of(const store::KernelRow& kernel) const;

 private:
  std::map<std::pair<store::ProcessId, std::uint32_t>, std::uint64_t> weights_;  // above 1
};

/// Those with the longest time first.
std::vector<GraphStats> graph_stats(const TraceModel& model);

}  // namespace wicprof::analyzer
