// The parts of g_bfs on the CPU device, and the whole program on graphs of awkward shapes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>

#include "app_run.h"
#include "g_bfs/app.h"
#include "g_bfs/rank.h"
#include "g_bfs/reference.h"

namespace sample::bfs {
namespace {

using sample_test::kTimeoutNs;

// A temporary file; the destructor removes it.
class GraphFile {
 public:
  explicit GraphFile(const std::string& text)
      : path_(::testing::TempDir() + "g_bfs_" + std::to_string(::getpid()) + ".mtx") {
    std::ofstream(path_) << text;
  }
  ~GraphFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string error_of(const std::string& text) {
  const GraphFile file(text);
  const auto graph = read_matrix_market(file.path());
  return graph ? "" : graph.error().message;
}

std::vector<std::size_t> degrees(const Graph& graph) {
  std::vector<std::size_t> all;
  for (Vertex v = 0; v < graph.vertices(); ++v) all.push_back(graph.neighbours(v).size());
  return all;
}

TEST(GraphTest, HasEachEdgeAtBothEndsAndNoLoops) {
  const std::vector<Edge> edges{{0, 2}, {1, 1}, {2, 3}, {0, 2}};
  const Graph graph = graph_of(5, edges);
  EXPECT_EQ(degrees(graph), (std::vector<std::size_t>{2, 0, 3, 1, 0}));
  EXPECT_EQ(graph.neighbours(3)[0], 2u);
}

TEST(GraphTest, RmatIsReproducibleAndHasUnevenDegrees) {
  const Graph graph = rmat(8, 16, 1, false);
  EXPECT_EQ(graph.vertices(), 256u);
  EXPECT_LE(graph.to.size(), 2u * 16 * 256);
  EXPECT_GT(graph.to.size(), 16u * 256);
  EXPECT_EQ(graph.to, rmat(8, 16, 1, false).to);
  EXPECT_NE(graph.to, rmat(8, 16, 2, false).to);
  auto all = degrees(graph);
  EXPECT_EQ(*std::max_element(all.begin(), all.end()), all[0]) << "the first vertex has the most";
  EXPECT_GT(all[0], 4 * graph.to.size() / 256);
}

TEST(GraphTest, ShufflingOnlyRenumbersTheVertices) {
  for (const std::uint32_t scale : {1u, 2u, 7u}) {
    auto before = degrees(rmat(scale, 8, 3, false)), after = degrees(rmat(scale, 8, 3, true));
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    EXPECT_EQ(before, after) << scale;
  }
}

TEST(GraphTest, ReadsMatrixMarketFiles) {
  const GraphFile file(
      "%%MatrixMarket matrix coordinate real general\n% a comment\n\n3 4 3\n1 2 0.5\n% another\n2 1 -1\n3 4 7\n");
  const auto graph = read_matrix_market(file.path());
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(degrees(*graph), (std::vector<std::size_t>{2, 2, 1, 1}));
}

TEST(GraphTest, NamesTheFaultOfAFileAndItsLine) {
  EXPECT_NE(read_matrix_market("no/such/file").error().message.find("no/such/file"), std::string::npos);
  EXPECT_NE(error_of("3 3 1\n1 2\n").find("line 1"), std::string::npos);
  EXPECT_NE(error_of("%%MatrixMarket matrix coordinate pattern symmetric\n% only this\n").find("size"),
            std::string::npos);
  EXPECT_NE(error_of("%%MatrixMarket matrix coordinate pattern symmetric\nx\n").find("line 2"), std::string::npos);
  EXPECT_NE(error_of("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n1 2\n").find("1 of 2"),
            std::string::npos);
  EXPECT_NE(error_of("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n4 1\n").find("line 3"),
            std::string::npos);
  EXPECT_NE(error_of("%%MatrixMarket matrix coordinate pattern symmetric\n0 0 0\n").find("1 to 2^30"),
            std::string::npos);
}

TEST(GraphTest, SourcesHaveNeighbours) {
  const std::vector<Edge> edges{{5, 6}};
  for (const Vertex v : draw_sources(graph_of(9, edges), 20, 1)) EXPECT_TRUE(v == 5 || v == 6);
  EXPECT_EQ(draw_sources(graph_of(9, {}), 2, 1), (std::vector<Vertex>{0, 0}));
}

TEST(PartTest, HasEveryEdgeOnceInRowsOfBoundedLength) {
  std::vector<Edge> edges;
  for (Vertex v = 1; v < 700; ++v) edges.emplace_back(0, v);
  const Graph graph = graph_of(701, edges);
  for (const std::uint32_t devices : {1u, 2u, 3u}) {
    const Split split{graph.vertices(), devices};
    std::multiset<Edge> seen;
    for (std::uint32_t d = 0; d < devices; ++d) {
      const Part part = part_of(graph, split, d);
      for (const auto* rows : {&part.own, &part.foreign}) {
        for (std::size_t r = 0; r < rows->vertex.size(); ++r) {
          EXPECT_LE(rows->begin[r + 1] - rows->begin[r], Rows::kMaxEdges);
          for (std::uint32_t e = rows->begin[r]; e < rows->begin[r + 1]; ++e) {
            EXPECT_EQ(split.owner(rows->vertex[r]), d);
            EXPECT_EQ(split.owner(rows->to[e]) == d, rows == &part.own);
            seen.emplace(rows->vertex[r], rows->to[e]);
          }
        }
      }
    }
    EXPECT_EQ(seen.size(), graph.to.size());
    for (const auto& [a, b] : edges) EXPECT_TRUE(seen.count({a, b}) == 1 && seen.count({b, a}) == 1);
  }
}

// The graph 0 - 1 - 2, 3 - 4, and 5 alone.
Graph small_graph() {
  const std::vector<Edge> edges{{0, 1}, {1, 2}, {3, 4}};
  return graph_of(6, edges);
}

TEST(ReferenceTest, FindsTheDistancesOfASmallGraph) {
  const Search found = search(small_graph(), 0);
  EXPECT_EQ(found.distance, (std::vector<std::uint32_t>{0, 1, 2, kUnreached, kUnreached, kUnreached}));
  EXPECT_EQ(found.depth, 2u);
}

TEST(ReferenceTest, FindsWrongDistancesAndParents) {
  const Graph graph = small_graph();
  const Search expected = search(graph, 0);
  const auto right = [&](std::vector<std::uint32_t> distance, std::vector<Vertex> parent) {
    return static_cast<bool>(check_search(graph, 0, expected, distance, parent));
  };
  constexpr std::uint32_t kNo = kUnreached;
  EXPECT_TRUE(right({0, 1, 2, kNo, kNo, kNo}, {0, 0, 1, 9, 9, 9}));
  EXPECT_FALSE(right({0, 1, 3, kNo, kNo, kNo}, {0, 0, 1, 9, 9, 9}));
  EXPECT_FALSE(right({0, 1, kNo, kNo, kNo, kNo}, {0, 0, 1, 9, 9, 9}));
  EXPECT_FALSE(right({0, 1, 2, 4, kNo, kNo}, {0, 0, 1, 4, 9, 9}));
  EXPECT_FALSE(right({0, 1, 2, kNo, kNo, kNo}, {0, 0, 0, 9, 9, 9})) << "not a neighbour";
  EXPECT_FALSE(right({0, 1, 2, kNo, kNo, kNo}, {0, 2, 1, 9, 9, 9})) << "not one step nearer";
  EXPECT_FALSE(right({0, 1, 2, kNo, kNo, kNo}, {1, 0, 1, 9, 9, 9})) << "the source";
}

TEST(ProtocolTest, SendersContinueOrAreWoken) {
  const ChunkHead heads[3] = {{1, 0b010, 0, 0}, {1, 0b101, 1, 0}, {1, 0, 1, 0}};
  EXPECT_EQ(next_senders(0b001, heads, 3), 0b011u);
  EXPECT_EQ(next_senders(0b010, heads, 3), 0b101u) << "dry, but wakes others";
  EXPECT_EQ(next_senders(0b100, heads, 3), 0u);
  EXPECT_EQ(next_senders(0b110, heads, 3), 0b101u) << "dry, but woken";
  EXPECT_EQ(chunks_for(0, 4), 1u);
  EXPECT_EQ(chunks_for(4, 4), 1u);
  EXPECT_EQ(chunks_for(5, 4), 2u);
}

// Device 0 of two; the test plays device 1. Device 0 owns vertices 0 and 1, device 1 owns 2 and 3: the path 0 - 2 - 1 -
// 3.
class RankTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::vector<Edge> edges{{0, 2}, {2, 1}, {1, 3}};
    graph_ = graph_of(4, edges);
    runtime_ = sample_test::make_runtime(1, wic::Way::park);
    constexpr std::uint32_t kBytes = sizeof(ChunkHead) + kChunk * sizeof(Reached);
    out_ = *Lane::make(*runtime_, {"out", wic::End::on(0), wic::End::cpu(), 1, kBytes, wic::Way::park});
    in_ = *Lane::make(*runtime_, {"in", wic::End::cpu(), wic::End::on(0), 1, kBytes, wic::Way::park});
    queue_ = *RankQueue::make(runtime_->device(0));
    start_ = *runtime_->add_site({"start", wicprof::WordMemory::device, wicprof::Pollers::leader, true});
  }

