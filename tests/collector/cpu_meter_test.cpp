#include "collector/waits/cpu_meter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace wicprof::collector {
namespace {

constexpr TimeNs kLong = 20 * kMillisecond;

/// A wait at the place that takes no time, or as long as `during`.
template <class During>
CpuUse wait_at(CpuMeter& meter, std::uint32_t place, During&& during) {
  meter.begin(place);
  const TimeNs begin = now_ns();
  during();
  return meter.end(begin, now_ns());
}

void spin() {
  for (const TimeNs end = now_ns() + kLong; now_ns() < end;) continue;
}
void sleep() { std::this_thread::sleep_for(std::chrono::nanoseconds(kLong)); }

/// A wait that was over before it began, however slow the machine is.
CpuUse short_wait(CpuMeter& meter, std::uint32_t place) {
  meter.begin(place);
  const TimeNs now = now_ns();
  return meter.end(now, now + 100);
}

TEST(CpuMeter, TellsASpinningWaitFromASleepingOne) {
  CpuMeter meter;
  const CpuUse spinning = wait_at(meter, 1, spin), sleeping = wait_at(meter, 1, sleep);
  EXPECT_GT(spinning.cpu, 0);
  EXPECT_LE(spinning.cpu, 100 * kLong);
  EXPECT_GE(sleeping.cpu, 0);
  EXPECT_LT(sleeping.cpu, kLong / 2);
  EXPECT_NE(sleeping.involuntary_switches, HostWaitEvent::kUnknownSwitches);
}

TEST(CpuMeter, CountsTheSleepBeforeItWoke) {
  CpuMeter meter;
  const CpuUse use = wait_at(meter, 1, [&] {
    sleep();
    meter.woke();
    spin();
  });
  EXPECT_GT(use.cpu, 0);
  EXPECT_LE(use.cpu, 100 * kLong);
  EXPECT_NE(use.involuntary_switches, HostWaitEvent::kUnknownSwitches);
}

/// Whether the thread kept its CPU for all of a short time of work: a hypervisor that takes the CPU unseen makes work
/// look like sleep.
bool work_undisturbed() {
  const TimeNs begin = now_ns(), cpu = thread_cpu_ns();
  while (now_ns() < begin + 100 * kMicrosecond) continue;
  const TimeNs used = thread_cpu_ns() - cpu;
  return now_ns() - begin - used < CpuMeter::kAway;
}

TEST(CpuMeter, KnowsWhatTheThreadComputesBetweenTheWaitsInWhichItSleeps) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    CpuMeter meter;
    EXPECT_EQ(wait_at(meter, 1, sleep).computed, -1);  // since when is not known
    const TimeNs begin = thread_cpu_ns();
    spin();
    short_wait(meter, 2);
    bool undisturbed = false;
    const TimeNs in_spinning_wait = wait_at(meter, 3, [&] { undisturbed = work_undisturbed(); }).computed;
    if (!undisturbed) continue;
    EXPECT_EQ(in_spinning_wait, -1);
    spin();
    const TimeNs computed = thread_cpu_ns() - begin;
    const TimeNs found = wait_at(meter, 1, sleep).computed;
    EXPECT_GE(found, computed);
    EXPECT_LT(found, computed + kLong);
    return;
  }
  FAIL() << "the thread never kept its CPU for 100 us";
}

TEST(CpuMeter, ReadsNoClockWhereWaitsAreShort) {
  CpuMeter meter;
  for (int i = 0; i < CpuMeter::kShortInARow; ++i) {
    const CpuUse use = short_wait(meter, 1);
    EXPECT_EQ(use.cpu, 100);  // too short to sleep
    EXPECT_EQ(use.involuntary_switches, 0u);
  }
  const CpuUse unknown = wait_at(meter, 1, sleep);  // taken for a short one
  EXPECT_EQ(unknown.cpu, -1);
  EXPECT_EQ(unknown.involuntary_switches, HostWaitEvent::kUnknownSwitches);
  EXPECT_EQ(unknown.run_delay, -1);
  EXPECT_GE(wait_at(meter, 1, sleep).cpu, 0);  // it was long
  for (int i = 0; i < CpuMeter::kShortInARow; ++i) short_wait(meter, 1);
  EXPECT_GE(wait_at(meter, 2, sleep).cpu, 0);  // another place
}

TEST(CpuMeter, ADelayedShortWaitHasOneFurtherWaitMeasured) {
  CpuMeter meter;
  for (int i = 0; i < CpuMeter::kShortInARow; ++i) short_wait(meter, 1);
  meter.begin(1);
  const TimeNs now = now_ns();
  EXPECT_EQ(meter.end(now, now + CpuMeter::kDelayed / 2).cpu, -1);
  EXPECT_GE(wait_at(meter, 1, sleep).cpu, 0);
  for (int i = 0; i < CpuMeter::kShortInARow; ++i) short_wait(meter, 1);
  meter.begin(1);
  meter.end(now, now + CpuMeter::kDelayed / 2);
  short_wait(meter, 1);
  EXPECT_EQ(wait_at(meter, 1, sleep).cpu, -1);
}

}  // namespace
}  // namespace wicprof::collector
