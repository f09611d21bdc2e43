// The common parts of c_cg and c_fe: sums, numbering, plans, the method, and the detection of wrong messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "c_cg/stencil_matrix.h"
#include "c_fe/assemble.h"
#include "krylov/host_rank.h"
#include "krylov/krylov_app.h"
#include "krylov/replay.h"
#include "krylov/textbook.h"
#include "wic/launch.h"

namespace sample::krylov {
namespace {

constexpr std::uint64_t kTimeoutNs = 60'000'000'000;

std::vector<double> some_numbers(std::size_t count) {
  Random random(3);
  std::vector<double> numbers(count);
  for (double& n : numbers) n = random.unit() - 0.5;
  return numbers;
}

TEST(RandomTest, StaysBelowItsEndAndReachesEverything) {
  Random random(1);
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 300; ++i) seen.insert(random.below(7));
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(*seen.rbegin(), 6u);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(NumberingTest, AFrontReachesEveryPointOnceNextToAnEarlierPoint) {
  for (const Grid grid : {Grid{1, 1, 1}, Grid{1, 5, 2}, Grid{6, 7, 8}}) {
    Random random(5);
    const auto order = front_order(grid, random);
    ASSERT_EQ(order.size(), grid.count());
    const auto number = inverse_of(order);
    for (std::uint32_t i = 1; i < order.size(); ++i) {
      std::uint32_t least = i;
      grid.around(order[i], [&](std::uint32_t other) { least = std::min(least, number[other]); });
      EXPECT_LT(least, i);
    }
  }
}

TEST(NumberingTest, NumbersEveryPointOnce) {
  for (const Grid grid : {Grid{1, 1, 1}, Grid{2, 2, 2}, Grid{1, 5, 2}, Grid{6, 17, 19}}) {
    auto order = unstructured_order(grid, 5);
    ASSERT_EQ(order.size(), grid.count());
    std::sort(order.begin(), order.end());
    for (std::uint32_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
  }
  EXPECT_NE(unstructured_order({6, 7, 8}, 5), unstructured_order({6, 7, 8}, 6));
}

TEST(NumberingTest, IsIrregularButKeepsNeighboursTogether) {
  const Grid grid{32, 32, 32};
  const auto order = unstructured_order(grid, 1);
  const auto number = inverse_of(order);
  int steps = 0, far = 0, pairs = 0;
  for (std::uint32_t i = 1; i < order.size(); ++i) steps += order[i] == order[i - 1] + 1 ? 1 : 0;
  EXPECT_LT(steps, 200);  // about 1 in 500; the grid's natural order has 31,744
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    grid.around(order[i], [&](std::uint32_t other) {
      const std::uint32_t apart = number[other] > i ? number[other] - i : i - number[other];
      far += apart > 512 ? 1 : 0;  // a patch has 512 points
      ++pairs;
    });
  }
  EXPECT_LT(far, pairs / 3);
}

TEST(SharesTest, AddUpAndAreNeverEmpty) {
  EXPECT_EQ(shares_of(100, 2, 3), (std::vector<std::uint32_t>{0, 3, 100}));
  EXPECT_EQ(shares_of(100, 3, 50), (std::vector<std::uint32_t>{0, 50, 75, 100}));
  EXPECT_EQ(shares_of(4, 4, 99), (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(shares_of(2, 2, 0.1), (std::vector<std::uint32_t>{0, 1, 2}));
}

// A rank's sum over chunks, computed by the CPU and by a block of `threads` threads.
struct FoldKernel {
  const Dots* chunks;
  std::uint32_t count;
  Dots* to;
  WIC_DEVICE void operator()(const wic::Thread& thread) const {
    auto& scratch = *static_cast<FoldScratch*>(thread.shared());
    for (int round = 0; round < 2; ++round) {  // the scratch may be reused at once
      for (std::uint32_t s = thread.index(); s < kSlots; s += thread.block_size()) {
        scratch.slots[s] = slot_of_chunks(chunks, count, s);
      }
      const Dots sum = block_fold(thread, scratch);
      if (thread.index() == 0) to[round] = sum;
    }
  }
};

TEST(SumsTest, ABlockOfAnySizeMatchesTheCpu) {
  auto runtime = *wic::Runtime::create({});
  wic::Device& device = runtime->device(0);
  auto stream = *device.make_stream();
  for (const std::uint32_t count : {1u, 2u, 255u, 256u, 257u, 1000u}) {
    const auto numbers = some_numbers(2 * count);
    auto chunks = *wic::Array<Dots>::make(device, count, wic::Memory::pinned_host);
    auto to = *wic::Array<Dots>::make(device, 2, wic::Memory::pinned_host);
    for (std::uint32_t i = 0; i < count; ++i) chunks[i] = {numbers[2 * i], numbers[2 * i + 1]};
    const Dots right = sum_of_chunks(chunks.data(), count);
    for (const std::uint32_t threads : {32u, 96u, 256u, 512u}) {
      ASSERT_TRUE(wic::launch(*stream, {1, threads, sizeof(FoldScratch)}, FoldKernel{chunks.data(), count, to.data()}));
      ASSERT_TRUE(stream->synchronize());
      for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(to[round].gamma, right.gamma) << count << " chunks, " << threads << " threads";
        EXPECT_EQ(to[round].delta, right.delta);
      }
    }
  }
}

TEST(SellTest, MatchesTheCsr) {
  const auto system = cg::stencil_system({3, 5, 4}, 2);  // 60 rows: two slices, the second incomplete
  const Sell sell = sell_of(system.matrix);
  const auto from = some_numbers(60);
  std::vector<double> to(60);
  multiply(system.matrix, from, to);
  for (std::uint32_t row = 0; row < 60; ++row) EXPECT_NEAR(sell.view().product(row, from.data()), to[row], 1e-12);
}

TEST(SellTest, ReadsGhostsAfterTheOwnRows) {
  Csr matrix;
  matrix.add(0, 2);
  matrix.add(1, 5);  // one own row, so column 1 is ghost 0
  matrix.end_row();
  const double own = 3, ghost = 7;
  EXPECT_EQ(sell_of(matrix).view().product(0, &own, &ghost), 41);
}

void expect_lists_to_agree(const std::vector<RankPlan>& plans) {
  for (std::uint32_t rank = 0; rank < plans.size(); ++rank) {
    ASSERT_EQ(plans[rank].outgoing.size(), plans.size() - 1);
    ASSERT_EQ(plans[rank].incoming.size(), plans.size() - 1);
    std::uint32_t ghosts = 0;
    for (const Incoming& in : plans[rank].incoming) {
      EXPECT_EQ(in.ghost_begin, ghosts);
      ghosts += static_cast<std::uint32_t>(in.global.size());
      EXPECT_TRUE(std::is_sorted(in.global.begin(), in.global.end()));
      const auto& out = plans[in.peer].outgoing[rank < in.peer ? rank : rank - 1];
      ASSERT_EQ(out.peer, rank);
      EXPECT_EQ(out.global, in.global);
      const RankPlan& sender = plans[in.peer];
      const std::uint32_t before = sender.sharing == Sharing::sum ? sender.interior : 0;
      for (std::size_t i = 0; i < out.from.size(); ++i) EXPECT_EQ(sender.global[before + out.from[i]], out.global[i]);
    }
    EXPECT_EQ(plans[rank].ghosts, ghosts);
  }
}

TEST(HaloPlanTest, EveryRowBelongsToOneRankAndInteriorRowsNeedNoOtherRank) {
  for (const std::uint32_t ranks : {2u, 3u, 5u}) {
    const Grid grid{4, 5, 6};
    const auto system = cg::stencil_system(grid, 9);
    const auto begin = shares_of(grid.count(), ranks, 30);
    const auto plans = halo_plans(system.matrix, begin);
    expect_lists_to_agree(plans);
    std::set<std::uint32_t> rows;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (std::uint32_t i = 0; i < plans[rank].rows(); ++i) {
        const std::uint32_t row = plans[rank].global[i];
        rows.insert(row);
        bool inside = true;
        for (std::uint32_t e = system.matrix.begin[row]; e < system.matrix.begin[row + 1]; ++e) {
          inside = inside && system.matrix.columns[e] >= begin[rank] && system.matrix.columns[e] < begin[rank + 1];
        }
        EXPECT_EQ(inside, i < plans[rank].interior);
      }
    }
    EXPECT_EQ(rows.size(), grid.count());
  }
}

TEST(HaloPlanTest, MessagesAreGatheredListsAndNotRanges) {
  const Grid grid{12, 12, 12};
  const auto plans = halo_plans(cg::stencil_system(grid, 1).matrix, shares_of(grid.count(), 2, 20));
  for (const RankPlan& plan : plans) {
    const wic::Payload payload = wic::payload_of(plan.outgoing[0].global, sizeof(double));
    EXPECT_FALSE(payload.regular);
    EXPECT_GT(payload.pieces, 20u);
  }
}

std::vector<Part> parts_of(const fe::Mesh& mesh, std::uint32_t ranks, double percent) {
  std::vector<Part> parts;
  const auto begin = shares_of(mesh.elements.count(), ranks, percent);
  for (std::uint32_t r = 0; r < ranks; ++r) parts.push_back(fe::assemble(mesh, {begin[r], begin[r + 1]}));
  return parts;
}

TEST(SumPlanTest, EveryNodeIsCountedOnceAndSummedInOneOrder) {
  for (const std::uint32_t ranks : {2u, 3u, 5u}) {
    const fe::Mesh mesh = fe::make_mesh(5, 3);
    const auto plans = sum_plans(parts_of(mesh, ranks, 40), mesh.unknowns());
    expect_lists_to_agree(plans);
    std::map<std::uint32_t, int> counted, had;
    for (const RankPlan& plan : plans) {
      for (std::uint32_t i = 0; i < plan.rows(); ++i) {
        ++had[plan.global[i]];
        if (i < plan.dot_rows) ++counted[plan.global[i]];
      }
    }
    EXPECT_EQ(counted.size(), mesh.unknowns());
    for (const auto& [node, times] : counted) EXPECT_EQ(times, 1) << node;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const RankPlan& plan = plans[rank];
      for (std::uint32_t i = 0; i < plan.rows(); ++i) EXPECT_EQ(had[plan.global[i]] == 1, i < plan.interior);
      for (std::uint32_t i = 0; i < plan.boundary(); ++i) {
        const std::uint32_t begin = plan.combine.begin[i], end = plan.combine.begin[i + 1];
        EXPECT_EQ(static_cast<int>(end - begin), had[plan.global[plan.interior + i]]);
        std::uint32_t before = 0;  // ranks, from 1
        for (std::uint32_t k = begin; k < end; ++k) {
          std::uint32_t from = rank;
          for (const Incoming& in : plan.incoming) {
            const std::uint32_t ghost = plan.combine.from[k] - in.ghost_begin;
            if (plan.combine.from[k] == kOwnProduct || ghost >= in.global.size()) continue;
            from = in.peer;
            EXPECT_EQ(in.global[ghost], plan.global[plan.interior + i]);
          }
          EXPECT_GT(from + 1, before);
          before = from + 1;
        }
      }
    }
  }
}

TEST(SumPlanTest, ThePartsAddUpToTheWholeMatrix) {
  const fe::Mesh mesh = fe::make_mesh(4, 3);
  const Csr whole = fe::assemble(mesh, {0, mesh.elements.count()}).matrix;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> sum;
  for (const Part& part : parts_of(mesh, 3, 20)) {
    for (std::uint32_t row = 0; row < part.nodes.size(); ++row) {
      for (std::uint32_t e = part.matrix.begin[row]; e < part.matrix.begin[row + 1]; ++e) {
        sum[{part.nodes[row], part.matrix.columns[e]}] += part.matrix.values[e];
      }
    }
  }
  EXPECT_EQ(sum.size(), whole.values.size());
  for (std::uint32_t row = 0; row < whole.rows(); ++row) {
    for (std::uint32_t e = whole.begin[row]; e < whole.begin[row + 1]; ++e) {
      EXPECT_NEAR((sum[{row, whole.columns[e]}]), whole.values[e], 1e-12);
    }
  }
}

TEST(HexahedronTest, ACubeHasTheKnownMatrix) {
  std::array<fe::Vec3, fe::kCorners> cube;
  for (std::uint32_t c = 0; c < fe::kCorners; ++c) cube[c] = {double(c & 1), double(c >> 1 & 1), double(c >> 2)};
  const fe::ElementMatrix matrix = fe::stiffness(cube);
  // The Laplace operator on the unit cube: 1/3 at a corner, 0 along an edge, -1/12 across a face and across the cube.
  for (std::uint32_t i = 0; i < fe::kCorners; ++i) {
    for (std::uint32_t k = 0; k < fe::kCorners; ++k) {
      const int apart = __builtin_popcount(i ^ k);
      const double right = apart == 0 ? 1.0 / 3 : apart == 1 ? 0 : -1.0 / 12;
      EXPECT_NEAR(matrix[i][k], right, 1e-14) << i << ", " << k;
    }
  }
}

TEST(HexahedronTest, ConstantsAreInTheKernelForAnyShape) {
  const fe::Mesh mesh = fe::make_mesh(3, 8);
  for (std::uint32_t e = 0; e < mesh.elements.count(); ++e) {
    std::array<fe::Vec3, fe::kCorners> places;
    const auto corners = mesh.corners_of(e);
    for (std::uint32_t c = 0; c < fe::kCorners; ++c) places[c] = mesh.place[corners[c]];
    for (const double sign : {-0.577, 0.577}) EXPECT_GT(fe::gradients_at(places, {sign, sign, sign}).determinant, 0);
    for (const auto& row : fe::stiffness(places)) {
      double sum = 0;
      for (const double value : row) sum += value;
      EXPECT_NEAR(sum, 0, 1e-14);
    }
  }
}

// A system small enough to solve by hand: diag(2, 1) and b = (2, 3).
TEST(TextbookTest, SolvesATinySystem) {
  Csr matrix;
  matrix.add(0, 2);
  matrix.end_row();
  matrix.add(1, 1);
  matrix.end_row();
  const std::vector<double> b{2, 3};
  const auto gammas = textbook_residuals(matrix, b, 10, 1e-20);
  ASSERT_EQ(gammas.size(), 3u);  // two different eigenvalues, two iterations
  EXPECT_EQ(gammas[0], 13);
  // alpha = 13 / 17: r = (2 - 4 alpha, 3 - 3 alpha) = (-18, 12) / 17.
  EXPECT_NEAR(gammas[1], 468.0 / 289, 1e-12);
  EXPECT_LT(gammas[2], 1e-20);
  EXPECT_EQ(residual_of(matrix, b, {1, 3}), 0);
  EXPECT_EQ(residual_of(matrix, b, {0, 3}), 4);
}

TEST(CoefficientsTest, FirstStepLaterStepAndZeroResidual) {
  const Coefficients first = coefficients_of({7, 7}, {6, 3}, true);
  EXPECT_EQ(first.alpha, 2);
  EXPECT_EQ(first.beta, 0);
  // beta = 6 / 12; alpha = 6 / (4 - 0.5 * 6 / 3)
  const Coefficients later = coefficients_of({12, 3}, {6, 4}, false);
  EXPECT_EQ(later.beta, 0.5);
  EXPECT_EQ(later.alpha, 2);
  EXPECT_EQ(coefficients_of({0, 0}, {0, 0}, false).alpha, 0);
}

TEST(ScheduleTest, ASolveEndsWithAResidualComputedFromX) {
  Schedule schedule(1, 100);
  const auto expect = [&](Kind kind, bool first, double gamma) {
    EXPECT_EQ(schedule.kind(), kind);
    if (kind == Kind::step) {
      EXPECT_EQ(schedule.first(), first);
    }
    EXPECT_EQ(schedule.state(), Schedule::State::going);
    schedule.next({gamma, 1});
  };
  expect(Kind::residual, true, 0);
  expect(Kind::image, true, 10);
  expect(Kind::step, true, 10);
  expect(Kind::step, false, 0.5);  // the recurrence claims convergence
  expect(Kind::residual, true, 0);
  expect(Kind::image, true, 3);  // but the true residual is too large
  expect(Kind::step, true, 3);
  expect(Kind::step, false, 0.9);
  expect(Kind::residual, true, 0);
  expect(Kind::image, true, 0.9);
  EXPECT_EQ(schedule.state(), Schedule::State::solved);
}

TEST(ScheduleTest, GivesUp) {
  Schedule slow(1, 3);
  for (int i = 0; i < 3; ++i) slow.next({5, 1});
  EXPECT_EQ(slow.state(), Schedule::State::no_convergence);
  Schedule broken(1, 100);
  broken.next({0, 0});
  broken.next({std::nan(""), 1});
  EXPECT_EQ(broken.state(), Schedule::State::breakdown);
}

// Rank after rank, the pipelined method on shared rows matches the textbook method on the whole matrix.
TEST(ReplayTest, MatchesTheTextbook) {
  const fe::Mesh mesh = fe::make_mesh(7, 4);
  std::vector<double> fe_b(mesh.unknowns());
  const Csr fe_matrix = fe::assemble(mesh, {0, mesh.elements.count()}, &fe_b).matrix;
  const auto system = cg::stencil_system({7, 6, 5}, 4);
  for (const std::uint32_t ranks : {2u, 4u}) {
    for (const bool fe : {false, true}) {
      const Csr& matrix = fe ? fe_matrix : system.matrix;
      const std::vector<double>& b = fe ? fe_b : system.b;
      const auto plans = fe ? sum_plans(parts_of(mesh, ranks, 50), mesh.unknowns())
                            : halo_plans(system.matrix, shares_of(system.matrix.rows(), ranks, 50));
      const double goal = 1e-16 * dot(b, b);
      const auto right = textbook_residuals(matrix, b, 1000, goal);
      Replay replay(plans, b);
      Schedule schedule(goal, 1000);
      std::size_t step = 0;
      while (schedule.state() == Schedule::State::going) {
        const bool is_step = schedule.kind() == Kind::step;
        const Dots dots = replay.iterate(schedule.kind(), schedule.first());
        if (is_step && step < right.size() && right[step] > 1e-8 * right[0]) {
          EXPECT_NEAR(dots.gamma / right[step], 1, 1e-5) << "step " << step << ", " << ranks << " ranks, fe " << fe;
        }
        step += is_step ? 1 : 0;
        schedule.next(dots);
      }
      ASSERT_EQ(schedule.state(), Schedule::State::solved);
      EXPECT_LE(step, right.size() + 2);
      std::vector<double> x(b.size());
      for (std::size_t r = 0; r < plans.size(); ++r) {
        for (std::uint32_t i = 0; i < plans[r].rows(); ++i) x[plans[r].global[i]] = replay.x(r)[i];
      }
      EXPECT_LE(residual_of(matrix, b, x), goal * 1.0001);
      for (std::uint32_t i = 0; fe && i < x.size(); ++i) {
        EXPECT_NEAR(x[i], fe::solution(mesh.place[mesh.free_nodes[i]]), 1e-6);
      }
    }
  }
}

TEST(HostTeamTest, EveryItemIsDoneOnce) {
  for (const std::uint32_t members : {1u, 2u, 5u}) {
    HostTeam<SpinningGate> team(members);
    for (const std::uint32_t count : {0u, 1u, 4u, 103u}) {
      std::vector<int> done(count);
      for (int round = 0; round < 50; ++round) {
        team.in_ranges(count, [&](std::uint32_t i) { ++done[i]; });
        team.in_turn(count, [&](std::uint32_t i) { ++done[count - 1 - i]; });
      }
      EXPECT_EQ(done, std::vector<int>(count, 100)) << members << " members";
    }
  }
}

class KrylovAppTest : public testing::Test {
 protected:
  static Problem cg_problem(std::uint32_t ranks) {
    const Grid grid{5, 6, 5};
    auto system = cg::stencil_system(grid, 4);
    Problem problem;
    problem.plans = halo_plans(system.matrix, shares_of(grid.count(), ranks, 50));
    problem.matrix = std::move(system.matrix);
    problem.b = std::move(system.b);
    problem.shape = "150 rows";
    return problem;
  }
  static Problem fe_problem(std::uint32_t ranks) {
    const fe::Mesh mesh = fe::make_mesh(6, 4);
    Problem problem;
    problem.b.resize(mesh.unknowns());
    problem.matrix = fe::assemble(mesh, {0, mesh.elements.count()}, &problem.b).matrix;
    problem.plans = sum_plans(parts_of(mesh, ranks, 50), mesh.unknowns());
    return problem;
  }
  static constexpr SolveOptions kSolve{1e-8, 200};  // a solve takes about 20 iterations

