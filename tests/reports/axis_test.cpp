#include <gtest/gtest.h>

#include "reports/html/svg_axis.h"

namespace wicprof::reports {
namespace {

TEST(Axis, StepsAreRoundAndNotTooMany) {
  for (const TimeNs length :
       {TimeNs{1}, TimeNs{7}, TimeNs{999}, TimeNs{123'456}, TimeNs{6'000'000'000}, TimeNs{3'600'000'000'000}}) {
    for (const int most : {1, 4, 9}) {
      const TimeNs step = tick_step(length, most);
      EXPECT_LE(length, step * most);
      TimeNs lead = step;
      while (lead % 10 == 0) lead /= 10;
      EXPECT_TRUE(lead == 1 || lead == 2 || lead == 5) << step;
    }
  }
}

TEST(Axis, LabelsShareTheirUnit) {
  EXPECT_EQ(tick_label(500'000'000, 500'000'000, 4'000'000'000), "0.5 s");
  EXPECT_EQ(tick_label(2'000'000'000, 1'000'000'000, 4'000'000'000), "2 s");
  EXPECT_EQ(tick_label(0, 20'000, 90'000), "0 us");
}

}  // namespace
}  // namespace wicprof::reports
