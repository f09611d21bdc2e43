// The predicted gain of starting a dependent kernel early, compared with a simulation that places blocks on SMs one by
// one and shares no code with the prediction. The cases of the first family were looked at while the formulas were
// written; those of the second one (other devices, shapes, distributions of block times) were not.
#include "analyzer/work/tile_gain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <queue>
#include <random>
#include <string>
#include <vector>

namespace wicprof::analyzer {
namespace {

/// Both kernels, block by block. A block of the producer takes 1 / fit of an SM, one of the consumer 1 / own.
struct TilePair {
  std::uint32_t sms = 0, fit = 1, own = 1;
  std::vector<double> producer, consumer;  ///< the time of each block
  double gap = 0;
  std::uint64_t groups = 0;
};

class Simulation {
 public:
  explicit Simulation(const TilePair& program) : program_(program), unit_(std::lcm(program.fit, program.own)) {}

  struct Alone {
    double producer = 0, consumer = 0;
  };
  Alone alone() const { return {last(run(program_.producer, {})), last(run({}, program_.consumer))}; }
  double in_order() const { return alone().producer + program_.gap + alone().consumer; }

  /// Each block of the consumer waits for the tiles that it needs, on its place.
  double by_tiles(std::uint32_t reserved = 0) const {
    const std::vector<double> tiles = run(program_.producer, {}, reserved);
    std::vector<double> ready(program_.consumer.size());
    for (std::size_t j = 0; j < ready.size(); ++j) {
      const std::size_t needed = needs(j);
      ready[j] = *std::max_element(tiles.begin(), tiles.begin() + static_cast<std::ptrdiff_t>(needed));
    }
    return last(run(program_.producer, program_.consumer, reserved, ready));
  }

  /// After a prologue, which is a share of a block's time, each block of the consumer waits for the whole producer.
  double dependent(double prologue) const {
    const double end = alone().producer;
    return last(
        run(program_.producer, program_.consumer, 0, std::vector<double>(program_.consumer.size(), end), prologue));
  }

 private:
  /// How many tiles, from the first one on, block `j` of the consumer needs.
  std::size_t needs(std::size_t j) const {
    const std::size_t tiles = program_.producer.size(), blocks = program_.consumer.size();
    if (program_.groups == 0) return ((j + 1) * tiles + blocks - 1) / blocks;
    const std::size_t group = j * program_.groups / blocks;
    return ((group + 1) * tiles + program_.groups - 1) / program_.groups;
  }

  static double last(const std::vector<double>& ends) { return *std::max_element(ends.begin(), ends.end()); }

  /// Places blocks in order, each on the SM with the most room; the consumer's behind those of the producer, but on the
  /// first `reserved` SMs from the start. Returns the end of each block.
  std::vector<double> run(const std::vector<double>& producer, const std::vector<double>& consumer,
                          std::uint32_t reserved = 0, const std::vector<double>& ready = {},
                          double prologue = 0) const {
    struct Done {
      double at;
      std::uint32_t sm, size;
      bool operator>(const Done& other) const { return at > other.at; }
    };
    std::priority_queue<Done, std::vector<Done>, std::greater<>> running;
    std::vector<std::uint32_t> room(program_.sms, unit_);
    std::vector<double> ends;
    std::vector<double> consumer_ends;
    const std::uint32_t of_producer = unit_ / program_.fit, of_consumer = unit_ / program_.own;
    double now = 0;
    while (ends.size() < producer.size() || consumer_ends.size() < consumer.size()) {
      bool placed = false;
      const auto place = [&](std::uint32_t from, std::uint32_t to, std::uint32_t size, const auto& end_of,
                             std::vector<double>& list) {
        const auto best = std::max_element(room.begin() + from, room.begin() + to);
        if (best == room.begin() + to || *best < size) return;
        *best -= size;
        const double end = end_of();
        running.push({end, static_cast<std::uint32_t>(best - room.begin()), size});
        list.push_back(end);
        placed = true;
      };
      const auto consumer_end = [&] {
        const std::size_t j = consumer_ends.size();
        const double free = now + prologue * consumer[j];
        return (ready.empty() ? free : std::max(free, ready[j])) + (1 - prologue) * consumer[j];
      };
      if (ends.size() < producer.size()) {
        place(
            reserved, program_.sms, of_producer, [&] { return now + producer[ends.size()]; }, ends);
        if (!placed && reserved > 0 && consumer_ends.size() < consumer.size())
          place(0, reserved, of_consumer, consumer_end, consumer_ends);
      } else {
        place(0, program_.sms, of_consumer, consumer_end, consumer_ends);
      }
      if (placed) continue;
      now = running.top().at;
      while (!running.empty() && running.top().at <= now) {
        room[running.top().sm] += running.top().size;
        running.pop();
      }
    }
    ends.insert(ends.end(), consumer_ends.begin(), consumer_ends.end());
    return ends;
  }

