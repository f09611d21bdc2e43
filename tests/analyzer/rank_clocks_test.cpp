// The clocks of a job's traces, aligned by calls of MPI: made jobs, whose true shifts are known.
#include "analyzer/ranks/rank_clocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "analyzer/ranks/join.h"

namespace wicprof::analyzer {
namespace {

constexpr CommunicatorId kWorld = 77;

/// A rank on a machine of its own, whose clock shows `offset` more than the first one's, and ever more.
struct Rank {
  TimeNs offset = 0;
  double drift = 0;
  TraceModel trace = {};

  TimeNs clock(TimeNs time) const { return time + offset + std::llround(drift * static_cast<double>(time)); }
};

class Job {
 public:
  explicit Job(std::size_t size) : ranks(size) {
    for (std::size_t i = 0; i < size; ++i) {
      store::MpiCommunicatorRow row;
      row.communicator = kWorld;
      row.rank = row.world_rank = static_cast<std::int32_t>(i);
      row.size = static_cast<std::int32_t>(size);
      row.process = process(i);
      ranks[i].trace.mpi_communicators.push_back(row);
      ranks[i].trace.name = "trace." + std::to_string(i);
      ranks[i].trace.meta = {{"host", "n" + std::to_string(i)}, {"state", "complete"}};
    }
  }

  store::MpiCallRow& call(MpiOperation operation, std::size_t rank, TimeNs begin, TimeNs end) {
    store::MpiCallRow row;
    row.operation = operation;
    row.communicator = kWorld;
    row.process = row.thread = process(rank);
    row.begin = ranks[rank].clock(begin);
    row.end = ranks[rank].clock(end);
    return ranks[rank].trace.mpi_calls.emplace_back(row);
  }
  void barrier(const std::vector<TimeNs>& begins, const std::vector<TimeNs>& ends) {
    ++sequence_;
    for (std::size_t i = 0; i < ranks.size(); ++i)
      call(MpiOperation::barrier, i, begins[i], ends[i]).sequence = sequence_;
  }
  void message(std::size_t from, std::size_t to, TimeNs sent, TimeNs received) {
    ++sequence_;
    for (const bool sends : {true, false}) {
      store::MpiCallRow& row =
          sends ? call(MpiOperation::send, from, sent, sent + 1000) : call(MpiOperation::recv, to, sent, received);
      row.sequence = sequence_;
      row.peer = static_cast<std::int32_t>(sends ? to : from);
      row.tag = 1;
    }
  }
  std::vector<TraceModel> traces() const {
    std::vector<TraceModel> all;
    for (const Rank& rank : ranks) {
      all.push_back(rank.trace);
      settle(all.back());
    }
    return all;
  }
  /// The most by which a shifted time of the rank is off the first rank's clock.
  TimeNs worst(const ClockShift& shift, std::size_t rank, TimeNs length) const {
    TimeNs worst = 0;
    for (int part = 0; part <= 100; ++part) {
      const TimeNs time = kBegin + length / 100 * part, here = ranks[rank].clock(time);
      worst = std::max(worst, std::abs(here + shift.at(here) - ranks[0].clock(time)));
    }
    return worst;
  }

  static store::ProcessId process(std::size_t rank) { return 100 + static_cast<store::ProcessId>(rank); }
  static constexpr TimeNs kBegin = kSecond;

  std::vector<Rank> ranks;

