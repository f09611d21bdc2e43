#include "analyzer/words/change.h"

#include <gtest/gtest.h>

#include <limits>

namespace wicprof::analyzer {
namespace {

TEST(Change, SmallChangesArePercentagesWithASign) {
  EXPECT_EQ(change_text(0.939), "-6 %");
  EXPECT_EQ(change_text(1.12), "+12 %");
  EXPECT_EQ(change_text(0.6), "-40 %");
  EXPECT_EQ(change_text(1.99), "+99 %");
  EXPECT_EQ(change_text(0.501), "-50 %");
}

TEST(Change, ChangesNearTheToleranceHaveADecimal) {
  EXPECT_EQ(change_text(0.986), "-1.4 %");
  EXPECT_EQ(change_text(1.019), "+1.9 %");
  EXPECT_EQ(change_text(1.02), "+2 %");
  EXPECT_EQ(change_text(1.0), "0 %");
  EXPECT_EQ(change_text(1.0004), "0 %");
  EXPECT_EQ(change_text(0.9996), "0 %");
}

TEST(Change, LargeChangesAreFactors) {
  EXPECT_EQ(change_text(0.00823), "122 times shorter");
  EXPECT_EQ(change_text(1 / 121.0), "121 times shorter");
  EXPECT_EQ(change_text(4.93), "4.93 times longer");
  EXPECT_EQ(change_text(2), "2 times longer");
  EXPECT_EQ(change_text(0.5), "2 times shorter");
  EXPECT_EQ(change_text(1 / 1360.0), "1,360 times shorter");
  EXPECT_EQ(change_text(12'345), "12.3 k times longer");
  EXPECT_EQ(change_text(1e300), "1000000 T times longer");
}

TEST(Change, NamesTheQuantity) {
  EXPECT_EQ(change_text(0.1, kCountWords), "10 times fewer");
  EXPECT_EQ(change_text(30, kAmountWords), "30 times more");
}

TEST(Change, IsUnknownForWhatIsNoRatio) {
  for (const double ratio :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(change_text(ratio), "unknown");
    EXPECT_EQ(comparative_text(ratio), "unknown");
    EXPECT_EQ(change_interval_text({ratio, ratio, ratio}), "unknown");
  }
}

TEST(ChangeInterval, BothEndsInOneUnit) {
  EXPECT_EQ(change_interval_text({0.94, 0.86, 1.02}), "-14 % to +2 %");
  EXPECT_EQ(change_interval_text({0.86, 0.8, 0.9}), "-20 % to -10 %");
  EXPECT_EQ(change_interval_text(change_of_speedup(116, 115, 118)), "115 to 118 times shorter");
  EXPECT_EQ(change_interval_text({3, 2.5, 4}), "2.5 to 4 times longer");
}

TEST(ChangeInterval, BothEndsAreToldAsTheValueIs) {
  EXPECT_EQ(change_interval_text(change_of_speedup(1.67, 0.203, 13.7)), "13.7 times shorter to 4.93 times longer");
  EXPECT_EQ(change_interval_text({0.6, 0.4, 0.9}), "-60 % to -10 %");
  EXPECT_EQ(change_interval_text({0.52, 0.48, 0.56}), "-52 % to -44 %");
  EXPECT_EQ(change_interval_text({0.47, 0.43, 0.51}), "1.96 to 2.33 times shorter");
  EXPECT_EQ(change_interval_text({0.4, 0.3, 1.1}), "3.33 times shorter to 1.1 times longer");
}

TEST(ChangeInterval, TheEndsOfANarrowIntervalDiffer) {
  EXPECT_EQ(change_interval_text({0.939, 0.937, 0.941}), "-6.3 % to -5.9 %");
  EXPECT_EQ(change_interval_text({0.9391, 0.9390, 0.9393}), "-6.1 % to -6.07 %");
}

TEST(ChangeInterval, AFarEndIsNoBound) {
  EXPECT_EQ(change_interval_text(change_of_speedup(1.67, 0.98, 1.36e6)), "+2 % to shorter, no upper bound");
  EXPECT_EQ(change_interval_text(change_of_speedup(1.67, 1e-7, 3)), "3 times shorter to longer, no upper bound");
  EXPECT_EQ(change_interval_text(change_of_speedup(1.67, 0, 1e9)), "no bound, neither shorter nor longer");
  // A large change with a narrow interval has bounds.
  EXPECT_EQ(change_interval_text(change_of_speedup(5000, 4800, 5200)), "4,800 to 5,200 times shorter");
}

TEST(Comparative, SaysShorterOrLonger) {
  EXPECT_EQ(comparative_text(0.939), "6 % shorter");
  EXPECT_EQ(comparative_text(1.014), "1.4 % longer");
  EXPECT_EQ(comparative_text(1 / 121.0), "121 times shorter");
  EXPECT_EQ(comparative_interval_text(0.7, 0.98), "2 % to 30 % shorter");
  EXPECT_EQ(comparative_interval_text(1.02, 1.3), "2 % to 30 % longer");
  EXPECT_EQ(comparative_interval_text(0.9, 1.05), "10 % shorter to 5 % longer");
  EXPECT_EQ(comparative_interval_text(0.7, 1), "equally long to 30 % shorter");
  EXPECT_EQ(comparative_interval_text(0.1, 0.7), "30 % shorter to 10 times shorter");
  EXPECT_EQ(comparative_interval_text(0.05, 0.4), "2.5 to 20 times shorter");
  EXPECT_EQ(comparative_interval_text(1, 1), "equally long");
  EXPECT_EQ(comparative_text(1.0001), "equally long");
  EXPECT_EQ(comparative_text(0.8, kCountWords, "as many"), "20 % fewer");
}

}  // namespace
}  // namespace wicprof::analyzer