  const TilePair& program_;
  std::uint32_t unit_;
};

KernelPair pair_of(const TilePair& program) {
  const Simulation::Alone alone = Simulation(program).alone();
  KernelPair pair;
  pair.producer = {program.producer.size(), program.fit, alone.producer};
  pair.consumer = {program.consumer.size(), program.own, alone.consumer};
  pair.sm_count = program.sms;
  pair.gap_ns = program.gap;
  pair.groups = program.groups;
  return pair;
}

TilePair equal_blocks(std::uint32_t sms, std::uint32_t fit, std::size_t producer, double producer_time,
                      std::size_t consumer, double consumer_time, double gap) {
  return {sms, fit, fit, std::vector<double>(producer, producer_time), std::vector<double>(consumer, consumer_time),
          gap, 0};
}

using BlockTimes = std::function<double(std::mt19937&, std::size_t block)>;

/// Times of blocks of which none takes more than kUneven times the mean.
std::vector<double> block_times(std::mt19937& random, std::size_t count, double mean, const BlockTimes& times) {
  std::vector<double> list(count);
  for (std::size_t i = 0; i < count; ++i) list[i] = times(random, i);
  const auto scale = [&] {
    const double sum = std::accumulate(list.begin(), list.end(), 0.0);
    for (double& time : list) time *= mean * static_cast<double>(count) / sum;
  };
  scale();
  while (*std::max_element(list.begin(), list.end()) > kUneven * mean * (1 + 1e-9)) {
    for (double& time : list) time = std::min(time, kUneven * mean * 0.98);
    scale();
  }
  return list;
}

struct Errors {
  std::vector<double> tiles, carve_out;  ///< of the predicted time of both kernels, as shares of the simulated one

  static double median(std::vector<double> list) {
    std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2), list.end());
    return list[list.size() / 2];
  }
};

/// Every simulated gain must lie within its interval.
void compare(const TilePair& program, Errors& errors, const std::string& what) {
  const Simulation simulation(program);
  const std::optional<PairGain> gain = pair_gain(pair_of(program));
  ASSERT_TRUE(gain) << what;
  const double in_order = simulation.in_order(), rounding = in_order * 1e-9;
  const auto within = [&](const Bound& bound, double simulated, const char* name) {
    EXPECT_GE(simulated, bound.low - rounding) << name << ": " << what;
    EXPECT_LE(simulated, bound.high + rounding) << name << ": " << what;
    EXPECT_GE(bound.value, bound.low) << name;
    EXPECT_LE(bound.value, bound.high) << name;
  };
  const double tiles = simulation.by_tiles();
  within(gain->tiles, in_order - tiles, "tiles");
  errors.tiles.push_back(std::abs((in_order - gain->tiles.value) / tiles - 1));
  for (const double prologue : {0.0, 0.3, 1.0})
    within(gain->dependent, in_order - simulation.dependent(prologue), "dependent");
  if (gain->carve_out_sms > 0) {
    const double carved = simulation.by_tiles(gain->carve_out_sms);
    EXPECT_LE(in_order - carved, gain->carve_out.high + rounding) << what;
    errors.carve_out.push_back(std::abs((in_order - gain->carve_out.value) / carved - 1));
  }
  const double idle = program.sms * simulation.alone().producer -
                      std::accumulate(program.producer.begin(), program.producer.end(), 0.0) / program.fit;
  within(gain->idle_sm_ns, idle, "idle");
}

struct Family {
  std::uint32_t seed;
  std::vector<std::uint32_t> sms, fits;
  double most_waves;
  std::vector<BlockTimes> times;
  bool mixed;  ///< both kernels may fit in different numbers
};

