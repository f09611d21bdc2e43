#include "g_bfs/graph.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <limits>
#include <sstream>

namespace sample::bfs {

Graph graph_of(Vertex vertices, std::span<const Edge> edges) {
  Graph graph;
  graph.begin.assign(std::size_t{vertices} + 1, 0);
  for (const auto& [a, b] : edges) {
    if (a == b) continue;
    ++graph.begin[a + 1];
    ++graph.begin[b + 1];
  }
  for (std::size_t v = 0; v < vertices; ++v) graph.begin[v + 1] += graph.begin[v];
  graph.to.resize(graph.begin.back());
  std::vector<std::uint64_t> next(graph.begin.begin(), graph.begin.end() - 1);
  for (const auto& [a, b] : edges) {
    if (a == b) continue;
    graph.to[next[a]++] = b;
    graph.to[next[b]++] = a;
  }
  return graph;
}

namespace {

// A bijection on the numbers below 2^scale, made of multiplications by odd numbers and shifts.
Vertex renumber(Vertex v, std::uint32_t scale, std::uint64_t seed) {
  const Vertex mask = static_cast<Vertex>((std::uint64_t{1} << scale) - 1);
  const std::uint32_t shift = std::max(1u, scale / 2);
  for (std::uint64_t round = 0; round < 3; ++round) {
    v = (v * (static_cast<Vertex>(mix(seed + round)) | 1)) & mask;
    v ^= v >> shift;
  }
  return v;
}

Edge draw_edge(std::uint32_t scale, std::uint64_t seed, std::uint64_t number) {
  // Cumulative probabilities of the matrix quadrants in units of 1/65,536: 0.57, 0.57 + 0.19, 0.57 + 2 * 0.19.
  constexpr std::array<std::uint64_t, 3> kUpTo{37'356, 49'807, 62'259};
  Edge edge{0, 0};
  std::uint64_t random = 0;
  for (std::uint32_t bit = 0; bit < scale; ++bit) {
    if (bit % 4 == 0) random = mix(seed ^ mix(number * 8 + bit / 4));
    const std::uint64_t draw = random & 0xffff;
    random >>= 16;
    const bool down = draw >= kUpTo[1];
    const bool right = (draw >= kUpTo[0] && !down) || draw >= kUpTo[2];
    edge.first = edge.first << 1 | Vertex{down};
    edge.second = edge.second << 1 | Vertex{right};
  }
  return edge;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Reads a Matrix Market file line by line and counts lines for error messages.
class Lines {
 public:
  explicit Lines(const std::string& path) : path_(path), file_(path) {}
  bool open() const { return file_.is_open(); }
  bool next(std::string& line) {
    ++number_;
    return static_cast<bool>(std::getline(file_, line));
  }
  wic::Error error(const std::string& what) const {
    return wic::bad_input(path_ + ", line " + std::to_string(number_) + ": " + what);
  }

 private:
  std::string path_;
  std::ifstream file_;
  std::size_t number_ = 0;
};

}  // namespace

Graph rmat(std::uint32_t scale, std::uint32_t edge_factor, std::uint64_t seed, bool shuffled) {
  const auto vertices = static_cast<Vertex>(1) << scale;
  std::vector<Edge> edges(std::size_t{vertices} * edge_factor);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    edges[i] = draw_edge(scale, seed, i);
    if (!shuffled) continue;
    edges[i] = {renumber(edges[i].first, scale, seed), renumber(edges[i].second, scale, seed)};
  }
  return graph_of(vertices, edges);
}

wic::Result<Graph> read_matrix_market(const std::string& path) {
  Lines lines(path);
  if (!lines.open()) return wic::bad_input("cannot open " + path + "; --graph names a Matrix Market file");
  std::string line;
  if (!lines.next(line) || !lower(line).starts_with("%%matrixmarket matrix coordinate")) {
    return lines.error(
        "not a Matrix Market file in coordinate format; the first line must begin with '%%MatrixMarket matrix "
        "coordinate'");
  }
  do {
    if (!lines.next(line)) return lines.error("the size line is missing");
  } while (line.empty() || line[0] == '%');
  std::uint64_t rows = 0, columns = 0, entries = 0;
  if (!(std::istringstream(line) >> rows >> columns >> entries)) {
    return lines.error("expected rows, columns and entries, not '" + line + "'");
  }
  const std::uint64_t vertices = std::max(rows, columns);
  if (vertices == 0 || vertices > std::uint64_t{1} << 30) return lines.error("a graph must have 1 to 2^30 vertices");
  std::vector<Edge> edges;
  while (edges.size() < entries) {
    if (!lines.next(line)) {
      return lines.error("the file ends after " + std::to_string(edges.size()) + " of " + std::to_string(entries) +
                         " entries");
    }
    if (line.empty() || line[0] == '%') continue;
    std::uint64_t row = 0, column = 0;
    if (!(std::istringstream(line) >> row >> column) || row == 0 || column == 0 || row > rows || column > columns) {
      return lines.error("expected an entry of a " + std::to_string(rows) + " x " + std::to_string(columns) +
                         " matrix, not '" + line + "'");
    }
    edges.emplace_back(static_cast<Vertex>(row - 1), static_cast<Vertex>(column - 1));
  }
  return graph_of(static_cast<Vertex>(vertices), edges);
}

std::vector<Vertex> draw_sources(const Graph& graph, std::uint32_t count, std::uint64_t seed) {
  std::vector<Vertex> sources;
  const auto has_neighbours = [&](Vertex v) { return graph.begin[v] != graph.begin[v + 1]; };
  for (std::uint64_t i = 0; i < count; ++i) {
    auto v = static_cast<Vertex>(mix(seed ^ mix(i)) % graph.vertices());
    for (Vertex looked = 0; looked < graph.vertices() && !has_neighbours(v); ++looked) v = (v + 1) % graph.vertices();
    sources.push_back(has_neighbours(v) ? v : 0);
  }
  return sources;
}

}  // namespace sample::bfs
