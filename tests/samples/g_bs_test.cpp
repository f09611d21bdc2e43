// The parts of g_bs on the CPU device, and the whole program at awkward sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "app_run.h"
#include "common/lane.h"
#include "common/transfer.h"
#include "g_bs/app.h"
#include "g_bs/check.h"
#include "g_bs/kernels.h"
#include "wic/launch.h"

namespace sample::bs {
namespace {

using sample_test::kTimeoutNs;

TEST(BitonicLayoutTest, EveryKeyHasOnePlace) {
  for (const std::uint32_t device_bits : {1u, 2u, 3u}) {
    for (const std::uint32_t keys : {1u, 5u, 64u, 1000u}) {
      const Layout layout = layout_of(keys, device_bits, 4);
      EXPECT_GE(1u << layout.bits, keys);
      EXPECT_GE(layout.pieces(), 2u);
      std::set<std::uint32_t> seen;
      for (std::uint32_t d = 0; d < layout.devices(); ++d) {
        for (std::uint32_t i = 0; i < layout.local_keys(); ++i) seen.insert(layout.global(d, i));
      }
      EXPECT_EQ(seen.size(), std::size_t{1} << layout.bits);
      EXPECT_EQ(*seen.rbegin() >> layout.bits, 0u);
    }
  }
}

TEST(BitonicLayoutTest, StepsBetweenDevicesUseTheDeviceBits) {
  const Layout layout = layout_of(1024, 2, 4);
  for (std::uint32_t bit = 0; bit < layout.bits; ++bit) EXPECT_EQ(layout.is_remote(bit), bit == 4 || bit == 5) << bit;
  EXPECT_EQ(layout.global(0, 3) ^ layout.global(1, 3), 1u << 4);
  EXPECT_EQ(layout.global(1, 3) ^ layout.global(3, 3), 1u << 5);
}

TEST(BitonicLayoutTest, PartnersKeepOneKeyEach) {
  for (std::uint32_t g = 0; g < 64; ++g) {
    for (std::uint32_t phase = 1; phase <= 6; ++phase) {
      for (std::uint32_t bit = 0; bit < phase; ++bit) {
        EXPECT_NE(keeps_smaller(g, phase, bit), keeps_smaller(g ^ (1u << bit), phase, bit));
      }
    }
  }
}

// The kernels' network in one loop.
TEST(BitonicLayoutTest, TheNetworkSorts) {
  const Layout layout = layout_of(200, 1, 3);
  std::vector<Record> records(std::size_t{1} << layout.bits);
  for (std::uint32_t g = 0; g < records.size(); ++g) records[g] = layout.first_record(9, g);
  for (std::uint32_t phase = 1; phase <= layout.bits; ++phase) {
    for (std::uint32_t bit = phase; bit-- > 0;) {
      for (std::uint32_t g = 0; g < records.size(); ++g) {
        const std::uint32_t partner = g ^ (1u << bit);
        if (g < partner && (records[g] > records[partner]) == keeps_smaller(g, phase, bit)) {
          std::swap(records[g], records[partner]);
        }
      }
    }
  }
  EXPECT_TRUE(check_sorted(layout, 9, records));
}

class SortedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (std::uint32_t g = 0; g < 1u << layout_.bits; ++g) sorted_.push_back(layout_.first_record(4, g));
    std::sort(sorted_.begin(), sorted_.end());
  }
  bool right() const { return static_cast<bool>(check_sorted(layout_, 4, sorted_)); }

  const Layout layout_ = layout_of(30, 1, 2);
  std::vector<Record> sorted_;
};

TEST_F(SortedTest, AcceptsTheSortedList) { EXPECT_TRUE(right()); }
TEST_F(SortedTest, RejectsTwoExchangedRecords) {
  std::swap(sorted_[3], sorted_[4]);
  EXPECT_FALSE(right());
}
TEST_F(SortedTest, RejectsARepeatedKey) {
  sorted_[3] = sorted_[4];
  EXPECT_FALSE(right());
}
TEST_F(SortedTest, RejectsAWrongKey) {
  sorted_[3] ^= std::uint64_t{1} << 32;
  EXPECT_FALSE(right());
}
TEST_F(SortedTest, RejectsAWrongIndex) {
  sorted_[3] ^= 1;
  EXPECT_FALSE(right());
}

