#include "cli/record/cpu_quota.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace wicprof::cli {
namespace {

namespace fs = std::filesystem;

class CpuQuotaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("wicprof-quota-" + std::to_string(getpid()));
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const fs::path& folder, const std::string& text) {
    fs::create_directories(folder);
    std::ofstream(folder / "cpu.stat") << text;
  }
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
  EXPECT_FALSE(CpuQuota(getpid(), root_ / "nowhere").counts());
}

TEST_F(CpuQuotaTest, AddsUpTheGroupAndThoseAroundIt) {
  // The path of this process's group, as the kernel names it, below a root of the test.
  std::ifstream file("/proc/self/cgroup");
  std::string line, group = "/";
  while (std::getline(file, line)) {
    if (line.starts_with("0::") && line.find("..") == std::string::npos) group = line.substr(3);
  }
  std::uint64_t groups = 0;
  fs::path folder = root_;
  write(folder, "nr_throttled 1\nthrottled_usec 10\n");
  ++groups;
  for (const fs::path& part : fs::path(group).relative_path()) {
    folder /= part;
    write(folder, "nr_throttled 1\nthrottled_usec 10\n");
    ++groups;
  }
  const auto counts = CpuQuota(getpid(), root_).counts();
  ASSERT_TRUE(counts);
  EXPECT_EQ(counts->periods, groups);
  EXPECT_EQ(counts->throttled_ns, static_cast<TimeNs>(groups) * 10'000);
}

TEST_F(CpuQuotaTest, GoesOnWithTheGroupToWhichTheProcessMoves) {
  const fs::path process = root_ / "proc" / "7";
  fs::create_directories(process);
  const auto move_to = [&](const std::string& group) { std::ofstream(process / "cgroup") << "0::/" + group + "\n"; };
  write(root_ / "a", "nr_throttled 1\nthrottled_usec 10\n");
  write(root_ / "b", "nr_throttled 5\nthrottled_usec 1000\n");
  move_to("a");
  CpuQuota quota(7, root_, root_ / "proc");
  EXPECT_EQ(quota.counts()->throttled_ns, 10'000);
  write(root_ / "a", "nr_throttled 3\nthrottled_usec 30\n");
  move_to("b");
  quota.follow();
  write(root_ / "a", "nr_throttled 9\nthrottled_usec 90\n");  // of others
  write(root_ / "b", "nr_throttled 6\nthrottled_usec 1500\n");
  EXPECT_EQ(quota.counts()->throttled_ns, 530'000);
  EXPECT_EQ(quota.counts()->periods, 4u);
  fs::remove_all(process);  // the process has ended
  quota.follow();
  EXPECT_EQ(quota.counts()->throttled_ns, 530'000);
}

}  // namespace
}  // namespace wicprof::cli
