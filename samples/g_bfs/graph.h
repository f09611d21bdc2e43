// Undirected graphs: the R-MAT graphs of the Graph500 benchmark, and those of Matrix Market files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "wic/device.h"

namespace sample::bfs {

using Vertex = std::uint32_t;
using Edge = std::pair<Vertex, Vertex>;

/// Neighbours of vertex v: to[begin[v]] to to[begin[v + 1] - 1]. Each edge is there from both of its ends.
struct Graph {
  std::vector<std::uint64_t> begin{0};
  std::vector<Vertex> to;

  Vertex vertices() const { return static_cast<Vertex>(begin.size() - 1); }
  std::span<const Vertex> neighbours(Vertex v) const { return {to.data() + begin[v], to.data() + begin[v + 1]}; }
};

/// Loops are left out, edges that are there twice stay. All ends are below `vertices`.
Graph graph_of(Vertex vertices, std::span<const Edge> edges);

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// 2^scale vertices and `edge_factor` times as many edges, by the recursive matrix (Chakrabarti, Zhan, Faloutsos 2004)
/// with Graph500's probabilities 0.57, 0.19, 0.19, 0.05. `shuffled`: vertices are renumbered at random, as Graph500
/// wants it; without that, vertices of many edges have the low numbers. scale: 1 to 30.
Graph rmat(std::uint32_t scale, std::uint32_t edge_factor, std::uint64_t seed, bool shuffled);

/// A sparse matrix in coordinate format: entry (i, j) is an edge. Values are ignored. Errors: no such file, or what is
/// wrong with it and in which line.
wicprof::Result<Graph> read_matrix_market(const std::string& path);

/// `count` vertices to search from, drawn among those that have neighbours; vertex 0 where there are none. Not all
/// different.
std::vector<Vertex> draw_sources(const Graph& graph, std::uint32_t count, std::uint64_t seed);

}  // namespace sample::bfs
