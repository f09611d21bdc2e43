// Sequential breadth-first search, and the check of distances and parents.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "g_bfs/graph.h"

namespace sample::bfs {

inline constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();

struct Search {
  std::vector<std::uint32_t> distance;  ///< of each vertex, or kUnreached
  std::uint32_t depth = 0;              ///< the greatest
};

inline Search search(const Graph& graph, Vertex source) {
  Search result{std::vector<std::uint32_t>(graph.vertices(), kUnreached), 0};
  std::vector<Vertex> queue{source};
  result.distance[source] = 0;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const Vertex u = queue[next];
    result.depth = result.distance[u];
    for (const Vertex v : graph.neighbours(u)) {
      if (result.distance[v] != kUnreached) continue;
      result.distance[v] = result.distance[u] + 1;
      queue.push_back(v);
    }
  }
  return result;
}

/// Distances must be shortest. A parent must be a neighbour that is one step nearer to the source; several may qualify.
inline wic::Result<> check_search(const Graph& graph, Vertex source, const Search& expected,
                                  std::span<const std::uint32_t> distance, std::span<const Vertex> parent) {
  const auto text = [](std::uint32_t d) { return d == kUnreached ? std::string("unreached") : std::to_string(d); };
  for (Vertex v = 0; v < graph.vertices(); ++v) {
    const std::string where = "search from " + std::to_string(source) + ": vertex " + std::to_string(v);
    if (distance[v] != expected.distance[v]) {
      return wic::failed(where + " has distance " + text(distance[v]) + ", not " + text(expected.distance[v]));
    }
    if (distance[v] == kUnreached) continue;
    if (v == source) {
      if (parent[v] != source) return wic::failed(where + ", the source, is not its own parent");
      continue;
    }
    bool found = false;
    for (const Vertex u : graph.neighbours(v)) found = found || u == parent[v];
    if (!found || distance[parent[v]] + 1 != distance[v]) {
      return wic::failed(where + " has parent " + std::to_string(parent[v]) +
                         (found ? ", which is not one step nearer" : ", which is not a neighbour"));
    }
  }
  return wic::ok();
}

}  // namespace sample::bfs
