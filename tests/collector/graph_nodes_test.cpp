// When the nodes of CUDA graphs are recorded one by one.
#include "collector/sources/graph_nodes.h"

#include <gtest/gtest.h>

namespace wicprof::collector {
namespace {

constexpr TimeNs kTick = 100 * kMillisecond;

TEST(GraphNodes, AreRecordedUntilAGraphIsKnown) {
  GraphNodes nodes;
  EXPECT_TRUE(nodes.look(0));
  EXPECT_TRUE(nodes.look(1'000 * kSecond)) << "no graph was launched, so nothing is slower";
  nodes.node_seen(7);
  EXPECT_FALSE(nodes.look(1'000 * kSecond + kTick));
  nodes.whole_seen(7);
  EXPECT_FALSE(nodes.look(5'000 * kSecond)) << "its nodes are known";
}

TEST(GraphNodes, AreRecordedForAMomentForEachNewGraph) {
  GraphNodes nodes;
  nodes.node_seen(7);
  EXPECT_FALSE(nodes.look(kTick));
  nodes.whole_seen(8);
  EXPECT_FALSE(nodes.look(2 * kTick)) << "too soon";
  const TimeNs later = kTick + GraphNodes::kRest;
  EXPECT_TRUE(nodes.look(later));
  EXPECT_TRUE(nodes.look(later + kTick)) << "it has not been launched again";
  nodes.node_seen(7);
  nodes.node_seen(8);
  EXPECT_FALSE(nodes.look(later + 2 * kTick));
  nodes.whole_seen(7);
  nodes.whole_seen(8);
  EXPECT_FALSE(nodes.look(later + 2 * GraphNodes::kRest));
}

TEST(GraphNodes, AreGivenUpWhereTheyDoNotCome) {
  GraphNodes nodes;
  nodes.node_seen(1);
  TimeNs now = 0;
  EXPECT_FALSE(nodes.look(now));
  nodes.whole_seen(2);
  for (int moment = 0; moment < GraphNodes::kMostFailures; ++moment) {
    now += GraphNodes::kRest;
    EXPECT_TRUE(nodes.look(now)) << moment;
    now += GraphNodes::kLongest;
    EXPECT_FALSE(nodes.look(now)) << moment;
  }
  EXPECT_FALSE(nodes.look(now + 100 * GraphNodes::kRest));
}

TEST(GraphNodes, OfVeryManyGraphsAreNotLookedFor) {
  GraphNodes nodes;
  for (std::uint32_t graph = 1; graph <= GraphNodes::kMostGraphs; ++graph) nodes.node_seen(graph);
  EXPECT_FALSE(nodes.look(0));
  nodes.whole_seen(1'000'000);
  EXPECT_FALSE(nodes.look(100 * GraphNodes::kRest));
}

}  // namespace
}  // namespace wicprof::collector
