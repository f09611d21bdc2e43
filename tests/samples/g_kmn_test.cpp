// The parts of g_kmn on the CPU device, and the whole program at awkward sizes.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "app_run.h"
#include "common/lane.h"
#include "common/transfer.h"
#include "g_kmn/app.h"
#include "g_kmn/check.h"
#include "g_kmn/kernels.h"
#include "wic/launch.h"

namespace sample::kmn {
namespace {

using sample_test::kTimeoutNs;

Point point_of(std::uint16_t first, std::uint16_t second) {
  Point point{};
  point.at[0] = first;
  point.at[1] = second;
  return point;
}

TEST(KMeansReferenceTest, FourPointsAndTwoCentroidsByHand) {
  const std::array<Point, 4> points{point_of(0, 0), point_of(3, 0), point_of(10, 10), point_of(11, 13)};
  const Round round = gather({point_of(1, 0), point_of(9, 9)}, 4, [&](std::uint64_t i) { return points[i]; });
  EXPECT_EQ(round.sums[0], 3u);
  EXPECT_EQ(round.sums[1], 0u);
  EXPECT_EQ(round.sums[kDims], 2u);
  EXPECT_EQ(round.sums[kSumsOfCluster + 0], 21u);
  EXPECT_EQ(round.sums[kSumsOfCluster + 1], 23u);
  EXPECT_EQ(round.sums[kSumsOfCluster + kDims], 2u);
  const auto next = next_centroids(round);
  EXPECT_TRUE(next[0] == point_of(2, 0));  // 3 / 2, rounded
  EXPECT_TRUE(next[1] == point_of(11, 12));
}

TEST(KMeansReferenceTest, TheFirstOfEqualCentroidsGetsThePointAndAnEmptyClusterKeepsItsCentroid) {
  const Round round = gather({point_of(4, 4), point_of(4, 4)}, 1, [](std::uint64_t) { return point_of(5, 5); });
  EXPECT_EQ(round.sums[kDims], 1u);
  EXPECT_TRUE(next_centroids(round)[1] == point_of(4, 4));
}

TEST(KMeansPointsTest, AreWithinTheirRangeAndDiffer) {
  std::set<std::uint16_t> seen;
  for (std::uint64_t i = 0; i < 500; ++i) {
    const Point point = make_point(7, i);
    for (const std::uint16_t value : point.at) EXPECT_LE(value, kMaxCoordinate);
    seen.insert(point.at[3]);
  }
  EXPECT_GT(seen.size(), 100u);
}

TEST(KMeansCutTest, EveryPointIsInOneMessage) {
  for (const std::uint64_t points : {1u, 7u, 64u, 65u, 1000u}) {
    for (const std::uint32_t tags : {1u, 3u, 8u}) {
      const Cut cut{points, 5, tags};
      std::uint64_t next = 0;
      for (std::uint32_t tile = 0; tile < cut.tiles(); ++tile) {
        for (std::uint32_t tag = 0; tag < tags; ++tag) {
          if (cut.count(tile, tag) != 0) {
            EXPECT_EQ(cut.first(tile, tag), next);
          }
          next += cut.count(tile, tag);
        }
      }
      EXPECT_EQ(next, points);
    }
  }
}

TEST(KMeansCheckTest, FindsDifferences) {
  const Sequential reference{3, 100, 4};
  const Round right = reference.replay(3, 0, 1e9).front();
  EXPECT_TRUE(reference.compare(right, 3, 0, 1e9));
  Round sum = right;
  ++sum.sums[kSumsOfCluster + 2];
  EXPECT_FALSE(reference.compare(sum, 3, 0, 1e9));
  Round centroid = right;
  centroid.centroids[2].at[1] ^= 1;
  EXPECT_FALSE(reference.compare(centroid, 3, 0, 1e9));
  EXPECT_FALSE(reference.compare(right, 3, 1, 1e9)) << "wrong start";
  EXPECT_FALSE(reference.compare(sum, 3, 0, 0)) << "only the last round";
  EXPECT_TRUE(reference.compare(right, 3, 0, 0));
}

// The consumer's kernel; the test plays the producer.
class ConsumerTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kClusters = 3, kPoints = 45;
  static constexpr Sequential kReference{5, kPoints, kClusters};

  void SetUp() override {
    runtime_ = sample_test::make_runtime(1, wic::Way::park);
    auto& device = runtime_->device(0);
    lane_ = *Lane::make(*runtime_, {"kmn", wic::End::cpu(), wic::End::on(0), cut_.tags,
                                    cut_.part * static_cast<std::uint32_t>(sizeof(Point)), wic::Way::park});
    centroids_ = *wic::Array<Point>::make(device, 2 * kClusters, wic::Memory::device);
    sums_ = *wic::Array<std::uint64_t>::make(device, 3 * kClusters * kSumsOfCluster, wic::Memory::device);
    labels_ = *wic::Array<std::uint8_t>::make(device, cut_.tags * cut_.part, wic::Memory::device);
    queue_ = *RankQueue::make(device);
    const auto first = first_centroids(kReference.seed, kPoints, kClusters, 0);
    ASSERT_TRUE(upload<Point>(device, queue_.stream(), centroids_, first));
  }

