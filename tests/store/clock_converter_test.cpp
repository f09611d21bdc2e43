// Device time to host time, against clocks whose true relation is known.
#include "store/write/clock_converter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace wicprof::store {
namespace {

// A device clock with an offset, another rate, and a rate that changes slowly (as of crystals that warm up).
struct TrueClock {
  std::uint64_t device_origin = 1'700'000'000'000'000'000;
  TimeNs host_origin = 5'000'000'000;
  double drift = 0;   // relative
  double wander = 0;  // relative, its largest value
  double period = 60e9;

  // Host time elapsed for a device time elapsed: the integral of 1 + drift + wander * cos.
  TimeNs host(std::uint64_t device_ns) const {
    const double t = static_cast<double>(static_cast<std::int64_t>(device_ns - device_origin));
    const double swing = wander * period / (2 * M_PI) * std::sin(2 * M_PI * t / period);
    return host_origin + static_cast<std::int64_t>(device_ns - device_origin) + std::llround(drift * t + swing);
  }
};

TEST(ClockConverter, ReturnsEveryReadingExactly) {
  ClockConverter converter;
  EXPECT_FALSE(converter.ready());
  ASSERT_TRUE(converter.add({1000, 501'000, 10}));
  ASSERT_TRUE(converter.add({2'001'000, 2'501'100, 20}));
  EXPECT_TRUE(converter.ready());
  EXPECT_EQ(converter.convert(1000).ns, 501'000);
  EXPECT_EQ(converter.convert(1000).error_ns, 10);
  EXPECT_EQ(converter.convert(2'001'000).ns, 2'501'100);
  EXPECT_EQ(converter.convert(2'001'000).error_ns, 20);
}

TEST(ClockConverter, InterpolatesBetweenTwoReadings) {
  ClockConverter converter;
  ASSERT_TRUE(converter.add({0, 100, 5}));
  ASSERT_TRUE(converter.add({1'000'000, 1'000'200, 5}));
  EXPECT_EQ(converter.convert(500'000).ns, 500'150);
}

TEST(ClockConverter, OneReadingExtrapolatesWithAGrowingBound) {
  ClockConverter converter;
  ASSERT_TRUE(converter.add({1'000'000, 9'000'000, 100}));
  EXPECT_EQ(converter.convert(2'000'000).ns, 10'000'000);
  EXPECT_EQ(converter.convert(2'000'000).error_ns, 100 + 200);  // 200 ppm of a millisecond
  EXPECT_EQ(converter.convert(0).ns, 8'000'000);
  EXPECT_EQ(converter.convert(0).error_ns, 100 + 200);
}

TEST(ClockConverter, RefusesReadingsThatRunBackwards) {
  ClockConverter converter;
  ASSERT_TRUE(converter.add({1000, 1100, 5}));
  EXPECT_FALSE(converter.add({1000, 1200, 5}));
  EXPECT_FALSE(converter.add({900, 1300, 5}));
  EXPECT_FALSE(converter.add({1100, 1100, 5}));
  EXPECT_TRUE(converter.add({1200, 1310, 5}));
}

TEST(ClockConverter, RefusesReadingsBeyondAnyClock) {
  ClockConverter converter;
  EXPECT_FALSE(converter.add({1'000, std::numeric_limits<TimeNs>::min() + 17, 5}));
  EXPECT_FALSE(converter.add({1'000, 2'000, std::numeric_limits<TimeNs>::max()}));
  EXPECT_FALSE(converter.ready());
}

TEST(ClockConverter, AnIdentityReadingMeansTheHostClock) {
  ClockConverter converter;
  ASSERT_TRUE(converter.add({777, 777, 0}));
  EXPECT_EQ(converter.convert(3'600'000'000'000).ns, 3'600'000'000'000);
  EXPECT_EQ(converter.convert(3'600'000'000'000).error_ns, 0);
}

TEST(ClockConverter, AnExactReadingWithAnOffsetIsNoIdentity) {
  ClockConverter converter;
  ASSERT_TRUE(converter.add({777, 778, 0}));
  EXPECT_EQ(converter.convert(1777).ns, 1778);
}

TEST(ClockConverter, AClockThatWasSetWidensTheBound) {
  ClockConverter converter;
  ASSERT_TRUE(converter.add({0, 0, 10}));
  ASSERT_TRUE(converter.add({1'000'000'000, 1'500'000'000, 10}));  // half a second too much
  EXPECT_GT(converter.convert(500'000'000).error_ns, 400'000'000);
}

TEST(ClockConverter, DistantTimesNeitherOverflowNorDecrease) {
  ClockConverter converter;
  ASSERT_TRUE(converter.add({1'700'000'000'000'000'000, 5'000'000'000, 10}));
  ASSERT_TRUE(converter.add({1'700'000'001'000'000'000, 6'000'000'100, 10}));
  EXPECT_LT(converter.convert(0).ns, converter.convert(1'700'000'000'000'000'000).ns);
  EXPECT_GT(converter.convert(UINT64_MAX / 4 * 3).error_ns, 1'000'000);
}

// For many clocks, readings at irregular times with errors of random sign: the true host time is within the bound,
// conversion is monotone, and the bound grows with the distance from the last reading.
TEST(ClockConverter, TheTrueTimeIsWithinTheBound) {
  std::mt19937_64 random(20240229);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::uint64_t checked = 0;
  for (int round = 0; round < 300; ++round) {
    TrueClock clock;
    clock.drift = 150e-6 * unit(random);
    clock.wander = 1e-6 * unit(random);
    ClockConverter converter;
    std::uint64_t device = clock.device_origin;
    const auto read_clock = [&] {
      const auto error = static_cast<TimeNs>(200 + 1800 * std::abs(unit(random)));
      const auto off = static_cast<TimeNs>(static_cast<double>(error) * unit(random));
      // Readings too near each other may contradict each other's order; the converter then refuses them.
      converter.add({device, clock.host(device) + off, error});
    };
    read_clock();
    for (int i = 0; i < 40; ++i) {
      // Times before, between and after the readings so far, as while recording.
      TimeNs last = INT64_MIN;
      const std::uint64_t from = device - 50'000'000;
      for (int step = 0; step < 50; ++step) {
        const std::uint64_t at = from + static_cast<std::uint64_t>(step) * 8'000'000;
        const HostTime host = converter.convert(at);
        ASSERT_LE(std::abs(host.ns - clock.host(at)), host.error_ns + 1) << "round " << round << " step " << step;
        ASSERT_GE(host.ns, last);
        last = host.ns;
        ++checked;
      }
      ASSERT_GE(converter.convert(device + 10'000'000'000).error_ns,
                converter.convert(device + 1'000'000'000).error_ns);
      device += static_cast<std::uint64_t>(100'000 + 200'000'000 * std::abs(unit(random)));
      read_clock();
    }
    // The bound must not be trivially wide: after 40 readings it is close to their own error.
    EXPECT_LT(converter.convert(device + 10'000'000).error_ns, 10'000);
  }
  EXPECT_EQ(checked, 300u * 40 * 50);
}

}  // namespace
}  // namespace wicprof::store
