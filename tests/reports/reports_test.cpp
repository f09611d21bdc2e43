// What reports say in every format.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "reports/json/answers.h"
#include "reports/render.h"
#include "reports/text/answers.h"
#include "tests/analyzer/devices.h"
#include "tests/analyzer/program.h"
#include "tests/analyzer/sampled_program.h"
#include "tests/analyzer/synthetic.h"
#include "tests/reports/rich_program.h"

namespace wicprof::reports {
namespace {

using Json = nlohmann::json;

const char kHostileStart[] = "<script>alert";
const char kHostile[] = "<script>alert(\"1\")</script>|`x`\n\x1b[31m";

TEST(Reports, LossesComeBeforeAnyNumber) {
  TraceModel model = rich_program();
  model.stats.push_back(lost(4321));
  const Analysis analysis = analyze(model);
  for (const std::string& text : {summary_text(model, analysis), analysis_text(model, analysis)}) {
    const std::size_t loss = text.find("4,321");
    ASSERT_NE(loss, std::string::npos);
    EXPECT_LT(loss, text.find("wait site"));
  }
  for (const std::string_view format : {"md", "html"}) {
    const std::string report = rendered(model, format);
    const std::size_t loss = report.find("4,321");
    ASSERT_NE(loss, std::string::npos);
    EXPECT_LT(loss, report.find("Before and after"));
  }
}

TEST(Reports, SayHowGoodACountOfWaitsIsAndNoNumberWhereTheSampleIsTooSmall) {
  TraceModel model = rich_program();
  const auto add = [&](SiteId site, std::uint64_t looked, std::uint64_t sampled, std::uint64_t squares) {
    store::WaitCountRow& row = model.wait_counts.emplace_back();
    row = {};
    row.site = site;
    row.one_in = 256;
    row.waits = static_cast<std::int64_t>(looked + 256 * sampled);
    row.looked = looked;
    row.sampled = static_cast<std::int64_t>(sampled);
    row.sampled_squares = squares;
    row.timed = sampled;
    row.timed_rounds = 3 * sampled;
    row.timed_time = static_cast<TimeNs>(1'000 * sampled);
  };
  // Eight parts of 8, 8, 8, 8, 12, 12, 12, 12 waits: 8 / 7 x (832 - 800) x 256 x 255 is the square of 1,545.
  add(model.sites[0].id, 5, 80, 832);
  add(900, 70, 7, 7);
  const Analysis analysis = analyze(model);
  for (const bool verbose : {false, true}) {
    const std::string text = analysis_text(model, analysis, {.screen = {.width = 120}, .verbose = verbose});
    EXPECT_NE(text.find("about 20.5 k +- 1,545"), std::string::npos) << text;
    EXPECT_NE(text.find("at least 77: too few sampled"), std::string::npos) << text;
    EXPECT_EQ(text.find("1,862"), std::string::npos) << text;  // 70 + 256 x 7
    EXPECT_NE(text.find("256 windows of 1 us"), std::string::npos) << text;
  }
  for (const std::string_view format : {"md", "html"}) {
    const std::string report = rendered(model, format);
    EXPECT_NE(report.find("20.5 k"), std::string::npos);
    EXPECT_NE(report.find("at least 77: too few sampled"), std::string::npos);
    EXPECT_NE(report.find("1 of 256 windows"), std::string::npos);
  }
  const Json counted = Json::parse(analysis_json(model, analysis)).at("counted_waits");
  ASSERT_EQ(counted.size(), 2u);
  EXPECT_EQ(counted[0].at("counted"), 20'485);
  EXPECT_EQ(counted[0].at("estimated_ns"), 20'480'000);
  EXPECT_EQ(counted[1].at("at_least"), 77);
  for (const char* const key : {"counted", "standard_error", "estimated_rounds", "estimated_mean_ns", "estimated_ns"}) {
    EXPECT_TRUE(counted[1].at(key).is_null()) << key;
  }
}

TEST(Reports, SayWhatWaitingHostThreadsTakeOfACpuBeforeAndAfter) {
  // Waits of 0.5 ms that spin while the mode is poll, and take a tenth of a CPU while it is park.
  TraceModel model = rich_program();
  model.sites.push_back(model.sites[0]);
  model.sites.back().id = 2;
  model.sites.back().name = "call|in step";
  model.sites.back().side = SiteSide::host;
  for (const Segment& segment : compare(model).segments) {
    for (TimeNs begin = segment.begin_ns; begin + 500'000 < segment.end_ns; begin += 1'000'000) {
      store::HostWaitRow wait{};
      wait.site = 2;
      wait.call = "cudaStreamSynchronize";
      wait.begin = begin;
      wait.end = begin + 500'000;
      wait.cpu = segment.mode == Mode::poll ? 500'000 : 50'000;
      model.host_waits.push_back(wait);
    }
  }
  settle(model);
  const std::string markdown = rendered(model, "md");
  EXPECT_NE(markdown.find("What a waiting host thread takes of a CPU"), std::string::npos) << markdown;
  EXPECT_NE(markdown.find("| 1.00 | 0.10 |\n"), std::string::npos) << markdown;
  EXPECT_NE(rendered(model, "html").find("What a waiting host thread takes of a CPU"), std::string::npos);
  EXPECT_EQ(rendered(rich_program(), "md").find("takes of a CPU"), std::string::npos);
}

TEST(Reports, EveryReportSaysWhatAutoChoseAndWhy) {
  const TraceModel model = rich_program();
  std::string analysis = analysis_text(model, analyze(model), {.screen = {.width = 120}, .verbose = true});
  for (const std::string& text : {rendered(model, "html"), rendered(model, "md"), analysis}) {
    EXPECT_NE(text.find("8 wait at once on one word"), std::string::npos) << text;
    EXPECT_NE(text.find("up to 8 at once on one"), std::string::npos) << text;
  }
}

TEST(Reports, EveryReportShowsThePollingLoopWithItsInstructions) {
  TraceModel model = polling_program();
  model.meta["sass_missing"] = "one module was not saved";
  const Analysis analysis = analyze(model);
  std::vector<std::string> reports = {analysis_text(model, analysis, {.screen = {.width = 120}, .verbose = true})};
  for (const std::string_view format : {"json", "md", "html"}) {
    reports.push_back(render({model, analysis}, format));
  }
  for (const std::string& report : reports) {
    for (const char* words :
         {"LDG.E.STRONG.SYS R0, desc[UR4][R4.64]", "long_scoreboard", "one module was not saved", "polling_kernel"}) {
      std::string plain = report;
      std::erase(plain, '\\');  // Markdown's escape character
      EXPECT_NE(plain.find(words), std::string::npos) << words << " in\n" << report;
    }
  }
  std::istringstream lines(reports[0]);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
}

TEST(Reports, EveryReportShowsWhichWarpsWaitAtAnMbarrier) {
  TraceModel model = analyzer::synthetic::empty_program();
  model.sites.clear();
  add_samples(model, "gemm", {{0x40, "long_scoreboard", 60}, {0x90, "long_scoreboard", 230}, {0xa0, "gmma", 710}},
              analyzer::listings::kPipeline);
  settle(model);
  const Analysis analysis = analyze(model);
  std::vector<std::string> reports = {analysis_text(model, analysis, {.screen = {.width = 120}, .verbose = true}),
                                      analysis_text(model, analysis)};
  for (const std::string_view format : {"json", "md", "html"}) reports.push_back(render({model, analysis}, format));
  for (const std::string& report : reports) {
    for (const char* word : {"mbarrier", "consumer", "producer"}) {
      EXPECT_NE(report.find(word), std::string::npos) << word << " in\n" << report;
    }
  }
  EXPECT_NE(reports[0].find("23.0 %"), std::string::npos) << reports[0];
}

TEST(Reports, AHostileFunctionNameIsEscaped) {
  TraceModel model = polling_program();
  for (auto& row : model.pc_totals) row.function = row.reason = kHostile;
  for (auto& row : model.sass) row.file = row.text += kHostile;
  const Analysis analysis = analyze(model);
  const std::string html = render({model, analysis}, "html");
  EXPECT_EQ(html.find(kHostileStart), std::string::npos);
  for (const std::string& report : {html, analysis_text(model, analysis), render({model, analysis}, "md")}) {
    EXPECT_EQ(report.find('\x1b'), std::string::npos);
  }
}

TEST(Reports, AHostileSiteNameIsEscapedEverywhere) {
  TraceModel model = rich_program();
  model.name = model.sites[0].name = model.kernels.edit(0)->name = model.host_waits.edit(0)->call = kHostile;
  model.choices[0].reason = kHostile;
  model.meta["app"] = model.meta["command"] = model.meta["host"] = kHostile;
  model.stats.push_back({kHostile, kHostile, store::StatRow::Severity::data_loss, 1});
  for (store::DeviceRow& device : model.devices) device.name = kHostile;
  settle(model);
  const std::string html = rendered(model, "html");
  EXPECT_EQ(html.find(kHostileStart), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;"), std::string::npos);
  EXPECT_NE(html.find("\\u003cscript>alert"), std::string::npos) << "in the timeline's data";
  EXPECT_EQ(rendered(model, "md").find("<script"), std::string::npos);
  for (const Format& format : formats()) {
    if (format.is_binary) continue;
    EXPECT_EQ(rendered(model, format.name).find('\x1b'), std::string::npos) << format.name;
  }
  EXPECT_EQ(comparison_text(compare(model)).find('\x1b'), std::string::npos);
  EXPECT_EQ(summary_text(model, analyze(model)).find('\x1b'), std::string::npos);
  EXPECT_EQ(Json::parse(rendered(model, "json"))["analysis"]["sites"][0]["site"], kHostile);
}

/// A hostile kernel of 1.25 waves, and one of two waves right behind it.
TraceModel pair_program() {
  test_program::Program program;
  program.model.devices = {test_devices::h100()};
  for (int i = 0; i < 20; ++i) {
    const TimeNs at = 1'000'000 + i * 400'000;
    for (const bool second : {false, true}) {
      auto kernel = program.kernel(
          second ? "down" : kHostile, 7,
          second ? test_program::Span{at + 201'500, at + 301'500} : test_program::Span{at, at + 200'000});
      kernel.grid[0] = second ? 264 : 165;
      kernel.block[0] = 1'024;
      kernel.registers_per_thread = 64;
    }
  }
  return program.settled();
}

TEST(Reports, ShowTheWavesOfKernelsThatCouldStartEarlier) {
  const TraceModel model = pair_program();
  const Analysis analysis = analyze(model);
  for (const std::size_t width : {60u, 80u, 120u}) {
    const std::string text = analysis_text(model, analysis, {.screen = {.width = width}, .verbose = true});
    EXPECT_NE(text.find("AAAAAaaaaa"), std::string::npos) << text;
    EXPECT_NE(text.find(".BBBBB"), std::string::npos) << text;
    EXPECT_LE(widest_line(text), width);
  }
  const std::string html = rendered(model, "html");
  EXPECT_NE(html.find("<section id=\"dependent-kernels\">"), std::string::npos);
  EXPECT_NE(html.find("1.25, last 25.0 %"), std::string::npos);
  EXPECT_EQ(html.find(kHostileStart), std::string::npos);
  const std::string markdown = rendered(model, "md");
  EXPECT_NE(markdown.find("## Kernels that could start earlier"), std::string::npos);
  EXPECT_EQ(markdown.find(kHostileStart), std::string::npos);
  const Json pairs = Json::parse(analysis_json(model, analysis))["dependent_kernels"]["pairs"];
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0]["launches"], 20);
  EXPECT_EQ(pairs[0]["tiles_ns"]["low"], 0);
  EXPECT_EQ(pairs[0]["tiles_ns"]["value"], 20 * 51'500);
  EXPECT_TRUE(pairs[0]["unknown"].is_null());
}

TEST(Reports, AnEmptyTraceIsReportedAsEmpty) {
  TraceModel model = empty_program();
  model.sites.clear();
  settle(model);
  const Analysis analysis = analyze(model);
  EXPECT_NE(summary_text(model, analysis).find("no wait sites"), std::string::npos);
  EXPECT_NE(analysis_text(model, analysis, {.verbose = true}).find("Not looked at"), std::string::npos);
  EXPECT_EQ(analysis_text(model, analysis).find("Not looked at"), std::string::npos);
  for (const Format& format : formats()) EXPECT_FALSE(rendered(model, format.name).empty());
}

TEST(Reports, OneWaitIsEnoughForAReport) {
  TraceModel model = empty_program();
  add_handoff(model, {.waiters = 1, .iterations = 1});
  settle(model);
  for (const Format& format : formats()) EXPECT_NE(rendered(model, format.name).find("flag"), std::string::npos);
}

TEST(Reports, FormatsHaveTheirNames) {
  std::vector<std::string_view> names;
  for (const Format& format : formats()) names.push_back(format.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"html", "md", "json", "csv", "perfetto", "pftrace"}));
  EXPECT_THROW(rendered(rich_program(), "pdf"), std::invalid_argument);
}

}  // namespace
}  // namespace wicprof::reports