  Rank make_rank(std::uint64_t timeout_ns) {
    return *Rank::make(*runtime_, queue_, graph_, {0, {4, 2}, kChunk, {32, 3, 2}, start_, timeout_ns});
  }
  wicprof::Result<> begin(Rank& rank) {
    Peers peers{};
    peers.senders[1] = out_->turn(1).sender();
    peers.receivers[1] = in_->turn(1).receiver();
    return rank.begin(peers, 1, 0);
  }
  Failure finish() {
    EXPECT_TRUE(queue_.close());
    return *queue_.finish();
  }
  // Device 1's message of its first level: vertex 1 reached from `parent`, or no vertex.
  void answer(std::vector<Reached> reached) {
    std::vector<std::byte> message(sizeof(ChunkHead) + reached.size() * sizeof(Reached));
    const ChunkHead head{1, reached.empty() ? 0u : 1u, 0, static_cast<std::uint32_t>(reached.size())};
    std::memcpy(message.data(), &head, sizeof head);
    if (!reached.empty()) std::memcpy(message.data() + sizeof head, reached.data(), reached.size() * sizeof(Reached));
    const auto sent =
        in_->turn(1).channel->send(0, 1, message.data(), static_cast<std::uint32_t>(message.size()), kTimeoutNs);
    ASSERT_TRUE(sent && sent->status == wicprof::WaitStatus::satisfied);
  }
  // Runs two levels; then checks device 0's result, with the correct answer for device 1's vertices.
  wicprof::Result<> search_with(std::vector<Reached> reached) {
    Rank rank = make_rank(kTimeoutNs);
    EXPECT_TRUE(begin(rank));
    for (std::uint32_t level = 1; level <= 2; ++level) EXPECT_TRUE(rank.queue_level({1, 1 + level}));
    EXPECT_TRUE(rank.queue_read());
    answer(std::move(reached));
    EXPECT_EQ(finish().missed, 0u);
    const auto marks = *rank.marks();
    const auto parents = *rank.parents();
    const auto distance = [](std::uint32_t mark) { return mark == 0 ? kUnreached : mark - 1; };
    const std::vector<std::uint32_t> distances{distance(marks[0]), distance(marks[1]), 1, 3};
    const std::vector<Vertex> all_parents{parents[0], parents[1], 0, 1};
    return check_search(graph_, 0, search(graph_, 0), distances, all_parents);
  }

