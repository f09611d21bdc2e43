// Digests: what they leave out is the same for all ranks, and what is left stands for the rest.
#include "analyzer/ranks/digest.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "analyzer/analysis.h"
#include "analyzer/ranks/join.h"
#include "analyzer/ranks/work_sums.h"

namespace wicprof::analyzer {
namespace {

constexpr CommunicatorId kCommunicator = 77;
constexpr TimeNs kStep = kMillisecond;

/// Ranks that meet in each step, and of which the last comes late. With `messages`, each sends to the next one instead.
std::vector<TraceModel> job(std::int32_t ranks, std::uint32_t steps, bool messages) {
  std::mt19937 random(7);
  std::vector<TraceModel> traces(static_cast<std::size_t>(ranks));
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    TraceModel& trace = traces[static_cast<std::size_t>(rank)];
    store::MpiCommunicatorRow row;
    row.communicator = kCommunicator;
    row.rank = row.world_rank = rank;
    row.size = ranks;
    row.process = 100 + static_cast<store::ProcessId>(rank);
    trace.mpi_communicators.push_back(row);
    trace.name = "trace." + std::to_string(rank);
    trace.meta = {{"host", "n0"}, {"state", "complete"}};
    for (std::uint32_t step = 0; step < steps; ++step) {
      const TimeNs begin = kSecond + step * kStep;
      store::MpiCallRow call;
      call.communicator = kCommunicator;
      call.sequence = step + 1;
      call.process = call.thread = row.process;
      const TimeNs late = rank + 1 == ranks ? 400 * kMicrosecond : static_cast<TimeNs>(random() % 50'000);
      call.begin = begin + 100 * kMicrosecond + late;
      call.end = begin + 600 * kMicrosecond;
      call.operation = MpiOperation::allreduce;
      if (!messages) {
        trace.mpi_calls.push_back(call);
        continue;
      }
      call.operation = MpiOperation::send;
      call.peer = (rank + 1) % ranks;
      call.tag = 3;
      call.end = call.begin + 1000;
      trace.mpi_calls.push_back(call);
      call.operation = MpiOperation::recv;
      call.peer = (rank + ranks - 1) % ranks;
      call.begin += 2000;
      call.end = begin + 600 * kMicrosecond;
      trace.mpi_calls.push_back(call);
    }
    settle(trace);
  }
  return traces;
}

std::vector<TraceModel> digests(const std::vector<TraceModel>& traces, std::uint64_t most) {
  std::vector<TraceModel> all;
  for (const TraceModel& trace : traces) all.push_back(digest(trace, most));
  return all;
}

TimeNs total_cost(const MpiWaits& mpi) {
  TimeNs cost = 0;
  for (const RankCost& rank : mpi.ranks) cost += rank.cost_ns;
  return cost;
}

TEST(Digest, RanksKeepTheSameStepsOrMessages) {
  for (const bool messages : {false, true}) {
    std::set<std::set<std::uint32_t>> kept;
    for (const TraceModel& one : digests(job(4, 5000, messages), 1000)) {
      EXPECT_LE(one.mpi_calls.size(), 1000u);
      EXPECT_GE(one.mpi_calls.size(), 100u);
      std::set<std::uint32_t> steps;
      for (const store::MpiCallRow& call : one.mpi_calls) {
        if (!messages) steps.insert(*call.sequence);
        EXPECT_TRUE(!messages || call.stands_for > 1);
      }
      kept.insert(steps);
    }
    EXPECT_EQ(kept.size(), 1u) << messages;
    const MpiWaits mpi = mpi_waits(*join(digests(job(4, 5000, messages), 1000)));
    EXPECT_EQ(mpi.incomplete, 0u);
    EXPECT_EQ(mpi.unmatched, 0u);
  }
}

TEST(Digest, CostsAreEstimatedAndSumsAreExact) {
  for (const bool messages : {false, true}) {
    const std::vector<TraceModel> traces = job(4, 20'000, messages);
    const MpiWaits whole = mpi_waits(*join(traces));
    const TraceModel joined = *join(digests(traces, 2'000));
    const MpiWaits part = mpi_waits(joined);
    const auto cost = static_cast<double>(total_cost(whole));
    EXPECT_NEAR(static_cast<double>(total_cost(part)), cost, 0.15 * cost) << messages;
    EXPECT_EQ(part.ranks.front().rank, whole.ranks.front().rank);
    EXPECT_EQ(count_mpi_calls(joined), messages ? 160'000u : 80'000u);
    ASSERT_EQ(part.operations.size(), whole.operations.size());
    for (std::size_t i = 0; i < whole.operations.size(); ++i) {
      EXPECT_EQ(part.operations[i].calls, whole.operations[i].calls);
      EXPECT_EQ(part.operations[i].total_ns, whole.operations[i].total_ns);
    }
  }
}

TEST(Digest, RanksThatKeepDifferentPartsStillFitTogether) {
  const std::vector<TraceModel> traces = job(4, 20'000, false);
  const auto cost = static_cast<double>(total_cost(mpi_waits(*join(traces))));
  std::vector<TraceModel> mixed;
  for (std::size_t i = 0; i < traces.size(); ++i) mixed.push_back(i == 1 ? traces[i] : digest(traces[i], 1'000 << i));
  EXPECT_NEAR(static_cast<double>(total_cost(mpi_waits(*join(std::move(mixed))))), cost, 0.25 * cost);
}

TEST(Digest, OfADigestIsTheDigest) {
  const TraceModel once = digest(job(2, 5000, false).front(), 1000);
  const TraceModel twice = digest(once, 10);
  EXPECT_EQ(twice.mpi_calls.size(), once.mpi_calls.size());
  EXPECT_EQ(twice.digest_sums.size(), once.digest_sums.size());
  EXPECT_EQ(twice.name, once.name);
}

TEST(Digest, KeepsTheTimeOfWhatItLeavesOut) {
  TraceModel trace = job(2, 10, false).front();
  store::KernelRow kernel{};
  kernel.start = kSecond / 2;
  kernel.end = 2 * kSecond;
  kernel.process = 100;
  kernel.name = "k";
  trace.kernels.push_back(kernel);
  settle(trace);
  const TraceModel made = digest(trace, most_calls(trace));
  EXPECT_TRUE(made.kernels.empty());
  EXPECT_EQ(made.begin, trace.begin);
  EXPECT_EQ(made.end, trace.end);
}

TEST(Digest, KeepsTheKindsOfKernelsThatTakeMostAndTheSumOfTheOthers) {
  constexpr std::uint32_t kKinds = 200, kKept = 128, kLaunches = 5;
  TraceModel trace = job(2, 10, false).front();
  trace.mpi_gaps.push_back({0, 100, 1, kSecond, 2 * kSecond, kSecond, kSecond, 0, 100});
  TimeNs at = kSecond, all = 0;
  for (std::uint32_t kind = 1; kind <= kKinds; ++kind) {
    for (std::uint32_t launch = 0; launch < kLaunches; ++launch) {
      store::KernelRow kernel{};
      kernel.start = at;
      kernel.end = at += kind * kMicrosecond;
      all += kernel.end - kernel.start;
      kernel.process = 100;
      kernel.name = "k";
      kernel.grid[0] = kind;
      trace.kernels.push_back(kernel);
    }
  }
  settle(trace);
  const TraceModel made = digest(trace, most_calls(trace));
  const SameWork kernels = work_of_digests(made, store::SumOf::work).at(100).common.kernels;
  ASSERT_EQ(kernels.size(), kKept + 1);
  TimeNs kept = 0;
  for (const auto& [name, runs] : kernels) {
    if (!name.empty()) kept += runs.total;
  }
  const std::uint64_t shorter = kKinds - kKept;
  EXPECT_EQ(kernels.at("").runs, shorter * kLaunches);
  EXPECT_EQ(kernels.at("").total, static_cast<TimeNs>(shorter * (shorter + 1) / 2 * kLaunches) * kMicrosecond);
  EXPECT_EQ(kernels.at("").total + kept, all);
  EXPECT_DOUBLE_EQ(least_kept_kinds(made), static_cast<double>(kept) / static_cast<double>(all));
  EXPECT_EQ(least_kept_kinds(trace), 1);
}

TEST(Digest, ADeviceIsNotCalledSlowByAFewOfItsKernels) {
  SameWork late, other;
  for (const char* const kind : {"a", "b", "c", "d"}) {
    late[kind] = {100, 14'000'000, 140'000};
    other[kind] = {100, 10'000'000, 100'000};
  }
  late[""] = {20, 2'000'000, 0};
  other[""] = {20, 2'000'000, 0};
  const std::optional<SlowerWork> slower = slower_kernels(late, {&other});
  ASSERT_TRUE(slower);
  EXPECT_NEAR(slower->times, 1.4, 1e-9);
  late[""].total = other[""].total = 20'000'000;
  EXPECT_FALSE(slower_kernels(late, {&other})) << "a quarter of the time is in kinds that are not compared";
}

TEST(Digest, AnInclusiveScanWaitsForTheLastOfTheLowerRanks) {
  const std::int32_t ranks = 40;
  TraceModel model = *join(job(ranks, 1, false));
  std::mt19937 random(3);
  for (store::MpiCallRow& call : model.mpi_calls) {
    call.operation = MpiOperation::scan;
    call.begin = kSecond + static_cast<TimeNs>(random() % 400'000);
  }
  settle(model);
  std::map<store::ProcessId, store::ProcessId> late;
  for (const MpiWait& wait : mpi_waits(model).waits) late[wait.waiter] = wait.late;
  for (const store::MpiCallRow& call : model.mpi_calls) {
    const store::MpiCallRow* last = nullptr;
    for (const store::MpiCallRow& other : model.mpi_calls) {
      if (other.process < call.process && (last == nullptr || other.begin > last->begin)) last = &other;
    }
    if (last != nullptr && last->begin - call.begin >= kShortestMpiWait) {
      EXPECT_EQ(late[call.process], last->process);
    } else {
      EXPECT_FALSE(late.contains(call.process));
    }
  }
}

}  // namespace
}  // namespace wicprof::analyzer
