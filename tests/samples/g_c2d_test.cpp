// g_c2d: the filter, the reference, bands, and the program.
#include <gtest/gtest.h>

#include "g_c2d/app.h"
#include "g_c2d/convolution.h"
#include "make_app.h"

namespace sample::c2d {
namespace {

using sample_test::make_runtime;
using sample_test::options_of;

// The filter by definition, tap by tap.
Words filtered_slowly(const Words& image, std::uint32_t side) {
  constexpr std::uint32_t kWeight[5] = {1, 3, 5, 3, 1};
  const auto n = static_cast<std::int32_t>(side);
  const auto inside = [n](std::int32_t i) { return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i; };
  Words result(image.size());
  for (std::int32_t y = 0; y < n; ++y) {
    for (std::int32_t x = 0; x < n; ++x) {
      std::uint32_t sum = 0;
      for (std::int32_t dy = -2; dy <= 2; ++dy) {
        for (std::int32_t dx = -2; dx <= 2; ++dx) {
          sum +=
              kWeight[dy + 2] * kWeight[dx + 2] * image[static_cast<std::size_t>(inside(y + dy) * n + inside(x + dx))];
        }
      }
      result[static_cast<std::size_t>(y * n + x)] = kInverseOfSum * sum;
    }
  }
  return result;
}

TEST(C2dReferenceTest, OnePixelSpreadsByTheWeights) {
  Words image(7 * 7);
  image[3 * 7 + 3] = kWeightSum;
  filter_image(image, 7, 1);
  const auto at = [&](std::uint32_t x, std::uint32_t y) { return image[y * 7 + x]; };
  EXPECT_EQ(at(3, 3), 25u);
  EXPECT_EQ(at(2, 3), 15u);
  EXPECT_EQ(at(3, 5), 5u);
  EXPECT_EQ(at(2, 4), 9u);
  EXPECT_EQ(at(1, 4), 3u);
  EXPECT_EQ(at(5, 1), 1u);
  EXPECT_EQ(at(0, 3), 0u);
}

TEST(C2dReferenceTest, MatchesTheDefinitionAtEverySizeAndKeepsTheTotal) {
  for (const std::uint32_t side : {4u, 5u, 9u, 16u}) {
    const Words begin = initial_image(side);
    Words image = begin;
    filter_image(image, side, 2);
    EXPECT_EQ(image, filtered_slowly(filtered_slowly(begin, side), side)) << side;
    EXPECT_EQ(total_of(image), total_of(begin)) << side;
  }
}

// One filter pass over two bands by hand, like the kernels: first the rows that need no other band, then the others.
Words filtered_in_bands(const Words& image, std::uint32_t side, std::uint32_t cut, Words above, Words below) {
  Words result(image.size());
  const auto columns = [&](const Band& band, std::uint32_t* to, std::uint32_t row, std::uint32_t count) {
    for (std::uint32_t x = 0; x < side; ++x) filter_column(band, to, x, row, count);
  };
  const Band first{image.data(), nullptr, nullptr, side, cut};
  const std::size_t second_at = std::size_t{cut} * side;
  const Band second{image.data() + second_at, nullptr, nullptr, side, side - cut};
  columns(first, result.data(), 0, cut - kReach);
  columns(second, result.data() + second_at, kReach, side - cut - kReach);
  Band first_all = first, second_all = second;
  first_all.below = below.data();
  second_all.above = above.data();
  columns(first_all, result.data(), cut - kReach, kReach);
  columns(second_all, result.data() + second_at, 0, kReach);
  return result;
}

TEST(C2dBandTest, TogetherMatchTheWholeImageAndAWrongWordOfAMessageIsFound) {
  for (const std::uint32_t side : {8u, 9u, 13u}) {
    for (const std::uint32_t cut : {4u, side - 4}) {
      const Words image = initial_image(side);
      Words expected = image;
      filter_image(expected, side, 1);
      const std::size_t middle = std::size_t{cut} * side, reach = std::size_t{kReach} * side;
      Words above(image.begin() + static_cast<std::ptrdiff_t>(middle - reach),
                  image.begin() + static_cast<std::ptrdiff_t>(middle));
      Words below(image.begin() + static_cast<std::ptrdiff_t>(middle),
                  image.begin() + static_cast<std::ptrdiff_t>(middle + reach));
      EXPECT_EQ(filtered_in_bands(image, side, cut, above, below), expected) << side << " cut at " << cut;
      const auto where = [](std::size_t i) { return std::to_string(i); };
      for (std::size_t i = 0; i < reach; ++i) {
        above[i] ^= 1;
        const Words wrong = filtered_in_bands(image, side, cut, above, below);
        EXPECT_FALSE(compare_words(wrong, expected, 1, where)) << "word " << i;
        EXPECT_NE(total_of(wrong), total_of(image)) << "word " << i;
        above[i] ^= 1;
      }
    }
  }
}

TEST(C2dTest, IsCorrectInEveryWayAtEverySizeOnTwoToFourDevices) {
  for (const Way way : {Way::naive, Way::poll, Way::park}) {
    for (const auto& [devices, size] : {std::pair{2u, 8u}, {2u, 37u}, {3u, 13u}, {4u, 16u}, {4u, 67u}}) {
      const auto runtime = make_runtime(devices, way);
      auto program = Convolution::make(*runtime, options_of(g_c2d_info(), size, way));
      ASSERT_TRUE(program) << program.error().message;
      for (std::uint32_t step = 1; step <= 2; ++step) {
        const auto done = (*program)->step(step);
        ASSERT_TRUE(done) << done.error().message;
      }
      const auto checked = (*program)->check();
      EXPECT_TRUE(checked) << size << " on " << devices << ": " << checked.error().message;
    }
  }
}

TEST(C2dTest, AnyNumberOfThreadsGivesTheSameResult) {
  for (const auto& [blocks, threads] : {std::pair{1u, 32u}, {1u, 64u}, {2u, 96u}, {3u, 512u}, {200u, 32u}}) {
    const auto runtime = make_runtime(3, Way::park);
    AppOptions options = options_of(g_c2d_info(), 40, Way::park);
    options.blocks = blocks;
    options.block_size = threads;
    auto program = Convolution::make(*runtime, options);
    ASSERT_TRUE(program) << program.error().message;
    ASSERT_TRUE((*program)->step(1));
    const auto checked = (*program)->check();
    EXPECT_TRUE(checked) << blocks << " blocks of " << threads << ": " << checked.error().message;
  }
}

TEST(C2dTest, AWrongPixelIsFoundAndNamed) {
  const auto runtime = make_runtime(2, Way::park);
  auto program = Convolution::make(*runtime, options_of(g_c2d_info(), 24, Way::park));
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_TRUE((*program)->step(1));
  (*program)->bands().slab(1)[2 * 24 + 5] ^= 0x100;  // device 1 has rows 12 to 23
  const auto checked = (*program)->check();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, wicprof::ErrorKind::failed);
  EXPECT_NE(checked.error().message.find("1 wrong words after iteration 4, the first at row 14, column 5"),
            std::string::npos)
      << checked.error().message;
  ASSERT_TRUE((*program)->step(2));
  EXPECT_FALSE((*program)->check()) << "the error must persist";
}

TEST(C2dTest, InvalidSizesAreRefused) {
  const auto runtime = make_runtime(4, Way::poll);
  for (const std::uint32_t size : {1u, 3u, 15u, 70'000u}) {
    const auto program = Convolution::make(*runtime, options_of(g_c2d_info(), size, Way::poll));
    ASSERT_FALSE(program) << size;
    EXPECT_EQ(program.error().kind, wicprof::ErrorKind::bad_input);
  }
}

// A band whose neighbour never sends.
TEST(C2dTest, ADeviceStopsSendingAfterAMissedDeadline) {
  const auto runtime = make_runtime(2, Way::park);
  constexpr std::uint32_t kSide = 8;
  const auto lane = [&](int from, int to) {
    LaneSpec spec;
    spec.name = lane_name("c2d", static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to));
    spec.producer = wic::End::on(from);
    spec.consumer = wic::End::on(to);
    spec.max_bytes = kReach * kSide * sizeof(Pixel);
    return *Lane::make(*runtime, spec);
  };
  const auto out = lane(0, 1), in = lane(1, 0);
  std::vector<RankQueue> queues;
  queues.push_back(*RankQueue::make(runtime->device(0)));
  const auto from = *wic::Array<Pixel>::make(runtime->device(0), kSide * kSide, wic::Memory::device);
  const auto to = *wic::Array<Pixel>::make(runtime->device(0), kSide * kSide, wic::Memory::device);
  Filter kernel;
  kernel.width = kernel.units = kSide;
  kernel.from = from.data();
  kernel.to = to.data();
  kernel.failure = queues[0].failure();
  kernel.timeout_ns = 2'000'000;
  kernel.sides[1].exists = true;
  kernel.sides[1].peer = 1;
  for (kernel.iteration = 1; kernel.iteration <= 2; ++kernel.iteration) {
    const Lane::Turn sent = out->turn(kernel.iteration), received = in->turn(kernel.iteration);
    kernel.sides[1].out = sent.sender();
    kernel.sides[1].out_cycle = sent.cycle;
    kernel.sides[1].in = received.receiver();
    kernel.sides[1].in_cycle = received.cycle;
    ASSERT_TRUE(wic::launch(queues[0].stream(), {2, 64}, kernel));
  }
  const auto finished = finish_all(queues, "c2d");
  ASSERT_FALSE(finished);
  EXPECT_NE(finished.error().message.find("iteration 1: device 0 waited at c2d.1-0.data for message 0"),
            std::string::npos)
      << finished.error().message;
  EXPECT_EQ(kernel.sides[1].out.lines[0].sent, 1u);
}

}  // namespace
}  // namespace sample::c2d
