// The values that reach reads in a loop, and those that depend on each other.
#include "code/loop_flow.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace wicprof {
namespace {

// 0: x = ...; 1: the loop's head, y = x; 2: x = y, if a guard is true; 3: back to 1, or on; 4: the end.
class LoopFlowOfARound : public ::testing::Test {
 protected:
  const Graph graph = graph_of({{1}, {2}, {3}, {1, 4}, {5}});
  const std::vector<Loop> loops = loops_of(graph);
  const std::vector<std::vector<int>> writes = {{0}, {1}, {0}, {}, {}}, reads = {{}, {0}, {1}, {}, {}};

  LoopFlow flow(bool guarded) const {
    return LoopFlow(graph, loops.at(0), [&, guarded](std::size_t i) {
      return LoopFlow::Writes{&writes[i], i != 2 || !guarded};
    });
  }
  static constexpr std::size_t npos = LoopFlow::npos;
};

TEST_F(LoopFlowOfARound, ReadsTheRoundBeforeThroughItsBeginning) {
  const LoopFlow values = flow(false);
  EXPECT_EQ(values.writers_of(1, 0), (std::vector{npos}));
  EXPECT_EQ(values.writers_of(2, 1), (std::vector<std::size_t>{1}));
  EXPECT_EQ(values.last_writers_of(0), (std::vector<std::size_t>{2}));
  EXPECT_EQ(values.origins_of(1, 0), (std::set<std::size_t>{2})) << "not what is in front of the loop";
  EXPECT_FALSE(values.written_in_loop(2));
}

TEST_F(LoopFlowOfARound, AWriteUnderAGuardDoesNotHideTheOneBefore) {
  EXPECT_EQ(flow(false).writers_of(3, 0), (std::vector<std::size_t>{2}));
  EXPECT_EQ(flow(true).writers_of(3, 0), (std::vector<std::size_t>{npos, 2}));
}

TEST_F(LoopFlowOfARound, ValuesThatDependOnThemselvesAreOneComponent) {
  const LoopFlow values = flow(false);
  const auto inputs = values.inputs([&](const LoopFlow::Node& node, const auto& use) {
    for (const int variable : reads[node.instruction]) use(variable);
  });
  std::vector<std::set<std::size_t>> cycles;
  for (const Component& component : components_of(inputs)) {
    if (!component.cyclic) continue;
    std::set<std::size_t>& cycle = cycles.emplace_back();
    for (const int node : component.nodes) cycle.insert(values.nodes()[static_cast<std::size_t>(node)].instruction);
  }
  EXPECT_EQ(cycles, (std::vector<std::set<std::size_t>>{{1, 2, npos}}));
}

TEST(Components, StandBehindWhatTheyDependOn) {
  const std::vector<Component> found = components_of({{1}, {2}, {1}, {3}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(std::set<int>(found[0].nodes.begin(), found[0].nodes.end()), (std::set<int>{1, 2}));
  EXPECT_TRUE(found[0].cyclic);
  EXPECT_EQ(found[1].nodes, (std::vector<int>{0}));
  EXPECT_FALSE(found[1].cyclic);
  EXPECT_TRUE(found[2].cyclic) << "a node may depend on itself";
}

TEST(Exits, AreBlocksThatSomethingOutsideCanFollow) {
  const Graph graph = graph_of({{1}, {2, 5}, {0, 3}, {4}, {5}});  // 1 may leave the function, 2 the loop
  const std::vector<Loop> loops = loops_of(graph);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(exits_of(graph, loops[0]), (std::vector{graph.block_of[1], graph.block_of[2]}));
}

}  // namespace
}  // namespace wicprof
