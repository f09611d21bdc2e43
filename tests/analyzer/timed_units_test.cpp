#include "analyzer/compare/timed_units.h"

#include <gtest/gtest.h>

#include <string>

#include "analyzer/analysis.h"
#include "analyzer/compare/compare.h"
#include "analyzer/measure/numbered_names.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

TEST(TimedUnits, AreRangesElseCollectivesElseLaunchesElseCalls) {
  TraceModel model = program_without_sites();
  Comparison comparison = compare(model);
  EXPECT_TRUE(comparison.measured_at.starts_with("NVTX range step")) << comparison.measured_at;
  EXPECT_NE(comparison.timed.find("the NVTX range step is timed"), std::string::npos) << comparison.timed;
  EXPECT_NE(comparison.settle.find("--side host"), std::string::npos) << comparison.settle;

  const std::vector<store::NvtxRow> steps = std::move(model.nvtx);
  model.nvtx.assign(steps.begin(), steps.begin() + 2);    // marks the program's start, say
  for (std::uint32_t i = 0; i < 2 * steps.size(); ++i) {  // of two ranks; one of them does not see the last
    store::MpiCallRow call;
    call.operation = MpiOperation::allreduce;
    call.communicator = 1;
    call.sequence = i / 2 + 1;
    call.process = 1 + i % 2;
    call.begin = steps[i / 2].start;
    call.end = steps[i / 2].start + 1000 + 10 * (i % 2);
    if (i + 1 < 2 * steps.size()) model.mpi_calls.push_back(call);
  }
  comparison = compare(model);
  EXPECT_TRUE(comparison.measured_at.starts_with("calls of MPI_Allreduce")) << comparison.measured_at;
  EXPECT_NE(comparison.timed.find("from one of the calls of MPI_Allreduce to the next"), std::string::npos);
  EXPECT_EQ(find_collectives(model).front().list.size(), steps.size() - 1);
  model.meta[std::string(name_of(store::MetaKey::digest_of))] = "trace";
  EXPECT_TRUE(find_collectives(model).empty());  // a digest has few of the calls
  model.meta.clear();

  model.mpi_calls.clear();
  comparison = compare(model);
  EXPECT_TRUE(comparison.measured_at.starts_with("launches of second")) << comparison.measured_at;  // the fewest
  EXPECT_NE(comparison.timed.find("no NVTX range repeats"), std::string::npos) << comparison.timed;
  EXPECT_NE(comparison.timed.find("--nvtx"), std::string::npos);

  model.kernels.clear();
  comparison = compare(model);
  EXPECT_TRUE(comparison.measured_at.starts_with("cudaStreamSynchronize in step")) << comparison.measured_at;
  EXPECT_NE(comparison.timed.find("from one wait at cudaStreamSynchronize in step to the next"), std::string::npos);

  model.host_waits = {model.host_waits.front()};
  comparison = compare(model);
  EXPECT_EQ(comparison.why, "no iterations");
  EXPECT_NE(comparison.reason.find("--nvtx"), std::string::npos) << comparison.reason;
}

TEST(TimedUnits, AreTheSameBetweenTracesAndInTheAnalysis) {
  // Waits of the program's start, more than it has steps.
  TraceModel model = program_without_sites();
  const std::size_t steps = model.host_waits.size();
  for (std::uint32_t i = 0; i < 2 * steps; ++i) {
    store::HostWaitRow wait = model.host_waits.front();
    wait.site = 900;
    wait.iteration = i;
    wait.begin = model.begin + 100 * i;
    wait.end = wait.begin + 50;
    model.host_waits.push_back(wait);
  }
  declare_site(model, 900, "cudaMemcpy in load_weights", WordMemory::device, 1).side = SiteSide::host;
  settle(model);
  EXPECT_EQ(find_iterations(model).front().site, 900u);
  const Comparison within = compare(model), between = compare(model, model);
  EXPECT_EQ(between.measured_at, within.measured_at);
  EXPECT_EQ(between.timed, within.timed);
  EXPECT_TRUE(between.measured_at.starts_with("NVTX range step")) << between.measured_at;
  EXPECT_EQ(analyze(model).iterations->site_name, "NVTX range step");

  // Where one of the runs has no range, both have the kernel.
  TraceModel bare = model;
  bare.nvtx.clear();
  for (const Comparison& mixed : {compare(model, bare), compare(bare, model)}) {
    EXPECT_TRUE(mixed.measured_at.starts_with("launches of second")) << mixed.measured_at;
    EXPECT_FALSE(mixed.timed.empty());
  }
  EXPECT_NE(compare(model, bare).timed.find("nothing better in common"), std::string::npos);
}