  // Runs two solves and the check; returns "ok" or the error.
  static std::string run(Problem problem, std::uint32_t blocks = 0, std::uint32_t threads = 0) {
    wic::RuntimeOptions runtime_options;
    runtime_options.mode = wicprof::Mode::park;
    auto runtime = *wic::Runtime::create(runtime_options);
    ClusterOptions options;
    options.prefix = "t";
    options.shape = {blocks, threads};
    options.timeout_ns = kTimeoutNs;
    options.host_threads = 2;
    auto app = KrylovApp::make(*runtime, std::move(problem), kSolve, options);
    if (!app) return app.error().message;
    for (std::uint32_t step = 1; step <= 2; ++step) {
      if (auto done = (*app)->step(step); !done) return done.error().message;
    }
    const auto right = (*app)->check();
    return right ? "ok" : right.error().message;
  }
};

TEST_F(KrylovAppTest, IsCorrectWithAnyKernelShape) {
  EXPECT_EQ(run(cg_problem(2)), "ok");
  EXPECT_EQ(run(fe_problem(2)), "ok");
  EXPECT_EQ(run(cg_problem(2), 1, 32), "ok");  // one block sends, multiplies and waits
  EXPECT_EQ(run(fe_problem(2), 1, 96), "ok");
  EXPECT_EQ(run(cg_problem(2), 2, 64), "ok");
  EXPECT_EQ(run(cg_problem(2), 9, 256), "ok");
}

// Exchanges two values of a message.
void plant(Problem& problem, std::uint32_t rank) {
  std::vector<std::uint32_t>& from = problem.plans[rank].outgoing[0].from;
  ASSERT_GE(from.size(), 2u);
  std::swap(from.front(), from.back());
}

TEST_F(KrylovAppTest, AMessageWithTheWrongValuesIsFound) {
  for (const std::uint32_t rank : {0u, 1u}) {
    for (const bool fe : {false, true}) {
      Problem problem = fe ? fe_problem(2) : cg_problem(2);
      plant(problem, rank);
      const std::string answer = run(std::move(problem));
      EXPECT_NE(answer, "ok") << "rank " << rank << ", fe " << fe;
    }
  }
}

TEST_F(KrylovAppTest, AWrongMatrixIsFound) {
  Problem problem = cg_problem(2);
  problem.matrix.values[0] += 0.125;  // only the references use this matrix
  EXPECT_NE(run(std::move(problem)).find("residual"), std::string::npos);
}

TEST_F(KrylovAppTest, TheProgramsAdditionalCheckIsCalled) {
  Problem problem = cg_problem(2);
  problem.check = [](const std::vector<double>& x) { return x.size() == 150 ? "I say no" : ""; };
  EXPECT_EQ(run(std::move(problem)), "I say no");
}

TEST_F(KrylovAppTest, RefusesTooLargeBlocks) {
  EXPECT_NE(run(cg_problem(2), 0, 1024).find("--block-size"), std::string::npos);
}

// A device whose peer never sends, and a CPU rank whose peer never sends.
class SilenceTest : public testing::Test {
 protected:
  void SetUp() override {
    runtime_ = *wic::Runtime::create({});
    const Grid grid{4, 4, 4};
    system_ = cg::stencil_system(grid, 1);
    plans_ = halo_plans(system_.matrix, shares_of(grid.count(), 2, 50));
    for (const bool out : {true, false}) {
      LaneSpec spec;
      spec.name = out ? "up" : "down";
      (out ? spec.consumer : spec.producer) = wic::End::on(0);
      spec.max_bytes = message_bytes(64);
      (out ? up_ : down_) = *Lane::make(*runtime_, spec);
    }
  }

