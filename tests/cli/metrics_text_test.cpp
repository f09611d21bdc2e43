#include <gtest/gtest.h>

#include "cli/metrics/list.h"

namespace wicprof::cli {
namespace {

TEST(MetricsText, NamesOfThePrograms) {
  MetricFacts facts;
  facts.app = "a \"b\"";
  facts.waits = {{"a\\b\nc\"d", WaitSide::device, StrategyId::poll, {3, 1'500'000'001}}};
  const std::string text = metrics_text(facts);
  EXPECT_NE(text.find(R"(app="a \"b\"")"), std::string::npos) << text;
  EXPECT_NE(text.find("\nwicprof_wait_seconds_total{site=\"a\\\\b\\nc\\\"d\",side=\"device\",strategy=\"poll\"} "
                      "1.500000001\n"),
            std::string::npos)
      << text;
}

TEST(MetricsText, WhatIsNotKnownHasNoSample) {
  MetricFacts facts;
  EXPECT_EQ(metrics_text(facts).find("\nwicprof_cpu_throttled_seconds_total"), std::string::npos);
  EXPECT_EQ(metrics_text(facts).find("part=\"collector\""), std::string::npos);
  facts.throttled_ns = 0;
  EXPECT_NE(metrics_text(facts).find("\nwicprof_cpu_throttled_seconds_total 0.000000000\n"), std::string::npos);
}

TEST(MetricsText, ARecordingThatStopped) {
  MetricFacts facts;
  EXPECT_NE(metrics_text(facts).find("\nwicprof_recording 1\n"), std::string::npos);
  facts.progress.stopped = "the disk is full";
  EXPECT_NE(metrics_text(facts).find("\nwicprof_recording 0\n"), std::string::npos);
}

}  // namespace
}  // namespace wicprof::cli
