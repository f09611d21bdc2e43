// The parts of c_h3d: geometry, messages, stencil, reference, and the behaviour when a neighbour never sends.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "c_h3d/app.h"
#include "c_h3d/halo_exchange.h"
#include "c_h3d/reference.h"
#include "c_h3d/ring.h"
#include "make_app.h"

namespace sample::h3d {
namespace {

constexpr std::uint32_t kSizes[] = {1, 2, 3, 4, 7, 10};

// Cubes, and bricks that are thinner or longer along x.
std::vector<Brick> bricks() {
  std::vector<Brick> all;
  for (const std::uint32_t n : kSizes) {
    all.push_back({n});
    for (const std::uint32_t nx : {1u, 2u, 3u, 11u}) all.push_back({n, nx});
  }
  return all;
}

void count_cells(const Brick& brick, const Box& box, std::vector<int>& times) {
  for (std::uint32_t i = 0; i < box.cells(); ++i) ++times[brick.index(box, i)];
}

TEST(BrickTest, InteriorAndShellAreTheOwnCells) {
  for (const Brick brick : bricks()) {
    std::vector<int> times(brick.stored_cells());
    count_cells(brick, brick.interior(), times);
    for (std::uint32_t b = 0; b < Brick::kShellBoxes; ++b) count_cells(brick, brick.shell(b), times);
    std::vector<int> own(brick.stored_cells());
    count_cells(brick, Box{1, 1, 1, brick.nx, brick.n, brick.n}, own);
    EXPECT_EQ(times, own) << "n = " << brick.n << ", nx = " << brick.nx;
  }
}

TEST(MessageTest, EveryGhostCellBelongsToOneDirection) {
  for (const Brick brick : bricks()) {
    std::vector<int> times(brick.stored_cells());
    count_cells(brick, Box{1, 1, 1, brick.nx, brick.n, brick.n}, times);
    for (std::uint32_t m = 0; m < kMessages; ++m) count_cells(brick, ghost_box(brick, direction_of(m)), times);
    for (std::uint32_t c = 0; c < kSelfCopies; ++c) count_cells(brick, ghost_box(brick, self_direction(c)), times);
    EXPECT_EQ(times, std::vector<int>(brick.stored_cells(), 1)) << "n = " << brick.n << ", nx = " << brick.nx;
  }
}

TEST(MessageTest, TheOppositeMessageHasTheOppositeDirection) {
  for (std::uint32_t m = 0; m < kMessages; ++m) {
    const Direction forth = direction_of(m);
    const Direction back = direction_of(opposite_of(m));
    EXPECT_EQ(std::tuple(back.x, back.y, back.z), std::tuple(-forth.x, -forth.y, -forth.z)) << "message " << m;
    EXPECT_EQ(class_of(m), class_of(opposite_of(m)));
  }
}

TEST(MessageTest, ASideHasOneFaceFourEdgesAndFourCorners) {
  std::map<MessageClass, int> count;
  for (std::uint32_t m = 0; m < kMessages; ++m) {
    const Direction d = direction_of(m);
    const int axes = (d.x != 0) + (d.y != 0) + (d.z != 0);
    EXPECT_EQ(static_cast<int>(class_of(m)), axes - 1);
    ++count[class_of(m)];
  }
  EXPECT_EQ(count[MessageClass::face], 2);
  EXPECT_EQ(count[MessageClass::edge], 8);
  EXPECT_EQ(count[MessageClass::corner], 8);
}

TEST(MessageTest, ThePayloadDescribesTheCellsPositionsInTheDomain) {
  for (const std::uint32_t n : kSizes) {
    const Domain domain{3, n, n / 2 + 1};
    for (std::uint32_t rank = 0; rank < domain.ranks; ++rank) {
      const Brick brick = domain.brick(rank);
      Neighbours around{};
      around.mine.n = n;
      around.begin_x = domain.begin_x(rank);
      around.nx = brick.nx;
      around.length_x = domain.length_x();
      for (std::uint32_t m = 0; m < kMessages; ++m) {
        const Box box = own_box(brick, direction_of(m));
        std::vector<std::uint32_t> places;
        for (std::uint32_t i = 0; i < box.cells(); ++i) {
          const std::uint32_t at = brick.index(box, i);
          const std::uint32_t x = at % brick.step_y() - 1, y = at / brick.step_y() % (n + 2) - 1,
                              z = at / brick.step_z() - 1;
          places.push_back(static_cast<std::uint32_t>(domain.index(domain.begin_x(rank) + x, y, z)));
        }
        const wic::Payload expected = wic::payload_of(places, sizeof(Cell)), payload = around.outgoing_payload(m);
        EXPECT_EQ(payload.offset, expected.offset) << "n = " << n << ", message " << m;
        EXPECT_EQ(payload.span, expected.span) << "n = " << n << ", message " << m;
        EXPECT_EQ(payload.bytes, expected.bytes);
        EXPECT_EQ(payload.pieces, expected.pieces);
        EXPECT_EQ(payload.regular, expected.regular);
      }
    }
  }
}

TEST(OutboxTest, EveryMessageHasTwoSeparateSlots) {
  for (const std::uint32_t n : kSizes) {
    Outbox outbox{nullptr, nullptr, n};
    std::vector<Cell> cells(outbox.stored_cells());
    std::vector<Flag> flags(Outbox::kFlags);
    outbox.cells = cells.data();
    outbox.flags = flags.data();
    std::set<const Flag*> seen;
    for (std::uint32_t m = 0; m < kMessages; ++m) {
      const std::uint32_t size = own_box(Brick{n}, direction_of(m)).cells();
      for (std::uint32_t iteration = 1; iteration <= 2; ++iteration) {
        seen.insert(outbox.flag(m, iteration));
        Cell* const buffer = outbox.buffer(m, iteration);
        ASSERT_LE(buffer + size, cells.data() + cells.size());
        for (std::uint32_t i = 0; i < size; ++i) EXPECT_EQ(buffer[i]++, 0u);
        EXPECT_EQ(outbox.buffer(m, iteration + 2), buffer);
      }
    }
    EXPECT_EQ(seen.size(), 2 * kMessages);
    EXPECT_GE(*seen.begin(), flags.data());
    EXPECT_LT(*seen.rbegin(), flags.data() + flags.size());
  }
}

TEST(OutboxTest, CountsTheCellsOfAllMessages) {
  std::uint64_t cells = 0;
  for (std::uint32_t m = 0; m < kMessages; ++m) cells += own_box(Brick{5}, direction_of(m)).cells();
  EXPECT_EQ(cells_sent(5), cells);
}

TEST(ReferenceTest, OneCellSpreadsByTheWeights) {
  const Domain domain{2, 4};
  std::vector<Cell> field(domain.cells());
  field[domain.index(0, 0, 3)] = kWeightSum;  // at the border, so that it wraps around all three axes
  Reference reference(domain, field, 0);
  reference.advance_to(1);
  const auto at = [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    return reference.field()[domain.index(x, y, z)];
  };
  EXPECT_EQ(at(0, 0, 3), 27u);
  EXPECT_EQ(at(7, 0, 3), 9u);
  EXPECT_EQ(at(0, 3, 3), 9u);
  EXPECT_EQ(at(0, 0, 0), 9u);
  EXPECT_EQ(at(1, 1, 3), 3u);
  EXPECT_EQ(at(7, 3, 0), 1u);
  EXPECT_EQ(at(2, 0, 3), 0u);
  EXPECT_EQ(at(0, 2, 3), 0u);
}

TEST(ReferenceTest, KeepsTheTotalButNotTheCells) {
  const Domain domain{3, 5};
  const std::vector<Cell> begin = initial_field(domain);
  Reference reference(domain, begin, 0);
  reference.advance_to(4);
  EXPECT_EQ(total_of(reference.field()), total_of(begin));
  EXPECT_GT(reference.compare(begin).wrong, domain.cells() / 2);
}

TEST(ReferenceTest, NamesTheFirstWrongCell) {
  const Domain domain{2, 3};
  std::vector<Cell> field = initial_field(domain);
  const Reference reference(domain, field, 7);
  EXPECT_TRUE(reference.compare(field).ok());
  field[domain.index(4, 2, 1)] += 1;
  field[domain.index(5, 2, 2)] += 1;
  const Comparison comparison = reference.compare(field);
  EXPECT_EQ(comparison.wrong, 2u);
  EXPECT_EQ(comparison.first.substr(0, 44), "rank 1, cell (1, 2, 1) after iteration 7 is ");
}

// A ring of ranks without threads, devices or waits, which does the steps of an iteration by hand.
class HandRing {
 public:
  HandRing(std::uint32_t ranks, std::uint32_t n, std::uint32_t first_nx) : domain_{ranks, n, first_nx} {
    for (std::uint32_t r = 0; r < ranks; ++r) {
      Outbox outbox{nullptr, nullptr, n};
      cells_.emplace_back(outbox.stored_cells());
      flags_.emplace_back(Outbox::kFlags);
      outbox.cells = cells_.back().data();
      outbox.flags = flags_.back().data();
      outboxes_.push_back(outbox);
      fields_.emplace_back(domain_.brick(r).stored_cells());
    }
    const std::vector<Cell> begin = initial_field(domain_);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      for_each_row(domain_, r, [&](std::size_t from, std::uint32_t to) {
        std::copy_n(&begin[from], domain_.brick(r).nx, &fields_[r][to]);
      });
    }
  }

