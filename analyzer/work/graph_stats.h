// What is inside CUDA graphs, from those launches of which the kernels were recorded.
#pragma once

#include <cstdint>
#include <string>
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

/// Those with the longest time first.
std::vector<GraphStats> graph_stats(const TraceModel& model);

}  // namespace wicprof::analyzer
