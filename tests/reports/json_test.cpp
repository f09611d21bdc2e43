// The fields of analyses and comparisons in JSON.
#include <gtest/gtest.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "analyzer/analysis.h"
#include "reports/json/answers.h"
#include "tests/analyzer/program.h"
#include "tests/analyzer/sampled_program.h"
#include "tests/analyzer/synthetic.h"
#include "tests/reports/rich_program.h"

namespace wicprof::reports {
namespace {

using Json = nlohmann::json;

std::set<std::string> keys(const Json& object) {
  std::set<std::string> names;
  for (const auto& item : object.items()) names.insert(item.key());
  return names;
}

void expect_keys(const Json& object, std::initializer_list<std::string> wanted) {
  const auto names = keys(object);
  for (const std::string& name : wanted) EXPECT_TRUE(names.count(name)) << name << " is missing";
}

TEST(AnalysisJson, HasTheDocumentedFields) {
  TraceModel model = rich_program();
  model.stats.push_back(lost(12));
  const Json json = Json::parse(analysis_json(model, analyze(model)));
  expect_keys(json, {"classification", "sites", "findings", "loss"});
  expect_keys(json["classification"], {"model", "pattern", "model_confidence", "pattern_confidence", "evidence"});
  EXPECT_TRUE(json["classification"]["evidence"].is_array());
  ASSERT_EQ(json["sites"].size(), 1u);
  expect_keys(json["sites"][0],
              {"site", "count", "total_ns", "p50_ns", "p99_ns", "polls", "strategy", "predicted_gain"});
  EXPECT_EQ(json["sites"][0]["site"], "flag");
  EXPECT_EQ(json["sites"][0]["count"], 8 * 4 * 30);
  EXPECT_EQ(json["sites"][0]["strategy"], "poll");
  expect_keys(json["sites"][0]["predicted_gain"], {"value", "low", "high"});
  EXPECT_EQ(json["sites"][0]["words"], 1);
  EXPECT_EQ(json["sites"][0]["waiters_a_word"], 8);
  EXPECT_EQ(json["sites"][0]["strategy_chosen"], "shared_watch");
  EXPECT_EQ(json["sites"][0]["strategy_reason"], "8 wait at once on one word");
  ASSERT_EQ(json["choices"].size(), 1u);
  EXPECT_EQ(json["choices"][0]["waiters_a_word"], 8);
  EXPECT_TRUE(json["choices"][0]["median_wait_ns"].is_null());
  ASSERT_FALSE(json["findings"].empty());
  for (const Json& finding : json["findings"])
    expect_keys(finding, {"rule", "site", "severity", "text", "evidence", "remedy"});
  ASSERT_EQ(json["loss"].size(), 1u);
  EXPECT_EQ(json["loss"][0]["count"], 12);
}

TEST(ComparisonJson, HasTheDocumentedFields) {
  const Json json = Json::parse(comparison_json(compare(rich_program())));
  expect_keys(json, {"segments", "speedup", "verdict"});
  ASSERT_EQ(json["segments"].size(), 4u);
  for (const Json& segment : json["segments"])
    expect_keys(segment, {"mode", "begin_ns", "end_ns", "iterations", "iteration_ns_p50"});
  EXPECT_EQ(json["segments"][0]["mode"], "poll");
  EXPECT_EQ(json["segments"][1]["mode"], "park");
  expect_keys(json["speedup"], {"value", "low", "high"});
  EXPECT_NEAR(json["speedup"]["value"].get<double>(), 29.2, 0.2);
  EXPECT_EQ(json["verdict"], "improvement");
}

TEST(ComparisonJson, GivesTheReasonForNoAnswer) {
  TraceModel model = empty_program();
  settle(model);
  const Json json = Json::parse(comparison_json(compare(model)));
  EXPECT_TRUE(json["speedup"].is_null());
  EXPECT_EQ(json["verdict"], "inconclusive");
  EXPECT_FALSE(json["reason"].get<std::string>().empty());
  EXPECT_TRUE(json["segments"].empty());
}

TEST(Json, SurvivesTextThatIsNotUtf8) {
  TraceModel model = empty_program();
  model.sites[0].name = "broken \xff\xfe";
  model.meta["command"] = "app \xc3";
  add_handoff(model, {});
  settle(model);
  EXPECT_NO_THROW(Json::parse(analysis_json(model, analyze(model))));
  EXPECT_NO_THROW(Json::parse(rendered(model, "json")));
}

TEST(AnalysisJson, HasStallsAndPollingLoops) {
  const TraceModel model = polling_program();
  const Json json = Json::parse(analysis_json(model, analyze(model)));
  ASSERT_EQ(json["stalls"].size(), 2u);
  expect_keys(json["stalls"][0], {"device", "function", "symbol", "module", "samples", "share", "reasons", "lines"});
  EXPECT_EQ(json["stalls"][0]["reasons"][0]["reason"], "barrier");
  ASSERT_EQ(json["polling_loops"].size(), 1u);
  const Json& loop = json["polling_loops"][0];
  expect_keys(loop,
              {"device",     "function",       "symbol",         "module",       "kind",       "from_instructions",
               "confidence", "file",           "line",           "begin_offset", "end_offset", "samples",
               "share",      "function_share", "behind_samples", "behind_share", "sleeps",     "deadline",
               "copies",     "reasons",        "evidence",       "beside",       "sass"});
  EXPECT_EQ(loop["kind"], "poll");
  EXPECT_EQ(loop["copies"], 1);
  EXPECT_EQ(loop["file"], "/home/user/poll.cu");
  EXPECT_EQ(loop["line"], 7);
  EXPECT_EQ(loop["sass"].size(), 4u);
  EXPECT_EQ(json["pc_sampling"]["devices"][0]["samples"], 4'000);
}

}  // namespace
}  // namespace wicprof::reports
