// Who waits for whom among the kernels of NCCL.
#include <gtest/gtest.h>

#include "analyzer/ranks/digest.h"
#include "rank_job.h"

namespace wicprof::analyzer {
namespace {

TEST(NcclWaits, BeginWhereTheRankHasNothingElseToDo) {
  Job job(2);
  all_reduce(job, 1, {1000, 5000}, 5100);
  device_kernel(job, 0, 500, 3000);  // beside the kernel that waits
  device_kernel(job, 0, 1000, 5100, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
  device_kernel(job, 1, 500, 4900);
  const MpiWaits found = mpi_waits(job.model);
  ASSERT_EQ(found.waits.size(), 1u);
  EXPECT_EQ(found.waits[0].begin, 3000 * kMicrosecond);
  EXPECT_EQ(found.waits[0].end, 5000 * kMicrosecond);
  EXPECT_EQ(found.ranks[0].rank, 1);
  EXPECT_EQ(found.ranks[0].cost_ns, 2000 * kMicrosecond);
  EXPECT_EQ(found.collectives[0].waited_ns, 2000 * kMicrosecond);
  EXPECT_EQ(found.operations[0].total_ns, 4200 * kMicrosecond);  // of the kernels
}

TEST(NcclWaits, CostWhatTheyHoldUpAndSlow) {
  Job job(2);
  for (const TimeNs begin : {0, 1500, 3000}) device_kernel(job, 0, begin, begin + 1000);
  all_reduce(job, 1, {5100, 8000}, 8300);
  device_kernel(job, 0, 5150, 6350);       // 200 us longer than usual
  all_reduce(job, 2, {8310, 8310}, 8700);  // would have run beside it, as the rest of the first one
  all_reduce(job, 3, {8710, 8710}, 9000);  // may be the last kernel's own
  device_kernel(job, 0, 9100, 9200, "update");
  all_reduce(job, 4, {9300, 9300}, 9400);
  const MpiWaits found = mpi_waits(job.model);
  ASSERT_EQ(found.waits.size(), 1u);
  EXPECT_EQ(found.waits[0].length(), 1700 * kMicrosecond);
  EXPECT_EQ(found.waits[0].beside_ns, 1200 * kMicrosecond);
  EXPECT_EQ(found.ranks[0].rank, 1);
  EXPECT_EQ(found.ranks[0].beyond_waits_ns, (300 + 390 + 200) * kMicrosecond);
  EXPECT_EQ(found.ranks[0].cost_ns, (1700 + 300 + 390 + 200) * kMicrosecond);
  EXPECT_EQ(found.ranks[1].waited_ns, 1700 * kMicrosecond);
}

TEST(NcclWaits, HiddenAndShortOnesDoNotCount) {
  Job job(2);
  all_reduce(job, 1, {1000, 5000}, 5100);
  device_kernel(job, 0, 500, 5050);
  all_reduce(job, 2, {6000, 6025}, 6100);
  const MpiWaits found = mpi_waits(job.model);
  EXPECT_EQ(found.collectives.size(), 2u);
  EXPECT_TRUE(found.waits.empty());
}

TEST(NcclWaits, CausesOnTheDevice) {
  const auto cause = [](const char* what, TimeNs copies_end, TimeNs kernels_begin, TimeNs kernels_end) {
    Job job(2);
    all_reduce(job, 1, {0, 0}, 100);
    all_reduce(job, 2, {1000, 5000}, 5100);
    device_kernel(job, 0, 500, 1000);
    device_kernel(job, 1, kernels_begin, kernels_end);
    if (copies_end > 100) {
      store::CopyRow copy{};
      copy.start = 100 * kMicrosecond;
      copy.end = copies_end * kMicrosecond;
      copy.process = process(1);
      job.model.copies.push_back(copy);
    }
    const MpiWaits found = mpi_waits(job.model);
    EXPECT_EQ(found.ranks[0].cost_ns, 4000 * kMicrosecond) << what;
    EXPECT_EQ(found.why.longer_ns, 4000 * kMicrosecond) << what;
    TraceModel of = digest(job.model, 1000);
    EXPECT_EQ(mpi_waits(of).why.cause, found.why.cause) << what;
    EXPECT_EQ(mpi_waits(of).why.longer_ns, found.why.longer_ns) << what;
    std::erase_if(of.digest_sums, [](const auto& sum) { return sum.of >= store::SumOf::work; });
    EXPECT_EQ(mpi_waits(of).why.cause, RankCause::unknown) << "a digest of an earlier wic-prof";
    return found.why.cause;
  };
  EXPECT_EQ(cause("longer kernels", 0, 500, 5000), RankCause::kernels);
  EXPECT_EQ(cause("longer copies", 4000, 4500, 5000), RankCause::copies);
  EXPECT_EQ(cause("nothing to do, and the host is not known", 0, 4500, 5000), RankCause::host);
}

/// PyTorch's way: a thread for gradients calls NCCL, and the first one waits for the device. In us, rank 1 is late by
/// 4,000, in which its first thread has a CPU for `cpu`.
RankCause cause_in_first_thread(TimeNs cpu) {
  Job job(2);
  all_reduce(job, 1, {0, 0}, 100);
  all_reduce(job, 2, {1000, 5000}, 5100);
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    device_kernel(job, rank, rank == 0 ? 500 : 4500, rank == 0 ? 1000 : 5000);
    store::MpiGapRow gap;
    gap.thread = 900;
    gap.gaps = 1;
    gap.end = gap.outside = 5000 * kMicrosecond;
    gap.run_delay = 0;
    gap.process = process(rank);
    job.model.mpi_gaps.push_back(gap);
    store::HostWaitRow wait{};
    wait.call = "cudaStreamSynchronize";
    wait.thread = process(rank);
    wait.begin = (rank == 0 ? 500 : 4500) * kMicrosecond;
    wait.end = 5100 * kMicrosecond;
    wait.cpu = wait.end - wait.begin;
    wait.process = process(rank);
    job.model.host_waits.push_back(wait);
    store::ThreadSampleRow sample;
    sample.thread = process(rank);
    sample.end = 5100 * kMicrosecond;
    sample.cpu = *wait.cpu + (rank == 0 ? 0 : cpu * kMicrosecond);
    sample.run_delay = 0;
    sample.process = process(rank);
    job.model.thread_samples.push_back(sample);
    sample.begin = -1'000'000 * kMicrosecond;  // before the first kernel of NCCL
    sample.end = 0;
    sample.cpu = (rank == 0 ? 900'000 : 100'000) * kMicrosecond;
    job.model.thread_samples.push_back(sample);
  }
  const RankCause cause = mpi_waits(job.model).why.cause;
  EXPECT_EQ(mpi_waits(digest(job.model, 1000)).why.cause, cause);
  return cause;
}

TEST(NcclWaits, CausesInTheFirstThread) {
  EXPECT_EQ(cause_in_first_thread(0), RankCause::slept);
  EXPECT_EQ(cause_in_first_thread(4000), RankCause::computed);
}

TEST(NcclWaits, OfADigestCostAtMostThatUnlessTheRankDidMore) {
  Job job(2);
  for (TimeNs step = 0; step < 20; ++step) {
    const TimeNs at = step * 1000;
    all_reduce(job, static_cast<std::uint32_t>(step + 1), {at + 100, at + 600}, at + 650);
  }
  const std::vector<Finding> whole = job.findings(20'000);
  ASSERT_EQ(whole.size(), 1u);
  EXPECT_EQ(whole[0].severity, Severity::warning);
  job.model.name = "t.wicprof";  // which the digest names
  TraceModel of = digest(job.model, 1000);
  const auto found = [&] {
    std::vector<Finding> all = analyze(of).findings;
    std::erase_if(all, [](const Finding& finding) { return finding.rule != "late_rank"; });
    return all.at(0);
  };
  EXPECT_EQ(found().text, whole[0].text);
  std::erase_if(of.digest_sums, [](const auto& sum) { return sum.of >= store::SumOf::work; });
  EXPECT_EQ(found().severity, Severity::info);
  EXPECT_NE(found().text.find(", at most: the digests do not have"), std::string::npos) << found().text;
}

}  // namespace
}  // namespace wicprof::analyzer
