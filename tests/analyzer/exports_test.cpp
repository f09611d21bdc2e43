// What other programs open: Perfetto's events and comma-separated values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analyzer/analysis.h"
#include "analyzer/reports/csv.h"
#include "analyzer/reports/perfetto.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using Json = nlohmann::json;
using TrackKey = std::pair<std::uint64_t, std::uint64_t>;

TraceModel program() {
  TraceModel model = synthetic::phased_program({2, 8, [](Mode, std::size_t) { return TimeNs{1'000'000}; }});
  settle(model);
  return model;
}

std::vector<Json> events(const TraceModel& model, const std::string& phase) {
  const Json document = Json::parse(report_perfetto(model));
  std::vector<Json> found;
  for (const Json& event : document["traceEvents"]) {
    if (event["ph"] == phase) found.push_back(event);
  }
  return found;
}

TrackKey track_of(const Json& event) { return {event["pid"], event["tid"]}; }
std::int64_t ns(const Json& us) { return std::llround(us.get<double>() * 1000); }

TEST(Perfetto, EveryRowIsASlice) {
  const TraceModel model = program();
  std::map<std::string, std::size_t> by_category;
  for (const Json& slice : events(model, "X")) ++by_category[slice["cat"]];
  EXPECT_EQ(by_category["wait"], model.waits.size());
  EXPECT_EQ(by_category["signal"], model.signals.size());
  EXPECT_EQ(by_category["host_wait"], model.host_waits.size());
  EXPECT_EQ(events(model, "i").size(), model.interventions.size());
}

TEST(Perfetto, TimesAreThoseOfTheTrace) {
  const TraceModel model = program();
  const auto slices = events(model, "X");
  const store::WaitRow& wait = model.waits.front();
  EXPECT_TRUE(std::any_of(slices.begin(), slices.end(), [&](const Json& slice) {
    return slice["cat"] == "wait" && ns(slice["ts"]) == wait.arrived - model.begin &&
           ns(slice["dur"]) == wait.resumed - wait.arrived;
  }));
}

TEST(Perfetto, SlicesOfATrackDoNotOverlap) {
  std::map<TrackKey, std::vector<std::pair<std::int64_t, std::int64_t>>> waits;
  for (const Json& slice : events(program(), "X")) {
    if (slice["cat"] == "wait") waits[track_of(slice)].push_back({ns(slice["ts"]), ns(slice["ts"]) + ns(slice["dur"])});
  }
  EXPECT_GT(waits.size(), 1u);
  for (auto& [track, list] : waits) {
    std::sort(list.begin(), list.end());
    for (std::size_t i = 1; i < list.size(); ++i) EXPECT_LE(list[i - 1].second, list[i].first);
  }
}

TEST(Perfetto, EveryArrowGoesFromASignalToAWait) {
  const TraceModel model = program();
  const auto slices = events(model, "X");
  const auto slice_at = [&](const Json& end) {
    for (const Json& slice : slices) {
      if (track_of(slice) != track_of(end)) continue;
      const std::int64_t begin = ns(slice["ts"]);
      if (ns(end["ts"]) >= begin && ns(end["ts"]) <= begin + ns(slice["dur"])) return slice["cat"].get<std::string>();
    }
    return std::string("nothing");
  };
  const auto starts = events(model, "s");
  const auto ends = events(model, "f");
  EXPECT_EQ(starts.size(), match(model).edges.size());
  ASSERT_EQ(starts.size(), ends.size());
  ASSERT_FALSE(starts.empty());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    EXPECT_EQ(starts[i]["id"], ends[i]["id"]);
    EXPECT_EQ(slice_at(starts[i]), "signal");
    EXPECT_EQ(slice_at(ends[i]), "wait");
  }
}

TEST(Perfetto, TracksAndProcessesHaveNames) {
  const TraceModel model = program();
  std::map<TrackKey, std::string> names;
  for (const Json& event : events(model, "M")) {
    if (event["name"] == "thread_name") names[track_of(event)] = event["args"]["name"];
  }
  for (const Json& slice : events(model, "X")) EXPECT_TRUE(names.contains(track_of(slice))) << slice;
}

TEST(Perfetto, AnyNameMakesValidJson) {
  TraceModel model = program();
  model.sites.front().name = "\"},{\"ph\":\"M\" \xff\x1b\n";
  EXPECT_NO_THROW(Json::parse(report_perfetto(model)));
  EXPECT_EQ(events(model, "M").size(), events(program(), "M").size());
}

TEST(Perfetto, AnEmptyTraceIsAnEmptyDocument) {
  TraceModel model = synthetic::empty_program();
  settle(model);
  EXPECT_TRUE(events(model, "X").empty());
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Csv, ALineASiteAndAsManyFieldsAsNames) {
  const TraceModel model = program();
  const Analysis analysis = analyze(model);
  const std::vector<std::string> lines = lines_of(report_csv({model, analysis}));
  ASSERT_EQ(lines.size(), analysis.sites.size() + 1);
  EXPECT_TRUE(lines[0].starts_with("site,strategy,waits,"));
  for (const std::string& line : lines) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), std::count(lines[0].begin(), lines[0].end(), ','));
    EXPECT_EQ(line.back(), '\r');
  }
  EXPECT_TRUE(lines[1].starts_with(analysis.sites[0].name + ","));
}

TEST(Csv, FieldsAreQuotedWhereTheyHaveToBe) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"so\""), "\"say \"\"so\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

}  // namespace
}  // namespace wicprof::analyzer