// The exchange of one device; the test plays its partner. Pieces of two keys alternate between the device and the
// partner.
class ExchangeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime_ = sample_test::make_runtime(1, wic::Way::park);
    auto& device = runtime_->device(0);
    out_ = *Lane::make(*runtime_, {"out", wic::End::on(0), wic::End::cpu(), cut_.tags, kBytes, wic::Way::park});
    in_ = *Lane::make(*runtime_, {"in", wic::End::cpu(), wic::End::on(0), cut_.tags, kBytes, wic::Way::park});
    records_ = *wic::Array<Record>::make(device, layout_.local_keys(), wic::Memory::device);
    queue_ = *RankQueue::make(device);
    ASSERT_TRUE(upload<Record>(device, queue_.stream(), records_, mine_));
  }

  void launch(std::uint32_t iteration, std::uint64_t timeout_ns) {
    Exchange kernel{};
    kernel.layout = layout_;
    kernel.cut = cut_;
    kernel.phase = 3;
    kernel.steps = 1;
    kernel.senders[0] = out_->turn(iteration).sender();
    kernel.send_cycles[0] = iteration;
    kernel.receivers[0] = in_->turn(iteration).receiver();
    kernel.receive_cycles[0] = iteration;
    kernel.iteration = iteration;
    kernel.records = records_.data();
    kernel.failure = queue_.failure();
    kernel.timeout_ns = timeout_ns;
    ASSERT_TRUE(wic::launch(queue_.stream(), {1, 32, 16, true}, kernel));
  }

  Failure finish() {
    EXPECT_TRUE(queue_.close());
    return *queue_.finish();
  }

  void send(std::vector<Record> theirs) {
    wic::Channel& channel = *in_->turn(1).channel;
    for (wic::Tag tag = 0; tag < 2; ++tag) {
      const auto sent = channel.send(tag, 1, theirs.data() + std::size_t{tag} * 2, kBytes, kTimeoutNs);
      ASSERT_TRUE(sent && sent->status == wicprof::WaitStatus::satisfied);
    }
  }

  static constexpr std::uint32_t kBytes = 2 * sizeof(Record);
  const Layout layout_{8, 3, 1, 1};
  const Cut cut_{2, 2};
  const std::vector<Record> mine_{1, 7, 8, 2};  // indices 0, 1, 4, 5
  std::unique_ptr<wic::Runtime> runtime_;
  std::unique_ptr<Lane> out_, in_;
  wic::Array<Record> records_;
  RankQueue queue_;
};

TEST_F(ExchangeTest, SendsItsPiecesAndKeepsTheSmallerKeys) {
  launch(1, kTimeoutNs);
  send({5, 3, 4, 6});  // indices 2, 3, 6, 7
  EXPECT_EQ(finish().missed, 0u);
  EXPECT_EQ(*download(runtime_->device(0), queue_.stream(), records_, 0, 4), (std::vector<Record>{1, 3, 2, 4}));
  for (wic::Tag tag = 0; tag < 2; ++tag) {
    const auto message = out_->turn(1).channel->receive(tag, 1, kTimeoutNs);
    ASSERT_EQ(message.data.size(), kBytes);
    EXPECT_EQ(std::memcmp(message.data.data(), mine_.data() + std::size_t{tag} * 2, kBytes), 0);
  }
}

TEST_F(ExchangeTest, AWrongMessageChangesTheResult) {
  launch(1, kTimeoutNs);
  send({5, 3, 0, 6});
  EXPECT_EQ(finish().missed, 0u);
  EXPECT_EQ(*download(runtime_->device(0), queue_.stream(), records_, 0, 4), (std::vector<Record>{1, 3, 0, 2}));
}

TEST_F(ExchangeTest, StopsSendingAfterAMissedDeadline) {
  launch(1, 2'000'000);
  const Failure failure = finish();
  EXPECT_EQ(failure.missed, 1u);
  EXPECT_EQ(failure.peer, 1u);
  EXPECT_EQ(failure.space, 0u);
  launch(2, kTimeoutNs);
  EXPECT_EQ(finish().missed, 1u);
  EXPECT_EQ(out_->turn(2).channel->receive(0, 2, 1'000).wait.status, wicprof::WaitStatus::deadline_passed);
}

TEST(BitonicSortTest, IsCorrectInEveryWayAtAwkwardSizes) {
  for (const wic::Way way : {wic::Way::naive, wic::Way::poll, wic::Way::park}) {
    for (const std::uint32_t size : {1u, 3u, 65u, 300u}) {
      AppOptions options = sample_test::options_of(g_bs_info(), 0, way);
      options.size = size;
      options.more["piece"] = "16";
      EXPECT_EQ(sample_test::run_app(g_bs_info(), 2, options, 2), "") << size;
    }
  }
}

TEST(BitonicSortTest, SortsOnFourAndEightDevicesWithAnyNumberOfMessages) {
  for (const std::uint32_t devices : {4u, 8u}) {
    AppOptions options = sample_test::options_of(g_bs_info(), 0, wic::Way::park);
    options.size = 700;
    options.blocks = 3;
    options.block_size = 64;
    options.more["piece"] = "8";
    options.more["messages"] = "3";
    EXPECT_EQ(sample_test::run_app(g_bs_info(), devices, options, 2), "") << devices;
  }
}

TEST(BitonicSortTest, RefusesDevicesAndPiecesThatAreNotPowersOfTwo) {
  AppOptions options = sample_test::options_of(g_bs_info(), 0, wic::Way::park);
  EXPECT_NE(sample_test::run_app(g_bs_info(), 3, options, 1).find("2, 4 or 8"), std::string::npos);
  options.more["piece"] = "48";
  EXPECT_NE(sample_test::run_app(g_bs_info(), 2, options, 1).find("--piece"), std::string::npos);
}

}  // namespace
}  // namespace sample::bs