Errors compare_family(const Family& family, int programs) {
  std::mt19937 random(family.seed);
  const auto one_of = [&](const auto& list) { return list[random() % list.size()]; };
  const auto uniform = [&](double low, double high) { return std::uniform_real_distribution(low, high)(random); };
  Errors errors;
  for (int i = 0; i < programs; ++i) {
    TilePair program;
    program.sms = one_of(family.sms);
    program.fit = one_of(family.fits);
    program.own = family.mixed ? one_of(family.fits) : program.fit;
    const auto blocks = [&](std::uint32_t fit) {
      return static_cast<std::size_t>(std::max(1.0, program.sms * fit * uniform(0.2, family.most_waves)));
    };
    program.producer = block_times(random, blocks(program.fit), uniform(5'000, 50'000), one_of(family.times));
    program.consumer = block_times(random, blocks(program.own), uniform(5'000, 50'000), one_of(family.times));
    program.gap = uniform(0, 3'000);
    if (random() % 3 == 0) program.groups = 1 + random() % std::min<std::size_t>(8, program.producer.size());
    compare(program, errors, "seed " + std::to_string(family.seed) + ", program " + std::to_string(i));
    if (testing::Test::HasFatalFailure()) break;
  }
  return errors;
}

double equal(std::mt19937&, std::size_t) { return 1; }
double a_tenth(std::mt19937& random, std::size_t) { return std::uniform_real_distribution(0.9, 1.1)(random); }
double three_tenths(std::mt19937& random, std::size_t) { return std::uniform_real_distribution(0.7, 1.3)(random); }
double up_to_twice(std::mt19937& random, std::size_t) { return std::uniform_real_distribution(0.0, 2.0)(random); }

TEST(TileGain, OfEqualBlocksIsThatOfTheSimulation) {
  // Producer, consumer: 1.25 and 1.5 waves, whole waves, less than a wave, many waves, small blocks.
  for (const auto& [producer, consumer, longer] :
       {std::tuple{50, 60, 1.0}, {80, 40, 1.0}, {20, 90, 2.0}, {410, 130, 0.5}, {41, 400, 0.1}, {79, 1, 3.0}}) {
    for (const std::uint32_t fit : {1u, 2u, 5u}) {
      const TilePair program = equal_blocks(40 / fit, fit, static_cast<std::size_t>(producer), 10'000,
                                            static_cast<std::size_t>(consumer), 10'000 * longer, 1'000);
      const Simulation simulation(program);
      const auto gain = pair_gain(pair_of(program));
      ASSERT_TRUE(gain);
      EXPECT_NEAR(gain->tiles.value, simulation.in_order() - simulation.by_tiles(), 1e-3)
          << producer << " " << consumer << " " << longer << " " << fit;
    }
  }
}

TEST(TileGain, ByHand) {
  // 8 SMs, one block each: 10 blocks of 100 and then 12 of 100. In order: 2 waves, 2 waves. The last wave of the first
  // kernel leaves 6 SMs, which take 6 blocks of the second one: the data of 8 of 10 tiles is there, 9 blocks' worth.
  // The other 6 follow in one wave: one wave of four is saved, and the gap.
  const auto gain = pair_gain(pair_of(equal_blocks(8, 1, 10, 100, 12, 100, 7)));
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(gain->tiles.value, 107);
  EXPECT_DOUBLE_EQ(gain->idle_sm_ns.value, 600);
  EXPECT_DOUBLE_EQ(gain->idle_sm_ns.low, 0);
  EXPECT_DOUBLE_EQ(gain->dependent.value, 7);
  EXPECT_DOUBLE_EQ(gain->dependent.low, 0);
  EXPECT_DOUBLE_EQ(gain->tiles.low, 0);
}

TEST(TileGain, AWaveThatIsTheOnlyOneHasNoTileBeforeItsEnd) {
  const auto gain = pair_gain(pair_of(equal_blocks(132, 1, 60, 10'000, 200, 10'000, 1'500)));
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(gain->tiles.value, 1'500);             // the gap alone
  EXPECT_DOUBLE_EQ(gain->idle_sm_ns.low, 72 * 10'000.0);  // SMs without a block, whatever the blocks do
  EXPECT_DOUBLE_EQ(gain->idle_sm_ns.value, 72 * 10'000.0);
}

TEST(TileGain, RowsThatAreNotDoneKeepTheConsumerOut) {
  TilePair program = equal_blocks(8, 1, 10, 100, 12, 100, 0);
  program.groups = 1;  // each block needs all tiles
  EXPECT_DOUBLE_EQ(pair_gain(pair_of(program))->tiles.value, 0);
  program.groups = 2;  // 8 tiles: one group of two, 6 blocks
  EXPECT_DOUBLE_EQ(pair_gain(pair_of(program))->tiles.value, 100);
  EXPECT_DOUBLE_EQ(Simulation(program).in_order() - Simulation(program).by_tiles(), 100);
}

TEST(TileGain, ACarveOutLetsAWholeWaveProducerOverlap) {
  // 8 SMs: 16 blocks and then 9: the last wave of the consumer has one block.
  const TilePair program = equal_blocks(8, 1, 16, 100, 9, 100, 50);
  const auto gain = pair_gain(pair_of(program));
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(gain->tiles.value, 50);
  ASSERT_GT(gain->carve_out_sms, 0u);
  EXPECT_DOUBLE_EQ(gain->carve_out.value,
                   Simulation(program).in_order() - Simulation(program).by_tiles(gain->carve_out_sms));
}

TEST(TileGain, HoldsForProgramsOfTheFirstFamily) {
  const Errors errors =
      compare_family({1, {8, 80, 132}, {1, 2}, 4, {equal, a_tenth, three_tenths, up_to_twice}, false}, 400);
  EXPECT_LE(Errors::median(errors.tiles), 0.02);
  EXPECT_LE(Errors::median(errors.carve_out), 0.03);
}

TEST(TileGain, HoldsForProgramsOfTheSecondFamily) {
  // Late tiles cost more, as in causal attention; a few blocks take long; two kinds of blocks; early tiles cost more.
  const BlockTimes rising = [](std::mt19937&, std::size_t block) { return 1 + static_cast<double>(block % 64) / 64; };
  const BlockTimes stragglers = [](std::mt19937& random, std::size_t) { return random() % 20 == 0 ? 1.9 : 0.95; };
  const BlockTimes two_kinds = [](std::mt19937& random, std::size_t) { return random() % 2 == 0 ? 0.5 : 1.5; };
  const BlockTimes falling = [](std::mt19937&, std::size_t block) {
    return 1 / (1 + static_cast<double>(block) / 500);
  };
  const Errors errors =
      compare_family({77, {7, 56, 108, 144}, {1, 2, 3, 4, 8}, 7, {rising, stragglers, two_kinds, falling}, true}, 200);
  EXPECT_LE(Errors::median(errors.tiles), 0.04);
  EXPECT_LE(Errors::median(errors.carve_out), 0.06);
}

TEST(TileGain, IsUnknownWithoutBlocksPlacesOrTime) {
  const KernelPair good = pair_of(equal_blocks(8, 1, 10, 100, 12, 100, 0));
  ASSERT_TRUE(pair_gain(good));
  for (const auto& spoil : std::vector<std::function<void(KernelPair&)>>{
           [](KernelPair& pair) { pair.producer.blocks = 0; }, [](KernelPair& pair) { pair.consumer.blocks = 0; },
           [](KernelPair& pair) { pair.producer.blocks_per_sm = 0; }, [](KernelPair& pair) { pair.sm_count = 0; },
           [](KernelPair& pair) { pair.producer.time_ns = 0; }, [](KernelPair& pair) { pair.consumer.time_ns = -5; }}) {
    KernelPair bad = good;
    spoil(bad);
    EXPECT_FALSE(pair_gain(bad));
  }
}

TEST(TileGain, TakesAnyNumbers) {
  std::mt19937_64 random(5);
  const auto any = [&] { return random() >> (random() % 64); };
  for (int i = 0; i < 2'000; ++i) {
    KernelPair pair;
    pair.producer = {any(), static_cast<std::uint32_t>(any()), static_cast<double>(any())};
    pair.consumer = {any(), static_cast<std::uint32_t>(any()), static_cast<double>(any())};
    pair.sm_count = static_cast<std::uint32_t>(any() % 1'000);
    pair.gap_ns = static_cast<double>(any());
    pair.groups = any();
    const auto gain = pair_gain(pair);
    if (!gain) continue;
    for (const Bound& bound : {gain->tiles, gain->dependent, gain->carve_out, gain->idle_sm_ns}) {
      EXPECT_GE(bound.value, bound.low);
      EXPECT_GE(bound.high, bound.value);
      EXPECT_TRUE(std::isfinite(bound.high));
    }
  }
}

}  // namespace
}  // namespace wicprof::analyzer