  Neighbours of(std::uint32_t rank) const {
    const std::uint32_t ranks = domain_.ranks;
    return {outboxes_[rank], {}, {outboxes_[(rank + ranks - 1) % ranks], {}}, {outboxes_[(rank + 1) % ranks], {}}};
  }

  void send(std::uint32_t iteration) {
    for (std::uint32_t r = 0; r < domain_.ranks; ++r) {
      const Brick brick = domain_.brick(r);
      for (std::uint32_t m = 0; m < kMessages; ++m) {
        pack(brick, own_box(brick, direction_of(m)), fields_[r].data(), of(r).outgoing(m, iteration), 0, 1, NoStep{});
      }
    }
  }

  void receive_and_average(std::uint32_t iteration) {
    for (std::uint32_t r = 0; r < domain_.ranks; ++r) {
      const Brick brick = domain_.brick(r);
      Cell* const field = fields_[r].data();
      for (std::uint32_t m = 0; m < kMessages; ++m) {
        // In shares, like the threads of a block.
        for (std::uint32_t share = 0; share < 3; ++share) {
          unpack(brick, ghost_box(brick, direction_of(m)), of(r).incoming(m, iteration), field, share, 3, NoStep{});
        }
      }
      for (std::uint32_t share = 0; share < 3; ++share) copy_self(brick, field, share, 3, NoStep{});
      std::vector<Cell> next(fields_[r].size());
      average_box(brick, brick.interior(), field, next.data(), 0, 2);
      average_box(brick, brick.interior(), field, next.data(), 1, 2);
      for (std::uint32_t b = 0; b < Brick::kShellBoxes; ++b)
        average_box(brick, brick.shell(b), field, next.data(), 0, 1);
      fields_[r] = std::move(next);
    }
  }

