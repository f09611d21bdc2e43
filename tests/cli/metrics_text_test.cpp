#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/metrics/openmetrics.h"
#include "cli/metrics/otlp.h"

namespace wicprof::cli {
namespace {

TEST(MetricsText, NamesOfThePrograms) {
  MetricFacts facts;
  facts.app = "a \"b\"";
  facts.waits = {{"a\\b\nc\"d", WaitSide::device, StrategyId::poll, {3, 1'500'000'001}}};
  const std::string text = metrics_text(facts);
  EXPECT_NE(text.find(R"(app="a \"b\"")"), std::string::npos) << text;
  EXPECT_NE(text.find("\nwicprof_wait_time_seconds_total{site=\"a\\\\b\\nc\\\"d\",side=\"device\",strategy=\"poll\"} "
                      "1.500000001\n"),
            std::string::npos)
      << text;
}

TEST(MetricsText, WhatIsNotKnownHasNoSample) {
  MetricFacts facts;
  EXPECT_EQ(metrics_text(facts).find("\nwicprof_cpu_throttled_time_seconds_total"), std::string::npos);
  EXPECT_EQ(metrics_text(facts).find("part=\"collector\""), std::string::npos);
  facts.throttled_ns = 0;
  EXPECT_NE(metrics_text(facts).find("\nwicprof_cpu_throttled_time_seconds_total 0.000000000\n"), std::string::npos);
}

TEST(MetricsText, ARecordingThatStopped) {
  MetricFacts facts;
  EXPECT_NE(metrics_text(facts).find("\nwicprof_recording 1\n"), std::string::npos);
  facts.progress.stopped = "the disk is full";
  EXPECT_NE(metrics_text(facts).find("\nwicprof_recording 0\n"), std::string::npos);
}

TEST(OtlpRequest, NamesThatAreNoUtf8) {
  MetricFacts facts;
  facts.app = "a\xff";
  facts.waits = {{"\xc3(", WaitSide::host, StrategyId::poll, {1, 2}}};
  const auto request = nlohmann::json::parse(otlp_request(facts, 1, 2), nullptr, false);
  ASSERT_TRUE(request.is_object());
  EXPECT_EQ(request["resourceMetrics"][0]["resource"]["attributes"][0]["value"]["stringValue"], "a\xef\xbf\xbd");
}

TEST(OtlpRequest, ANumberBeyond53Bits) {
  MetricFacts facts;
  facts.trace_bytes = (std::uint64_t{1} << 53) + 1;
  EXPECT_NE(otlp_request(facts, 1, 2).find(R"("asInt":"9007199254740993")"), std::string::npos);
}

}  // namespace
}  // namespace wicprof::cli