  static constexpr std::uint32_t kChunk = 4;
  Graph graph_;
  std::unique_ptr<wic::Runtime> runtime_;
  std::unique_ptr<Lane> out_, in_;
  RankQueue queue_;
  wicprof::SiteId start_ = 0;
};

TEST_F(RankTest, SendsReachedVerticesAndProcessesReceivedOnes) {
  const auto right = search_with({{1, 2}});
  EXPECT_TRUE(right) << right.error().message;
  const auto message = out_->turn(1).channel->receive(0, 1, kTimeoutNs);
  ASSERT_EQ(message.data.size(), sizeof(ChunkHead) + sizeof(Reached));
  ChunkHead head;
  Reached reached;
  std::memcpy(&head, message.data.data(), sizeof head);
  std::memcpy(&reached, message.data.data() + sizeof head, sizeof reached);
  EXPECT_EQ(head.chunks, 1u);
  EXPECT_EQ(head.wakes, 0b10u);
  EXPECT_EQ(head.dry, 0u);
  EXPECT_EQ(head.count, 1u);
  EXPECT_EQ(reached.vertex, 2u);
  EXPECT_EQ(reached.parent, 0u);
  const auto second = out_->turn(1).channel->receive(0, 2, kTimeoutNs);
  ASSERT_EQ(second.data.size(), sizeof(ChunkHead));
  std::memcpy(&head, second.data.data(), sizeof head);
  EXPECT_EQ(head.dry, 1u) << "the frontier is empty";
}
TEST_F(RankTest, AMessageWithAWrongParentIsFound) { EXPECT_FALSE(search_with({{1, 3}})); }
TEST_F(RankTest, AMessageWithAMissingVertexIsFound) { EXPECT_FALSE(search_with({})); }
TEST_F(RankTest, AMessageWithAnAlreadyReachedVertexChangesNothing) { EXPECT_TRUE(search_with({{0, 2}, {1, 2}})); }

TEST_F(RankTest, StopsSendingAfterAMissedDeadline) {
  Rank rank = make_rank(2'000'000);
  ASSERT_TRUE(begin(rank));
  for (std::uint32_t level = 1; level <= 3; ++level) ASSERT_TRUE(rank.queue_level({1, 1 + level}));
  ASSERT_TRUE(rank.queue_read());
  const Failure failure = finish();
  EXPECT_EQ(failure.missed, 2u) << "the waiting blocks: one for the message and one for block 0";
  EXPECT_EQ(failure.failed_at, 2u);
  EXPECT_EQ(rank.state().levels, 2u) << "the third level must not start";
}

std::string run_on(const std::string& graph, std::uint32_t devices, const std::string& chunk,
                   wic::Way way = wic::Way::park, std::uint32_t steps = 3) {
  const GraphFile file("%%MatrixMarket matrix coordinate pattern symmetric\n" + graph);
  AppOptions options = sample_test::options_of(g_bfs_info(), 0, way);
  options.more["graph"] = file.path();
  options.more["chunk"] = chunk;
  return sample_test::run_app(g_bfs_info(), devices, options, steps);
}

std::string path_graph(std::uint32_t vertices) {
  std::string text =
      std::to_string(vertices) + " " + std::to_string(vertices) + " " + std::to_string(vertices - 1) + "\n";
  for (std::uint32_t v = 1; v < vertices; ++v) text += std::to_string(v) + " " + std::to_string(v + 1) + "\n";
  return text;
}

std::string star_graph(std::uint32_t vertices) {
  std::string text =
      std::to_string(vertices) + " " + std::to_string(vertices) + " " + std::to_string(vertices - 1) + "\n";
  for (std::uint32_t v = 2; v <= vertices; ++v) text += "1 " + std::to_string(v) + "\n";
  return text;
}

TEST(BreadthFirstTest, IsCorrectInEveryWay) {
  for (const wic::Way way : {wic::Way::naive, wic::Way::poll, wic::Way::park}) {
    AppOptions options = sample_test::options_of(g_bfs_info(), 0, way);
    options.size = 64;
    options.more["edges"] = "3";
    options.more["chunk"] = "5";
    EXPECT_EQ(sample_test::run_app(g_bfs_info(), 2, options, 4), "");
  }
}

TEST(BreadthFirstTest, SearchesGraphsOfAwkwardShapes) {
  EXPECT_EQ(run_on("1 1 0\n", 2, "4"), "") << "one vertex: the second device owns none";
  EXPECT_EQ(run_on("5 5 0\n", 3, "4"), "") << "no edges";
  EXPECT_EQ(run_on("7 7 2\n1 7\n2 3\n", 2, "1"), "") << "disconnected";
  EXPECT_EQ(run_on(path_graph(19), 2, "4"), "") << "many levels";
  EXPECT_EQ(run_on(star_graph(600), 2, "1"), "") << "one vertex per message, more blocks than messages";
}

TEST(BreadthFirstTest, RunsOnThreeAndFourDevicesOnUnbalancedParts) {
  for (const std::uint32_t devices : {3u, 4u}) {
    AppOptions options = sample_test::options_of(g_bfs_info(), 0, wic::Way::park);
    options.size = 100;
    options.blocks = 3;
    options.block_size = 64;
    options.more["edges"] = "4";
    options.more["shuffle"] = "0";
    options.more["chunk"] = "7";
    EXPECT_EQ(sample_test::run_app(g_bfs_info(), devices, options, 4), "") << devices;
  }
}

TEST(BreadthFirstTest, NamesTheUnreadableFile) {
  AppOptions options = sample_test::options_of(g_bfs_info(), 0, wic::Way::park);
  options.more["graph"] = "no/such/file.mtx";
  EXPECT_NE(sample_test::run_app(g_bfs_info(), 2, options, 1).find("no/such/file.mtx"), std::string::npos);
}

}  // namespace
}  // namespace sample::bfs