  void launch(std::uint32_t round, std::uint64_t timeout_ns) {
    const Lane::Turn turn = lane_->turn(round);
    Consume kernel{};
    kernel.cut = cut_;
    kernel.receiver = turn.receiver();
    kernel.numbers = {(round - 1) * cut_.tiles() + 1, (round - 1) * cut_.tiles() + 1};
    kernel.clusters = {kClusters, centroids_.data(), sums_.data(), labels_.data()};
    kernel.round = round;
    kernel.failure = queue_.failure();
    kernel.timeout_ns = timeout_ns;
    ASSERT_TRUE(wic::launch(queue_.stream(), {2, 32, kernel.clusters.shared_bytes(), true}, kernel));
  }

  // Sends all points of a round; point number `wrong` gets a wrong coordinate.
  void send_round(std::uint32_t round, std::uint64_t wrong) {
    const Lane::Turn turn = lane_->turn(round);
    for (std::uint32_t tile = 0; tile < cut_.tiles(); ++tile) {
      for (std::uint32_t tag = 0; tag < cut_.tags; ++tag) {
        std::vector<Point> points;
        for (std::uint64_t i = 0; i < cut_.count(tile, tag); ++i) {
          points.push_back(make_point(kReference.seed, cut_.first(tile, tag) + i));
          if (cut_.first(tile, tag) + i == wrong) points.back().at[7] ^= 1;
        }
        const std::uint32_t cycle = (round - 1) * cut_.tiles() + tile + 1;
        const auto sent = turn.channel->send(tag, cycle, points.data(),
                                             static_cast<std::uint32_t>(points.size() * sizeof(Point)), kTimeoutNs);
        ASSERT_TRUE(sent && sent->status == wicprof::WaitStatus::satisfied);
      }
    }
  }

  Failure finish() {
    EXPECT_TRUE(queue_.close());
    return *queue_.finish();
  }

  Round result(std::uint32_t round) {
    auto& device = runtime_->device(0);
    const std::size_t values = kClusters * kSumsOfCluster;
    return {*download(device, queue_.stream(), centroids_, (round & 1) * kClusters, kClusters),
            *download(device, queue_.stream(), sums_, round % 3 * values, values)};
  }

  const Cut cut_{kPoints, 4, 3};
  std::unique_ptr<wic::Runtime> runtime_;
  std::unique_ptr<Lane> lane_;
  wic::Array<Point> centroids_;
  wic::Array<std::uint64_t> sums_;
  wic::Array<std::uint8_t> labels_;
  RankQueue queue_;
};

TEST_F(ConsumerTest, MatchesTheReference) {
  for (std::uint32_t round = 1; round <= 4; ++round) {
    launch(round, kTimeoutNs);
    send_round(round, kPoints);
    EXPECT_EQ(finish().missed, 0u);
  }
  const auto right = kReference.compare(result(4), 4, 0, 1e9);
  EXPECT_TRUE(right) << right.error().message;
}

TEST_F(ConsumerTest, AWrongMessageIsFound) {
  launch(1, kTimeoutNs);
  send_round(1, 17);
  EXPECT_EQ(finish().missed, 0u);
  const auto wrong = kReference.compare(result(1), 1, 0, 1e9);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("dimension 7"), std::string::npos) << wrong.error().message;
}

TEST_F(ConsumerTest, LaterRoundsDoNothingAfterAMissedDeadline) {
  launch(1, 2'000'000);
  const Failure failure = finish();
  EXPECT_EQ(failure.missed, 2u) << "blocks";
  EXPECT_EQ(failure.failed_at, 1u);
  EXPECT_EQ(failure.space, 0u);
  launch(2, kTimeoutNs);
  EXPECT_EQ(finish().missed, 2u);
}

TEST(KMeansTest, IsCorrectInEveryWayAtAwkwardSizes) {
  for (const wic::Way way : {wic::Way::naive, wic::Way::poll, wic::Way::park}) {
    for (const std::uint32_t size : {1u, 33u, 130u}) {
      AppOptions options = sample_test::options_of(g_kmn_info(), 0, way);
      options.size = size;
      options.more["clusters"] = "3";
      options.more["part"] = "9";
      EXPECT_EQ(sample_test::run_app(g_kmn_info(), 2, options, 2), "") << size;
    }
  }
}

TEST(KMeansTest, EachConsumerHasItsOwnStartAndABlockCanHandleSeveralParts) {
  AppOptions options = sample_test::options_of(g_kmn_info(), 0, wic::Way::park);
  options.size = 300;
  options.blocks = 100;
  options.block_size = 128;
  options.more["part"] = "2";
  EXPECT_EQ(sample_test::run_app(g_kmn_info(), 3, options, 2), "");
}

}  // namespace
}  // namespace sample::kmn
