#include "import/trace/cpu_times.h"

#include <gtest/gtest.h>

namespace wicprof::imports {
namespace {

TEST(ImportCpuTimes, AnswersBetweenTheFirstAndTheLastSwitch) {
  CpuTimes times;
  times.on_cpu(0, 1, 100);
  times.off_cpu(0, 1, 200);
  times.on_cpu(0, 1, 300);
  times.off_cpu(0, 1, 400);
  times.settle();
  EXPECT_EQ(times.within(0, 1, 150, 350), 100);
  EXPECT_EQ(times.within(0, 1, 200, 300), 0);
  EXPECT_EQ(times.within(0, 1, 100, 400), 200);
  EXPECT_FALSE(times.within(0, 1, 50, 150));
  EXPECT_FALSE(times.within(0, 1, 350, 450));
  EXPECT_FALSE(times.within(0, 2, 150, 350));
}

TEST(ImportCpuTimes, TakesNoTimeTwice) {
  CpuTimes times;
  for (int i = 0; i < 2; ++i) {
    times.on_cpu(0, 1, 0);
    times.off_cpu(0, 1, 100);
  }
  times.off_cpu(0, 1, 500);
  times.settle();
  EXPECT_EQ(times.within(0, 1, 0, 500), 100);
}

TEST(ImportCpuTimes, SlicesHoldAllTime) {
  CpuTimes times;
  times.on_cpu(3, 7, 50 * kMillisecond);
  times.off_cpu(3, 7, 250 * kMillisecond);
  times.on_cpu(3, 7, 260 * kMillisecond);
  times.off_cpu(3, 7, 270 * kMillisecond);
  times.settle();
  std::vector<TimeNs> cpu;
  std::uint64_t switches = 0;
  times.each_slice([&](const CpuTimes::Slice& slice) {
    cpu.push_back(slice.cpu / kMillisecond);
    switches += slice.switches;
  });
  EXPECT_EQ(cpu, (std::vector<TimeNs>{50, 100, 60}));
  EXPECT_EQ(switches, 2u);
}

}  // namespace
}  // namespace wicprof::imports
