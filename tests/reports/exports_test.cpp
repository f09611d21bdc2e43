// Exports for other programs: Perfetto's events and comma-separated values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "analyzer/analysis.h"
#include "reports/csv/field.h"
#include "reports/render.h"
#include "tests/analyzer/synthetic.h"

namespace wicprof::reports {
namespace {

using Json = nlohmann::json;
std::string perfetto(const TraceModel& model) { return render({model, Analysis{}}, "perfetto"); }

using TrackKey = std::pair<std::uint64_t, std::uint64_t>;

TraceModel program() {
  TraceModel model = synthetic::phased_program({2, 8, [](Mode, std::size_t) { return TimeNs{1'000'000}; }});
  settle(model);
  return model;
}

std::vector<Json> events(const TraceModel& model, const std::string& phase) {
  const Json document = Json::parse(perfetto(model));
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

/// A program whose rows would overlap on one track: a copy beside a kernel in a stream, a wait that outlasts its call,
/// overlapping ranges, simultaneous signals, a call before the first wait, a wait without length.
TraceModel tangled_program() {
  TraceModel model = program();
  const TimeNs at = model.begin;
  const auto call = [&](const char* name, TimeNs begin, TimeNs end) {
    store::CallRow row{};
    row.name = name;
    row.thread = 5;
    row.start = at + begin;
    row.end = at + end;
    model.calls.push_back(row);
  };
  call("cuInit", -5'000, -1'000);
  call("cudaStreamSynchronize", 0, 900);
  store::HostWaitRow wait{};
  wait.call = "cudaStreamSynchronize";
  wait.thread = 5;
  wait.begin = at + 100;
  wait.end = at + 1'000;
  model.host_waits.push_back(wait);
  for (const auto& [begin, end] : {std::pair<TimeNs, TimeNs>{-6'000, 5'000}, {10, 4'000}, {3'000, 6'000}}) {
    store::NvtxRow range{};
    range.name = "step";
    range.thread = 5;
    range.start = at + begin;
    range.end = at + end;
    model.nvtx.push_back(range);
  }
  store::KernelRow kernel{};
  kernel.name = "work";
  kernel.start = at;
  kernel.end = at + 1'000;
  model.kernels.push_back(kernel);
  store::CopyRow copy{};
  copy.start = at + 500;
  copy.end = at + 1'500;
  model.copies.push_back(copy);
  for (int i = 0; i < 3; ++i) {
    store::SignalRow signal = model.signals.front();
    signal.device = 0;
    model.signals.push_back(signal);
  }
  store::WaitRow none = model.waits.back();
  none.arrived = none.resumed = model.end;
  model.waits.push_back(none);
  settle(model);
  return model;
}

struct SliceOnTrack {
  std::int64_t begin, end;
  std::string category;
};

std::map<TrackKey, std::vector<SliceOnTrack>> tracks_of(const std::vector<Json>& slices) {
  std::map<TrackKey, std::vector<SliceOnTrack>> tracks;
  for (const Json& slice : slices)
    tracks[track_of(slice)].push_back({ns(slice["ts"]), ns(slice["ts"]) + ns(slice["dur"]), slice["cat"]});
  return tracks;
}

TEST(Perfetto, SlicesOfATrackAreDisjointOrNested) {
  for (const TraceModel& model : {program(), tangled_program()}) {
    for (auto& [track, list] : tracks_of(events(model, "X"))) {
      std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
      });
      std::vector<std::int64_t> open;
      for (const SliceOnTrack& slice : list) {
        while (!open.empty() && open.back() <= slice.begin) open.pop_back();
        if (!open.empty()) {
          EXPECT_LE(slice.end, open.back()) << slice.category << " on " << track.first << "/" << track.second;
          EXPECT_TRUE(slice.category == "call" || slice.category == "host_wait" || slice.category == "nvtx")
              << slice.category;
        }
        open.push_back(slice.end);
      }
    }
  }
}

TEST(Perfetto, TimesAreNotNegativeAndTrackNumbersFit32Bits) {
  const Json document = Json::parse(perfetto(tangled_program()));
  for (const Json& event : document["traceEvents"]) {
    if (event["ph"] != "M") {
      EXPECT_GE(ns(event["ts"]), 0) << event;
    }
    if (!event.contains("tid")) continue;
    EXPECT_GT(event["tid"].get<std::uint64_t>(), 0u) << event;
    EXPECT_LT(event["tid"].get<std::uint64_t>(), 1ull << 32) << event;
  }
  EXPECT_EQ(document["displayTimeUnit"], "ns");
}

/// Perfetto binds an arrow's end to the innermost slice that is open on the track at that time.
TEST(Perfetto, EveryArrowGoesFromItsSignalToItsWait) {
  for (const TraceModel& model : {program(), tangled_program()}) {
    const auto slices = tracks_of(events(model, "X"));
    const auto slice_at = [&](const Json& end) {
      const SliceOnTrack* inner = nullptr;
      for (const SliceOnTrack& slice : slices.at(track_of(end))) {
        const std::int64_t at = ns(end["ts"]);
        if (at >= slice.begin && at < slice.end && (inner == nullptr || slice.begin >= inner->begin)) inner = &slice;
      }
      return inner == nullptr ? SliceOnTrack{0, 0, "nothing"} : *inner;
    };
    const TimeNs zero = std::min(model.begin, model.calls.empty() ? model.begin : model.calls.front().start - 1'000);
    const auto starts = events(model, "s"), ends = events(model, "f");
    const auto edges = match(model).edges;
    ASSERT_EQ(starts.size(), edges.size());
    ASSERT_EQ(ends.size(), edges.size());
    ASSERT_FALSE(starts.empty());
    for (std::size_t i = 0; i < edges.size(); ++i) {
      EXPECT_EQ(starts[i]["id"], ends[i]["id"]);
      EXPECT_EQ(ends[i]["bp"], "e");
      const SliceOnTrack from = slice_at(starts[i]), to = slice_at(ends[i]);
      EXPECT_EQ(from.category, "signal");
      EXPECT_EQ(from.begin, model.signals[edges[i].signal].at - zero);
      if (edges[i].host) continue;
      EXPECT_EQ(to.category, "wait");
      EXPECT_EQ(to.begin, model.waits[edges[i].wait].arrived - zero);
    }
  }
}

/// Perfetto reads events in order of time, and events of equal time in the file's order.
TEST(Perfetto, SlicesComeBeforeTheirArrows) {
  const Json document = Json::parse(perfetto(tangled_program()));
  bool arrows = false;
  for (const Json& event : document["traceEvents"]) {
    arrows = arrows || event["ph"] == "s";
    EXPECT_FALSE(arrows && event["ph"] == "X");
  }
  EXPECT_TRUE(arrows);
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
  EXPECT_NO_THROW(Json::parse(perfetto(model)));
  EXPECT_EQ(events(model, "M").size(), events(program(), "M").size());
}

TEST(Perfetto, AnEmptyTraceIsAnEmptyDocument) {
  TraceModel model = synthetic::empty_program();
  settle(model);
  EXPECT_TRUE(events(model, "X").empty());
}

/// More rows than fit into a document.
TraceModel long_program() {
  TraceModel model = synthetic::phased_program({4, 1'200, [](Mode, std::size_t) { return TimeNs{1'000'000}; }});
  store::KernelRow kernel{};
  kernel.name = "persistent";
  kernel.start = model.begin;
  kernel.end = model.end;
  model.kernels.push_back(kernel);
  settle(model);
  return model;
}

TEST(Perfetto, ASmallTraceIsWhole) {
  const Json document = Json::parse(perfetto(program()));
  EXPECT_FALSE(document.contains("otherData"));
  for (const Json& event : document["traceEvents"]) EXPECT_NE(event.value("cat", ""), "left_out");
}

TEST(Perfetto, ALargeTraceFitsTheBoundAndSaysWhatItLacks) {
  const TraceModel model = long_program();
  const std::string text = perfetto(model);
  EXPECT_LE(text.size(), 10'000'000u);
  EXPECT_GT(text.size(), 7'000'000u) << "much less than fits";
  const Json document = Json::parse(text);
  std::vector<std::pair<std::int64_t, std::int64_t>> gaps;
  std::map<std::string, std::size_t> kept;
  std::size_t left_out = 0;
  for (const Json& event : document["traceEvents"]) {
    if (event["ph"] != "X") continue;
    if (event["cat"] == "left_out") {
      gaps.emplace_back(ns(event["ts"]), ns(event["ts"]) + ns(event["dur"]));
      left_out += event["args"]["rows"].get<std::size_t>();
    } else {
      ++kept[event["cat"]];
    }
  }
  ASSERT_FALSE(gaps.empty());
  EXPECT_EQ(kept["wait"] + kept["signal"] + left_out, model.waits.size() + model.signals.size());
  EXPECT_EQ(kept["kernel"], 1u) << "as long as the run";
  EXPECT_NE(document["otherData"]["left_out"].get<std::string>().find("left out"), std::string::npos);
  const auto in_a_gap = [&](std::int64_t at) {
    return std::any_of(gaps.begin(), gaps.end(), [&](const auto& gap) { return at >= gap.first && at < gap.second; });
  };
  for (const Json& event : document["traceEvents"]) {
    if (event["ph"] != "X" || event["cat"] == "left_out" || event["cat"] == "kernel") continue;
    EXPECT_FALSE(in_a_gap(ns(event["ts"]))) << event;
  }
  for (const store::InterventionRow& row : model.interventions)
    EXPECT_FALSE(in_a_gap(row.effective - model.begin)) << "a change of mode is in no gap";
  // Whole stretches: each kept wait has its arrow.
  EXPECT_GT(events(model, "s").size(), kept["wait"] * 9 / 10);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Csv, OneLinePerSiteWithAFieldPerName) {
  const TraceModel model = program();
  const Analysis analysis = analyze(model);
  const std::vector<std::string> lines = lines_of(render({model, analysis}, "csv"));
  ASSERT_EQ(lines.size(), analysis.sites.size() + 1);
  EXPECT_TRUE(lines[0].starts_with("site,strategy,waits,"));
  for (const std::string& line : lines) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), std::count(lines[0].begin(), lines[0].end(), ','));
    EXPECT_EQ(line.back(), '\r');
  }
  EXPECT_TRUE(lines[1].starts_with(analysis.sites[0].name + ","));
}

TEST(Csv, ASpreadsheetEvaluatesNoName) {
  TraceModel model = program();
  for (const std::string formula : {"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "\n@x"}) {
    model.sites[0].name = formula;
    const std::string line = lines_of(render({model, analyze(model)}, "csv"))[1];
    EXPECT_TRUE(line.find("'") <= 2) << line;
    EXPECT_EQ(csv_text(formula).find_first_not_of(" '"), csv_text(formula).find_first_of("=+-@")) << formula;
  }
  EXPECT_EQ(csv_text("a=b"), "a=b");
  EXPECT_EQ(csv_text("-x,y"), "\"'-x,y\"");
}

TEST(Perfetto, LongNamesAreShortened) {
  TraceModel model = program();
  model.sites[0].name = std::string(100'000, 'n');
  const std::string text = render({model, analyze(model)}, "perfetto");
  EXPECT_EQ(text.find(std::string(600, 'n')), std::string::npos);
  EXPECT_NE(text.find(std::string(200, 'n')), std::string::npos);
}

TEST(Csv, FieldsAreQuotedWhereNecessary) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"so\""), "\"say \"\"so\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

}  // namespace
}  // namespace wicprof::reports
