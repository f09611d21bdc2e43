#include "import/trace/times.h"

#include <gtest/gtest.h>

#include <limits>

namespace wicprof::imports {
namespace {

TEST(ImportTimes, KeepsNanosecondsThatADoubleLoses) {
  EXPECT_EQ(nanoseconds_of("1712195495519689.123"), 1712195495519689123);
  EXPECT_EQ(nanoseconds_of("0.001"), 1);
  EXPECT_EQ(nanoseconds_of("12.3"), 12300);
  EXPECT_EQ(nanoseconds_of("12.34567"), 12345);
  EXPECT_EQ(nanoseconds_of("-1.5"), -1500);
  EXPECT_EQ(nanoseconds_of("7"), 7000);
}

TEST(ImportTimes, RefusesWhatIsNoTime) {
  for (const char* text : {"", "-", "1e3", "1.2.3", "x", "99999999999999999999"}) EXPECT_FALSE(nanoseconds_of(text));
}

TEST(ImportTimes, ShiftsOnlyWhereThereIsRoom) {
  EXPECT_EQ(shifted(5, 10), 15);
  EXPECT_FALSE(shifted(5, -10));
  EXPECT_FALSE(shifted(std::numeric_limits<TimeNs>::max(), 1));
}

}  // namespace
}  // namespace wicprof::imports