 private:
  std::uint32_t sequence_ = 0;
};

TEST(RankClocks, AreWithinTheStatedError) {
  int within = 0, all = 0;
  TimeNs largest = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<TimeNs> offset(-1'000'000 * kSecond, 1'000'000 * kSecond);
    std::uniform_real_distribution<double> drift(-5e-5, 5e-5);
    std::exponential_distribution<double> work(1.0 / 2e6), leaving(1.0 / 2e4), delayed(1.0 / 3e6);
    Job job(4);
    for (std::size_t i = 1; i < 4; ++i) job.ranks[i] = {offset(random), drift(random), std::move(job.ranks[i].trace)};
    const int steps = 20 + static_cast<int>(seed % 5) * 100;
    for (int step = 0; step < steps; ++step) {
      const TimeNs at = Job::kBegin + step * 20 * kMillisecond;
      std::vector<TimeNs> begins, ends;
      for (std::size_t i = 0; i < 4; ++i)
        begins.push_back(at + std::llround(work(random)) + (i == seed % 4 ? 8'000'000 : 0));
      const TimeNs last = *std::max_element(begins.begin(), begins.end());
      // Somebody who has no CPU leaves late.
      for (int i = 0; i < 4; ++i)
        ends.push_back(last + 2000 + std::llround(leaving(random) + (random() % 20 == 0 ? delayed(random) : 0)));
      job.barrier(begins, ends);
    }
    const RankClocks clocks = rank_clocks(job.traces());
    ASSERT_EQ(clocks.shifts.size(), 4u);
    for (std::size_t i = 1; i < 4; ++i) {
      const TimeNs worst = job.worst(clocks.shifts[i], i, (steps - 1) * 20 * kMillisecond);
      ++all;
      within += worst <= clocks.shifts[i].error() ? 1 : 0;
      largest = std::max(largest, clocks.shifts[i].error());
      EXPECT_TRUE(clocks.shifts[i].by_mpi());
    }
  }
  EXPECT_GE(within, all * 99 / 100) << "of " << all << ", at most " << largest;
  EXPECT_LT(largest, kMillisecond) << within << " of " << all;
}

TEST(RankClocks, ByMessagesBothWays) {
  Job job(3);
  job.ranks[1].offset = 5 * kSecond;
  job.ranks[2].offset = -7 * kSecond;
  for (int i = 0; i < 50; ++i) {
    const TimeNs at = Job::kBegin + i * kMillisecond;
    job.message(0, 1, at, at + 10'000);
    job.message(1, 0, at + 20'000, at + 40'000);
    job.message(1, 2, at + 50'000, at + 60'000);  // the third rank only knows the second
    job.message(2, 1, at + 70'000, at + 80'000);
  }
  const RankClocks clocks = rank_clocks(job.traces());
  for (std::size_t i = 1; i < 3; ++i) {
    EXPECT_LE(job.worst(clocks.shifts[i], i, 49 * kMillisecond), clocks.shifts[i].error()) << i;
    EXPECT_LT(clocks.shifts[i].error(), 200'000) << i;
  }
}

TEST(RankClocks, ADriftThatTurnsIsFollowed) {
  Job job(2);
  for (int step = 0; step < 400; ++step) {
    job.ranks[1].offset = (step < 200 ? step : 400 - step) * 2000;  // 100 ppm of 20 ms
    const TimeNs at = Job::kBegin + step * 20 * kMillisecond;
    const TimeNs other = at + (step % 2 == 0 ? 1 : -1) * 50'000;
    job.barrier({at, other}, {std::max(at, other) + 3000, std::max(at, other) + 4000});
  }
  const RankClocks clocks = rank_clocks(job.traces());
  EXPECT_LT(clocks.shifts[1].error(), 50'000);
  job.ranks[1].offset = 200 * 2000;
  const TimeNs turn = job.ranks[1].clock(Job::kBegin + 200 * 20 * kMillisecond);
  EXPECT_NEAR(static_cast<double>(clocks.shifts[1].at(turn)), -400'000, static_cast<double>(clocks.shifts[1].error()));
  TimeNs before = 0;
  for (TimeNs time = turn - kSecond; time < turn + kSecond; time += 1000) {
    EXPECT_GE(time + clocks.shifts[1].at(time), before) << "the order of times stays";
    before = time + clocks.shifts[1].at(time);
  }
}

TEST(RankClocks, ByKernelsOfNccl) {
  Job job(2);
  job.ranks[1].offset = 5 * kSecond;
  for (std::uint32_t step = 0; step < 50; ++step) {
    for (const MpiOperation operation : {MpiOperation::nccl_all_reduce, MpiOperation::nccl_all_gather}) {
      const TimeNs at =
          Job::kBegin + step * 20 * kMillisecond + (operation == MpiOperation::nccl_all_reduce ? 0 : 50'000);
      for (std::size_t i = 0; i < 2; ++i) {
        // The hosts run ahead of their devices, of which another one is late in each step.
        store::MpiCallRow& call = job.call(operation, i, at - 15 * kMillisecond, at - 14 * kMillisecond);
        call.sequence = step + 1;
        store::MpiRequestRow request;
        request.operation = request.completed_by = operation;
        request.communicator = call.communicator;
        request.sequence = call.sequence;
        request.process = request.thread = call.process;
        request.posted = call.begin;
        request.begin = job.ranks[i].clock(at + (step % 2 == i ? 30'000 : 0));
        request.end = job.ranks[i].clock(at + 40'000);
        job.ranks[i].trace.mpi_requests.push_back(request);
      }
    }
  }
  const RankClocks clocks = rank_clocks(job.traces());
  EXPECT_TRUE(clocks.shifts[1].by_mpi());
  EXPECT_LE(job.worst(clocks.shifts[1], 1, 49 * 20 * kMillisecond), clocks.shifts[1].error());
  EXPECT_LT(clocks.shifts[1].error(), 60'000);
}

TEST(RankClocks, TracesOfOneMachineHaveOneClock) {
  Job job(3);
  for (Rank& rank : job.ranks) rank.trace.meta["host"] = "n";
  job.barrier({10'000, 20'000, 30'000}, {40'000, 41'000, 42'000});
  const RankClocks clocks = rank_clocks(job.traces());
  EXPECT_EQ(clocks.clock, (std::vector<std::uint32_t>{0, 0, 0}));
  EXPECT_EQ(clocks.shifts[0].at(1), 0);
  EXPECT_EQ(clocks.shifts[0].error(), 0);
}

TEST(RankClocks, TwoMachinesOfOneNameHaveTwoClocks) {
  Job job(3);
  for (Rank& rank : job.ranks) rank.trace.meta["host"] = "n";
  job.ranks[1].offset = kSecond;
  job.barrier({10'000, 20'000, 30'000}, {40'000, 41'000, 42'000});
  EXPECT_EQ(rank_clocks(job.traces()).clock, (std::vector<std::uint32_t>{0, 1, 0}));
}

TEST(Join, ProcessesAndDevicesOfTwoMachinesKeepApart) {
  Job job(2);
  for (Rank& rank : job.ranks) {
    rank.trace.mpi_communicators[0].process = 7;  // as in two containers
    store::ProcessRow process;
    process.id = 7;
    process.seen = 1;
    rank.trace.processes.push_back(process);
    store::DeviceRow device{};
    device.kind = DeviceKind::cuda;
    rank.trace.devices.push_back(device);
    store::KernelRow kernel{};
    kernel.id = 1;
    kernel.start = 100'000;
    kernel.end = 200'000;
    kernel.process = 7;
    rank.trace.kernels.push_back(kernel);
    rank.trace.kernels.close();
  }
  job.barrier({10'000, 20'000}, {40'000, 41'000});
  for (Rank& rank : job.ranks) rank.trace.mpi_calls[0].process = rank.trace.mpi_calls[0].thread = 7;
  const Result<TraceModel> model = join(job.traces());
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ(model->kernels.size(), 2u);
  EXPECT_NE(model->kernels[0].process, model->kernels[1].process);
  EXPECT_NE(model->kernels[0].device, model->kernels[1].device);
  EXPECT_NE(model->kernels[0].id, model->kernels[1].id);
  EXPECT_EQ(model->devices.size(), 2u);
  EXPECT_EQ(model->processes.size(), 2u);
  for (const store::MpiCallRow& call : model->mpi_calls) EXPECT_EQ(call.thread, call.process) << "the main thread";
}

}  // namespace
}  // namespace wicprof::analyzer