  std::vector<Cell> gather() const {
    std::vector<Cell> field(domain_.cells());
    for (std::uint32_t r = 0; r < domain_.ranks; ++r) {
      for_each_row(domain_, r, [&](std::size_t to, std::uint32_t from) {
        std::copy_n(&fields_[r][from], domain_.brick(r).nx, &field[to]);
      });
    }
    return field;
  }

  const Domain& domain() const { return domain_; }

 private:
  Domain domain_;
  std::vector<std::vector<Cell>> cells_, fields_;
  std::vector<std::vector<Flag>> flags_;
  std::vector<Outbox> outboxes_;
};

TEST(ExchangeTest, RanksTogetherMatchTheWholeDomain) {
  for (const std::uint32_t ranks : {2u, 3u, 4u}) {
    for (const std::uint32_t n : kSizes) {
      for (const std::uint32_t first_nx : {n, 1u, n / 2 + 1}) {
        HandRing ring(ranks, n, first_nx);
        Reference reference(ring.domain(), ring.gather(), 0);
        for (std::uint32_t iteration = 1; iteration <= 3; ++iteration) {
          ring.send(iteration);
          ring.receive_and_average(iteration);
          reference.advance_to(iteration);
          const Comparison comparison = reference.compare(ring.gather());
          ASSERT_TRUE(comparison.ok()) << ranks << " ranks, n = " << n << ", the first " << first_nx << ": "
                                       << comparison.first;
        }
      }
    }
  }
}

TEST(ExchangeTest, OneWrongWordInAnyMessageIsFound) {
  for (std::uint32_t m = 0; m < kMessages; ++m) {
    HandRing ring(3, 4, 4);
    Reference reference(ring.domain(), ring.gather(), 0);
    const Cell sum = total_of(ring.gather());
    ring.send(1);
    const std::uint32_t last = own_box(Brick{4}, direction_of(m)).cells() - 1;
    ring.of(1).outgoing(m, 1)[last] ^= 1;
    ring.receive_and_average(1);
    reference.advance_to(1);
    EXPECT_FALSE(reference.compare(ring.gather()).ok()) << "message " << m;
    EXPECT_NE(total_of(ring.gather()), sum) << "message " << m;
    ring.send(2);
    ring.receive_and_average(2);
    reference.advance_to(2);
    EXPECT_FALSE(reference.compare(ring.gather()).ok()) << "message " << m;
    EXPECT_NE(total_of(ring.gather()), sum) << "the error must persist, message " << m;
  }
}

TEST(ExchangeTest, AMessageOfTheWrongIterationIsFound) {
  HandRing ring(2, 5, 5);
  Reference reference(ring.domain(), ring.gather(), 0);
  ring.send(1);
  ring.receive_and_average(1);
  ring.send(2);
  ring.receive_and_average(1);  // receives the stale messages
  reference.advance_to(2);
  EXPECT_FALSE(reference.compare(ring.gather()).ok());
}

TEST(ReplayPlanTest, RepeatsAShortRunInFullAndTheExtraIterationsOfALongRun) {
  const ReplayPlan plan{100};
  EXPECT_EQ(plan.extra_after(100), 0u);
  EXPECT_EQ(plan.extra_after(101), ReplayPlan::kExtraIterations);
  EXPECT_EQ(ReplayPlan{2}.extra_after(3), 2u);
  EXPECT_EQ(ReplayPlan::for_words(ReplayPlan::kMaxUpdates / 4).max_iterations, 4u);
  EXPECT_EQ(ReplayPlan::for_words(ReplayPlan::kMaxUpdates * 4).max_iterations, 1u);
}

TEST(HostTeamTest, EveryMemberDoesItsPartOfEveryPieceOfWork) {
  HostTeam<> team(3);
  std::vector<int> done(3);
  for (int round = 0; round < 50; ++round) {
    team.run([&](std::uint32_t member, std::uint32_t members) {
      EXPECT_EQ(members, 3u);
      ++done[member];
    });
    EXPECT_EQ(done, std::vector<int>(3, round + 1));
  }
}

// Ranks whose neighbours never send.
class SilenceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto runtime = wic::Runtime::create({});
    ASSERT_TRUE(runtime) << runtime.error().message;
    runtime_ = *std::move(runtime);
    const wic::SiteSpec spec{"silence", wicprof::WordMemory::pinned_host, wicprof::Pollers::leader, false};
    const auto site = runtime_->add_site(spec);
    ASSERT_TRUE(site) << site.error().message;
    for (wicprof::SiteId& id : sites_.by_class) id = *site;
  }

  Outbox outbox(std::vector<Cell>& cells, std::vector<Flag>& flags) {
    Outbox made{nullptr, nullptr, kSize};
    cells.resize(made.stored_cells());
    flags.resize(Outbox::kFlags);
    made.cells = cells.data();
    made.flags = flags.data();
    return made;
  }
  Neighbours neighbours() {
    const Outbox mine = outbox(my_cells_, my_flags_);
    const Neighbour silent{outbox(their_cells_, their_flags_), sites_};
    return {mine, sites_, silent, silent};
  }

  static constexpr std::uint32_t kSize = 4;
  static constexpr std::uint64_t kTimeoutNs = 2'000'000;
  std::unique_ptr<wic::Runtime> runtime_;
  Sites sites_{};
  std::vector<Cell> my_cells_, their_cells_;
  std::vector<Flag> my_flags_, their_flags_;
};

