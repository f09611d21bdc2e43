// A device's part of the graph: a range of vertices and their edges, with edges to own and to other devices' vertices
// stored separately.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "g_bfs/graph.h"

namespace sample::bfs {

/// The owner of each vertex. Devices own equal ranges; the last ranges may be shorter or empty.
struct Split {
  Vertex vertices = 0;
  std::uint32_t devices = 1;

  constexpr Vertex each() const { return (vertices + devices - 1) / devices; }
  constexpr Vertex first(std::uint32_t device) const {
    return std::min<std::uint64_t>(vertices, std::uint64_t{device} * each());
  }
  constexpr Vertex count(std::uint32_t device) const { return first(device + 1) - first(device); }
  constexpr std::uint32_t owner(Vertex v) const { return v / each(); }
};

/// Edges grouped by source vertex. A high-degree vertex has several rows, which balances the work between warps.
struct Rows {
  static constexpr std::uint32_t kMaxEdges = 256;  ///< per row

  std::vector<Vertex> vertex;           ///< of each row
  std::vector<std::uint32_t> begin{0};  ///< first edge of each row in `to`; one more entry than rows
  std::vector<Vertex> to;

  void add(Vertex from, const std::vector<Vertex>& targets) {
    for (std::size_t done = 0; done < targets.size(); done += kMaxEdges) {
      const std::size_t end = std::min(targets.size(), done + kMaxEdges);
      to.insert(to.end(), targets.begin() + static_cast<std::ptrdiff_t>(done),
                targets.begin() + static_cast<std::ptrdiff_t>(end));
      vertex.push_back(from);
      begin.push_back(static_cast<std::uint32_t>(to.size()));
    }
  }
};

struct Part {
  Rows own, foreign;  ///< edges to own vertices, edges to other devices' vertices
};

inline Part part_of(const Graph& graph, const Split& split, std::uint32_t device) {
  Part part;
  std::vector<Vertex> own, foreign;
  const Vertex first = split.first(device), count = split.count(device);
  for (Vertex v = first; v < first + count; ++v) {
    own.clear();
    foreign.clear();
    for (const Vertex to : graph.neighbours(v)) (to - first < count ? own : foreign).push_back(to);
    part.own.add(v, own);
    part.foreign.add(v, foreign);
  }
  return part;
}

}  // namespace sample::bfs
