// Undirected graphs: R-MAT graphs as in the Graph500 benchmark, and graphs read from Matrix Market files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/mix.h"
#include "wic/device.h"

namespace sample::bfs {

using Vertex = std::uint32_t;
using Edge = std::pair<Vertex, Vertex>;

/// Neighbours of vertex v: to[begin[v]] to to[begin[v + 1] - 1]. Each edge is stored at both of its ends.
struct Graph {
  std::vector<std::uint64_t> begin{0};
  std::vector<Vertex> to;

  Vertex vertices() const { return static_cast<Vertex>(begin.size() - 1); }
  std::span<const Vertex> neighbours(Vertex v) const { return {to.data() + begin[v], to.data() + begin[v + 1]}; }
};

/// Builds the graph; drops self-loops and keeps duplicate edges. All ends must be below `vertices`.
Graph graph_of(Vertex vertices, std::span<const Edge> edges);

/// An R-MAT graph (Chakrabarti, Zhan, Faloutsos 2004) with Graph500's probabilities 0.57, 0.19, 0.19, 0.05: 2^scale
/// vertices and `edge_factor` times as many edges. `shuffled`: renumbers vertices at random, as Graph500 requires;
/// otherwise high-degree vertices get the low numbers. scale: 1 to 30.
Graph rmat(std::uint32_t scale, std::uint32_t edge_factor, std::uint64_t seed, bool shuffled);

/// Reads a sparse matrix in coordinate format: entry (i, j) is an edge; values are ignored. Errors: no such file, or
/// the faulty line and its fault.
wic::Result<Graph> read_matrix_market(const std::string& path);

/// Draws `count` search sources among the vertices with neighbours; may repeat. Vertex 0 if no vertex has a neighbour.
std::vector<Vertex> draw_sources(const Graph& graph, std::uint32_t count, std::uint64_t seed);

}  // namespace sample::bfs