TEST_F(SilenceTest, ADeviceStopsSendingAfterAMissedDeadline) {
  const Neighbours around = neighbours();
  auto rank = DeviceRank::make(runtime_->device(0), runtime_->view(0), around, Brick{kSize}, 1);
  ASSERT_TRUE(rank) << rank.error().message;
  for (std::uint32_t iteration = 1; iteration <= 2; ++iteration) ASSERT_TRUE(rank->launch(iteration, kTimeoutNs));
  const auto failure = rank->failure();
  ASSERT_TRUE(failure) << failure.error().message;
  EXPECT_EQ(failure->failed_at, 1u);
  EXPECT_EQ(failure->missed, kMessages);
  EXPECT_EQ(failure->overruns, 0u);
  EXPECT_LT(failure->message, kMessages);
  for (std::uint32_t m = 0; m < kMessages; ++m) {
    EXPECT_EQ(*around.outgoing_word(m, 1), 1u);
    EXPECT_EQ(*around.outgoing_word(m, 2), 0u);
  }
}

TEST_F(SilenceTest, ADeviceCountsOverwrittenMessages) {
  const Neighbours around = neighbours();
  for (Flag& flag : their_flags_) flag.word = 3;
  auto rank = DeviceRank::make(runtime_->device(0), runtime_->view(0), around, Brick{kSize}, 1);
  ASSERT_TRUE(rank) << rank.error().message;
  ASSERT_TRUE(rank->launch(1, kTimeoutNs));
  const auto failure = rank->failure();
  ASSERT_TRUE(failure) << failure.error().message;
  EXPECT_EQ(failure->missed, 0u);
  EXPECT_EQ(failure->overruns, kMessages);
}

