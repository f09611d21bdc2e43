// What the control groups of a process limit, from files that a test has made.
#include "cli/record/cgroup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "cli/record/cpu_quota.h"

namespace wicprof::cli {
namespace {

namespace fs = std::filesystem;

constexpr pid_t kProcess = 7;

class CpuQuotaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("wicprof-quota-" + std::to_string(getpid()));
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const fs::path& folder, const std::string& text, const char* file = "cpu.stat") {
    fs::create_directories(folder);
    std::ofstream(folder / file) << text;
  }
  /// Lines of the process's file cgroup.
  void belongs_to(const std::string& lines) { write(root_ / "proc" / std::to_string(kProcess), lines, "cgroup"); }
  CgroupPlaces places() const { return {root_, root_ / "proc"}; }
  fs::path root_;
};

TEST_F(CpuQuotaTest, ReadsWhatTheKernelCounts) {
  write(root_, "usage_usec 12\nnr_periods 40\nnr_throttled 7\nthrottled_usec 3500\nnr_bursts 0\n");
  const auto counts = read_cpu_stat(root_ / "cpu.stat");
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->periods, 7u);
  EXPECT_EQ(counts->throttled_ns, 3'500'000);
}

TEST_F(CpuQuotaTest, AGroupWithoutTheControllerHasNone) {
  write(root_, "usage_usec 12\nuser_usec 3\n");
  EXPECT_FALSE(read_cpu_stat(root_ / "cpu.stat"));
  EXPECT_FALSE(read_cpu_stat(root_ / "none"));
  EXPECT_FALSE(CpuQuota(kProcess, places()).counts());
}

TEST_F(CpuQuotaTest, AddsUpTheGroupAndThoseAroundIt) {
  belongs_to("0::/kubepods/pod1/main\n");
  for (const char* group : {"", "kubepods", "kubepods/pod1", "kubepods/pod1/main"})
    write(root_ / group, "nr_throttled 1\nthrottled_usec 10\n");
  const auto counts = CpuQuota(kProcess, places()).counts();
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->periods, 4u);
  EXPECT_EQ(counts->throttled_ns, 40'000);
}

TEST_F(CpuQuotaTest, ReadsTheGroupsOfVersion1) {
  belongs_to("4:cpu,cpuacct:/docker/c\n3:memory:/docker/c\n0::/\n");
  write(root_ / "cpu,cpuacct" / "docker" / "c", "nr_periods 9\nnr_throttled 2\nthrottled_time 3500\n");
  EXPECT_EQ(CpuQuota(kProcess, places()).counts()->throttled_ns, 3500);
  write(root_ / "cpu,cpuacct" / "docker" / "c", "150000", "cpu.cfs_quota_us");
  write(root_ / "cpu,cpuacct" / "docker" / "c", "100000", "cpu.cfs_period_us");
  EXPECT_EQ(cgroup_cpu_limit(kProcess, places())->cpus, 1.5);
  EXPECT_EQ(cgroup_cpu_limit(kProcess, places())->period, 100 * kMillisecond);
  write(root_ / "memory" / "docker" / "c", "1000000", "memory.limit_in_bytes");
  write(root_ / "memory" / "docker" / "c", "400000", "memory.usage_in_bytes");
  write(root_ / "memory" / "docker" / "c", "cache 9\ntotal_inactive_file 100000\n", "memory.stat");
  write(root_ / "memory", "9223372036854771712", "memory.limit_in_bytes");
  write(root_ / "memory", "5", "memory.usage_in_bytes");
  EXPECT_EQ(cgroup_memory_left(kProcess, places()), 700'000u);
}

// As in Docker: the container's own group is mounted as the root, and the path is that outside.
TEST_F(CpuQuotaTest, AGroupThatIsNotMountedHereIsTheRoot) {
  belongs_to("3:memory:/docker/c\n0::/\n");
  write(root_ / "memory", "1000", "memory.limit_in_bytes");
  write(root_ / "memory", "1500", "memory.usage_in_bytes");
  EXPECT_EQ(cgroup_memory_left(kProcess, places()), 0u);
}

TEST_F(CpuQuotaTest, TheSmallestLimitOfTheGroupsHolds) {
  belongs_to("0::/a/b\n");
  EXPECT_FALSE(cgroup_memory_left(kProcess, places()));
  EXPECT_FALSE(cgroup_cpu_limit(kProcess, places()));
  write(root_ / "a", "3000", "memory.max");
  write(root_ / "a", "1000", "memory.current");
  write(root_ / "a" / "b", "max", "memory.max");
  write(root_ / "a" / "b", "900", "memory.current");
  EXPECT_EQ(cgroup_memory_left(kProcess, places()), 2000u);
  write(root_ / "a", "100000 20000", "cpu.max");
  write(root_ / "a" / "b", "50000 100000", "cpu.max");
  EXPECT_EQ(cgroup_cpu_limit(kProcess, places())->cpus, 0.5);
}

TEST_F(CpuQuotaTest, GoesOnWithTheGroupToWhichTheProcessMoves) {
  const auto move_to = [&](const std::string& group) { belongs_to("0::/" + group + "\n"); };
  write(root_ / "a", "nr_throttled 1\nthrottled_usec 10\n");
  write(root_ / "b", "nr_throttled 5\nthrottled_usec 1000\n");
  move_to("a");
  CpuQuota quota(kProcess, places());
  EXPECT_EQ(quota.counts()->throttled_ns, 10'000);
  write(root_ / "a", "nr_throttled 3\nthrottled_usec 30\n");
  move_to("b");
  quota.follow();
  write(root_ / "a", "nr_throttled 9\nthrottled_usec 90\n");  // of others
  write(root_ / "b", "nr_throttled 6\nthrottled_usec 1500\n");
  EXPECT_EQ(quota.counts()->throttled_ns, 530'000);
  EXPECT_EQ(quota.counts()->periods, 4u);
  fs::remove_all(root_ / "proc");  // the process has ended
  quota.follow();
  EXPECT_EQ(quota.counts()->throttled_ns, 530'000);
}

}  // namespace
}  // namespace wicprof::cli