  static constexpr std::uint64_t kShortNs = 2'000'000;
  std::unique_ptr<wic::Runtime> runtime_;
  cg::System system_;
  std::vector<RankPlan> plans_;
  std::unique_ptr<Lane> up_, down_;
};

TEST_F(SilenceTest, ADeviceStopsSendingAfterAMissedDeadline) {
  auto rank = DeviceRank::make(runtime_->device(0), plans_[1], system_.b, 1, {{down_.get(), up_.get()}}, {}, 1);
  ASSERT_TRUE(rank) << rank.error().message;
  ASSERT_TRUE((*rank)->launch(Kind::residual, true, 1, kShortNs));
  ASSERT_TRUE((*rank)->launch(Kind::image, true, 2, kShortNs));
  const auto failure = (*rank)->settle();
  ASSERT_TRUE(failure) << failure.error().message;
  EXPECT_EQ(failure->failed_at, 1u);
  EXPECT_EQ(failure->rank, 0u);
  EXPECT_EQ(failure->for_space, 0u);
  const Lane::Turn first = down_->turn(1), second = down_->turn(2);
  EXPECT_EQ(first.channel->receive(0, first.cycle, kTimeoutNs).wait.status, wicprof::WaitStatus::satisfied);
  EXPECT_EQ(second.channel->receive(0, second.cycle, kShortNs).wait.status, wicprof::WaitStatus::deadline_passed);
}

TEST_F(SilenceTest, TheCpuNamesTheWaitThatMissedItsDeadline) {
  HostRank rank(plans_[0], system_.b, {{up_.get(), down_.get()}}, 2);
  const auto done = rank.iterate(Kind::residual, true, 1, static_cast<wicprof::TimeNs>(kShortNs));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, wicprof::ErrorKind::failed);
  EXPECT_NE(done.error().message.find("down.data"), std::string::npos) << done.error().message;
}

TEST_F(SilenceTest, AMessageOfAnotherIterationIsFound) {
  auto rank = DeviceRank::make(runtime_->device(0), plans_[1], system_.b, 1, {{down_.get(), up_.get()}}, {}, 1);
  ASSERT_TRUE(rank) << rank.error().message;
  std::vector<double> message(kHead + plans_[1].incoming[0].global.size());
  message[kIterationAt] = 7;
  const Lane::Turn turn = up_->turn(1);
  ASSERT_TRUE(turn.channel->send(0, turn.cycle, message.data(),
                                 static_cast<std::uint32_t>(message.size() * sizeof(double)), kTimeoutNs));
  ASSERT_TRUE((*rank)->launch(Kind::residual, true, 1, kTimeoutNs));
  const auto failure = (*rank)->settle();
  ASSERT_TRUE(failure) << failure.error().message;
  EXPECT_EQ(failure->failed_at, 0u);
  EXPECT_EQ(failure->wrong, 1u);
}

}  // namespace
}  // namespace sample::krylov