TEST_F(SilenceTest, TheCpuReportsAMissedDeadline) {
  HostRank rank(*runtime_, neighbours(), Brick{kSize}, 2);
  EXPECT_FALSE(rank.iterate(1, static_cast<wicprof::TimeNs>(kTimeoutNs)));
  EXPECT_GE(rank.missed(), 1u);
}

TEST_F(SilenceTest, ADeviceThatCannotHoldAllWaitersIsRefused) {
  const std::uint32_t too_many = 1000;
  const auto rank = DeviceRank::make(runtime_->device(0), runtime_->view(0), neighbours(), Brick{kSize}, too_many);
  ASSERT_FALSE(rank);
  EXPECT_NE(rank.error().message.find("18000 waiting blocks"), std::string::npos) << rank.error().message;
}

wicprof::Result<> run_ring(const AppOptions& options, std::uint32_t devices, std::uint32_t steps) {
  const auto runtime = sample_test::make_runtime(devices, options.way);
  auto program = HaloExchange::make(*runtime, options);
  if (!program) return program.error();
  for (std::uint32_t step = 1; step <= steps; ++step) {
    if (auto done = (*program)->step(step); !done) return done;
  }
  return (*program)->check();
}

TEST(HaloExchangeTest, AnyNumberOfThreadsGivesTheSameResult) {
  for (const Way way : {Way::naive, Way::park}) {
    for (const auto& [blocks, threads] : {std::pair{1u, 32u}, {1u, 512u}, {5u, 96u}, {18u, 64u}, {19u, 64u}}) {
      AppOptions options = sample_test::options_of(c_h3d_info(), 9, way);
      options.blocks = blocks;
      options.block_size = threads;
      const auto done = run_ring(options, 2, 3);
      EXPECT_TRUE(done) << blocks << " blocks of " << threads << ": " << done.error().message;
    }
  }
  AppOptions options = sample_test::options_of(c_h3d_info(), 9, Way::poll);
  options.block_size = 544;
  EXPECT_FALSE(run_ring(options, 1, 1));
}

// All ranks wait in the same way in each iteration, and flags stay correct after iterations that did not use them.
TEST(HaloExchangeTest, NaiveAndParkedIterationsMix) {
  const auto runtime = sample_test::make_runtime(2, Way::naive);
  AppOptions options = sample_test::options_of(c_h3d_info(), 5, Way::naive);
  options.more["check"] = "every";
  auto program = HaloExchange::make(*runtime, options);
  ASSERT_TRUE(program) << program.error().message;
  std::uint32_t step = 0;
  for (const std::uint32_t length : {1u, 1u, 2u, 3u, 1u, 4u, 2u, 1u}) {  // iterations between toggles
    for (std::uint32_t i = 0; i < length; ++i) {
      const auto done = (*program)->step(++step);
      ASSERT_TRUE(done) << "step " << step << ": " << done.error().message;
    }
    const bool parked = runtime->mode(1) == wicprof::Mode::park;
    ASSERT_TRUE(runtime->set_wait(0, {parked ? wicprof::Mode::poll : wicprof::Mode::park,
                                      parked ? wicprof::StrategyId::poll : wicprof::StrategyId::automatic}));
  }
}

TEST(HaloExchangeTest, TwoInOneRuntimeHaveSeparateSites) {
  const auto runtime = sample_test::make_runtime(1, Way::naive);
  AppOptions options = sample_test::options_of(c_h3d_info(), 4, Way::naive);
  const auto first = HaloExchange::make(*runtime, options);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(HaloExchange::make(*runtime, options)) << "site names already in use";
  options.prefix = "second.";
  const auto second = HaloExchange::make(*runtime, options);
  ASSERT_TRUE(second) << second.error().message;
  for (std::uint32_t step = 1; step <= 2; ++step) {
    EXPECT_TRUE((*first)->step(step));
    EXPECT_TRUE((*second)->step(step));
  }
  EXPECT_TRUE((*first)->check());
  EXPECT_TRUE((*second)->check());
}

}  // namespace
}  // namespace sample::h3d