TEST(TimedUnits, AreThoseThatRepeatOftenEnoughForAVerdict) {
  TraceModel model = program_without_sites();
  const std::size_t steps = model.nvtx.size();
  for (std::size_t i = 0; i < 4; ++i) {
    store::NvtxRow epoch = model.nvtx[i * steps / 4];
    epoch.name = "epoch";
    epoch.end = model.nvtx[(i + 1) * steps / 4 - 1].end;
    model.nvtx.push_back(epoch);
  }
  settle(model);
  EXPECT_TRUE(compare(model, model).measured_at.starts_with("NVTX range step"));
}

TEST(TimedUnits, RangesWhoseNamesDifferInNumbersAreOne) {
  TraceModel model = program_without_sites();
  const Comparison exact = compare(model);
  const auto number_of = [&](std::size_t i) { return std::to_string(i); };
  for (std::size_t i = 0; i < model.nvtx.size(); ++i) model.nvtx[i].name = "step " + number_of(i) + " of 99";
  const Comparison numbered = compare(model);
  EXPECT_TRUE(numbered.measured_at.starts_with("NVTX range step # of #")) << numbered.measured_at;
  EXPECT_NE(numbered.timed.find("# stands for numbers"), std::string::npos) << numbered.timed;
  ASSERT_TRUE(numbered.speedup && exact.speedup);
  EXPECT_DOUBLE_EQ(numbered.speedup->value, exact.speedup->value);
  EXPECT_EQ(compare(model, {.nvtx = "step # of #"}).speedup->value, exact.speedup->value);
  EXPECT_EQ(compare(model, {.nvtx = "step"}).why, "no iterations") << "not a part of the name";
  EXPECT_EQ(find_ranges(model, "step 3 of 99").at(0).list.size(), 1u) << "a whole name is meant as it is";

  // A range that repeats under its whole name is timed as before, however long the numbered ones are.
  TraceModel both = model;
  for (const store::NvtxRow& range : model.nvtx) {
    store::NvtxRow inner = range;
    inner.name = "forward";
    inner.end = inner.start + 100'000;
    both.nvtx.push_back(inner);
  }
  settle(both);
  EXPECT_TRUE(compare(both).measured_at.starts_with("NVTX range forward")) << compare(both).measured_at;

  // Layers that come again in each step are not one range.
  for (std::size_t i = 0; i < model.nvtx.size(); ++i) model.nvtx[i].name = "layer " + number_of(i % 20);
  EXPECT_TRUE(compare(model).measured_at.starts_with("launches of second")) << compare(model).measured_at;
  EXPECT_EQ(without_numbers("a1b22c"), "a#b#c");
  EXPECT_EQ(without_numbers("step #17"), "step #");
}

TEST(TimedUnits, AreIterationsWhereTheProgramHasWaitSites) {
  const auto period = [](Mode mode, std::size_t i) {
    return TimeNs{mode == Mode::poll ? 2'000'000 : 1'000'000} + TimeNs(i);
  };
  EXPECT_TRUE(compare(phased_program({.period = period})).timed.empty());
}

}  // namespace
}  // namespace wicprof::analyzer
