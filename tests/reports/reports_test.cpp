#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/words/format.h"
#include "reports/json/answers.h"
#include "reports/parts/columns.h"
#include "reports/parts/verdict.h"
#include "reports/render.h"
#include "reports/text/answers.h"
#include "tests/analyzer/devices.h"
#include "tests/analyzer/program.h"
#include "tests/analyzer/sampled_program.h"
#include "tests/analyzer/synthetic.h"

namespace wicprof::reports {
namespace {

using namespace synthetic;
using Json = nlohmann::json;

const char kHostileStart[] = "<script>alert";
const char kHostile[] = "<script>alert(\"1\")</script>|`x`\n\x1b[31m";

TraceModel rich_program() {
  TraceModel model = phased_program({.phases = 4, .iterations = 30, .period = [](Mode mode, std::size_t i) {
                                       return TimeNs(mode == Mode::poll ? 3'000'000 : 100'000) + TimeNs(i % 7) * 1'000;
                                     }});
  store::KernelRow kernel{};
  kernel.name = "void stream<float>(float*)";
  kernel.start = model.begin;
  kernel.end = model.end;
  model.kernels.push_back(kernel);
  store::HostWaitRow wait{};
  wait.call = "cudaStreamSynchronize";
  wait.begin = model.begin;
  wait.end = model.end;
  wait.cpu = 1000;
  model.host_waits.push_back(wait);
  for (auto& row : model.waits) row.word = 7;
  store::ChoiceRow choice{};
  choice.site = 1;
  choice.strategy = StrategyId::shared_watch;
  choice.at = model.begin;
  choice.reason = "8 wait at once on one word";
  choice.waits = 64;
  choice.waiters_per_word = 8;
  model.choices.push_back(choice);
  settle(model);
  return model;
}

std::set<std::string> keys(const Json& object) {
  std::set<std::string> names;
  for (const auto& item : object.items()) names.insert(item.key());
  return names;
}

void expect_keys(const Json& object, std::initializer_list<std::string> wanted) {
  const auto names = keys(object);
  for (const std::string& name : wanted) EXPECT_TRUE(names.count(name)) << name << " is missing";
}

std::string rendered(const TraceModel& model, std::string_view format) {
  const Analysis analysis = analyze(model);
  const Comparison comparison = compare(model);
  return render({model, analysis, &comparison}, format);
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto width = std::count_if(line.begin(), line.end(),
                                     [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; });
    widest = std::max(widest, static_cast<std::size_t>(width));
  }
  return widest;
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

TEST(Reports, TextFitsTheScreen) {
  TraceModel model = rich_program();
  model.sites[0].name = std::string(300, 'x');
  model.meta["command"] = std::string(500, 'y');
  model.kernels[0].name = std::string(400, 'z');
  model.stats.push_back(lost(7));
  const Analysis analysis = analyze(model);
  for (const std::size_t width : {80u, 100u, 120u}) {
    const Screen screen{.width = width};
    EXPECT_LE(widest_line(summary_text(model, analysis, screen)), width);
    EXPECT_LE(widest_line(analysis_text(model, analysis, {.screen = screen})), width);
    EXPECT_LE(widest_line(analysis_text(model, analysis, {.screen = screen, .verbose = true})), width);
  }
  std::size_t lines = 0;
  for (const char c : summary_text(model, analysis)) lines += c == '\n' ? 1 : 0;
  EXPECT_LE(lines, 45u);
}

TEST(Reports, TheAnalysisBeginsWithTheVerdictAndTheWorstFindings) {
  TraceModel model = rich_program();
  for (int i = 0; i < 5; ++i) {
    store::NoticeRow notice{};
    notice.text = "toggle " + std::to_string(i) + " failed";
    notice.severity = NoticeSeverity::error;
    model.notices.push_back(notice);
  }
  settle(model);
  const Analysis analysis = analyze(model);
  ASSERT_GT(analysis.findings.size(), 4u);
  const std::string text = analysis_text(model, analysis);
  EXPECT_TRUE(text.starts_with("Verdict: ")) << text;
  std::size_t at = 0, remedies = 0;
  while ((at = text.find("\n    do      ", at + 1)) != std::string::npos) ++remedies;
  EXPECT_EQ(remedies, 3u) << text;
  EXPECT_LT(text.find("Findings: the worst 3 of"), text.find("Also found"));
  EXPECT_LT(text.find("Also found"), text.find("Where the time goes"));
  EXPECT_NE(text.find("wic-prof analyze --verbose"), std::string::npos) << text;
  // Every finding is named, and the whole text has all of them whole.
  const std::string whole = analysis_text(model, analysis, {.screen = {.width = 1000}, .verbose = true});
  for (const Finding& finding : analysis.findings) {
    EXPECT_NE(whole.find(one_line(finding.text)), std::string::npos) << finding.text;
    EXPECT_NE(whole.find(one_line(finding.remedy)), std::string::npos) << finding.remedy;
  }
}

TEST(Reports, ColoursAreOnlyForScreensThatHaveThem) {
  const TraceModel model = rich_program();
  const Analysis analysis = analyze(model);
  const Comparison comparison = compare(model);
  EXPECT_EQ(analysis_text(model, analysis).find('\x1b'), std::string::npos);
  EXPECT_EQ(comparison_text(comparison).find('\x1b'), std::string::npos);
  const Screen screen{.width = 80, .colour = true};
  EXPECT_TRUE(analysis_text(model, analysis, {.screen = screen}).starts_with("Verdict:\x1b[1;3"));
  EXPECT_TRUE(comparison_text(comparison, screen).starts_with("Verdict: \x1b[1;3"));
}

TEST(Verdict, SaysWhatWasMeasuredBeforeWhatRulesSay) {
  const TraceModel model = rich_program();
  const Analysis analysis = analyze(model);
  const Comparison comparison = compare(model);
  const TraceVerdict measured = trace_verdict(model, analysis, &comparison);
  EXPECT_EQ(measured.tone, Tone::good);
  EXPECT_NE(measured.headline.find("29.1 times shorter"), std::string::npos) << measured.headline;
  const TraceVerdict from_rules = trace_verdict(model, analysis);
  EXPECT_NE(from_rules.headline, measured.headline);
  EXPECT_FALSE(from_rules.headline.empty());
  TraceModel empty = empty_program();
  empty.sites.clear();
  settle(empty);
  EXPECT_EQ(trace_verdict(empty, analyze(empty)).tone, Tone::open);
}

TEST(Columns, EachHasAMeaning) {
  for (const Column& each : kColumns) {
    EXPECT_FALSE(each.head.empty());
    EXPECT_GT(each.meaning.size(), 10u) << each.head;
  }
}

TEST(Reports, SummaryHasTheMainFacts) {
  const TraceModel model = rich_program();
  const std::string text = summary_text(model, analyze(model));
  for (const char* word : {"flag", "960", "p50", "p99", "polls", "strategy", "shared_watch", "stream<float>",
                           "cudaStreamSynchronize", "poll -> park (auto)", "200 us"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
  }
}

TEST(Reports, EveryReportSaysWhatAutoChoseAndWhy) {
  const TraceModel model = rich_program();
  std::string analysis = analysis_text(model, analyze(model), {.screen = {.width = 120}, .verbose = true});
  for (const std::string& text : {rendered(model, "html"), rendered(model, "md"), analysis}) {
    EXPECT_NE(text.find("8 wait at once on one word"), std::string::npos) << text;
    EXPECT_NE(text.find("up to 8 at once on one"), std::string::npos) << text;
  }
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
  model.name = model.sites[0].name = model.kernels[0].name = model.host_waits[0].call = kHostile;
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
  for (const Format& format : formats()) EXPECT_EQ(rendered(model, format.name).find('\x1b'), std::string::npos);
  EXPECT_EQ(comparison_text(compare(model)).find('\x1b'), std::string::npos);
  EXPECT_EQ(summary_text(model, analyze(model)).find('\x1b'), std::string::npos);
  EXPECT_EQ(Json::parse(rendered(model, "json"))["analysis"]["sites"][0]["site"], kHostile);
}

TEST(Reports, ATinyShareOpensNoTag) {
  TraceModel model = rich_program();
  for (const auto& [function, samples] : {std::pair("hot", 100'000), {"cold", 10}}) {
    store::PcTotalRow row{};
    row.device = 0;
    row.function = row.symbol = function;
    row.reason = "selected";
    row.samples = static_cast<std::uint64_t>(samples);
    model.pc_totals.push_back(row);
  }
  settle(model);
  for (const std::string_view format : {"html", "md"}) {
    const std::string report = rendered(model, format);
    EXPECT_NE(report.find("cold"), std::string::npos);
    EXPECT_NE(report.find("&lt;0.1 %"), std::string::npos);
    EXPECT_EQ(report.find("<0.1 %"), std::string::npos);
  }
}

TEST(Reports, HtmlTilesHaveTheColourOfTheirModeInATraceWithoutAName) {
  const TraceModel model = rich_program();
  const Analysis analysis = analyze(model);
  Comparison comparison = compare(model);
  for (Segment& segment : comparison.segments) segment.trace.clear();
  ASSERT_EQ(comparison.segments.front().mode, Mode::poll);
  comparison.before.label = "park";
  comparison.after.label = "poll";
  const std::string html = render({model, analysis, &comparison}, "html");
  EXPECT_NE(html.find("<div class=\"tile park\"><span class=\"faint\">before: park"), std::string::npos);
  EXPECT_NE(html.find("<div class=\"tile poll\"><span class=\"faint\">after: poll"), std::string::npos);
}

TEST(Reports, HtmlLoadsNothing) {
  const std::string html = rendered(rich_program(), "html");
  for (const char* word : {"http://", "https://", "src=", "@import", "url(", "<link", "fetch(", "XMLHttpRequest"}) {
    EXPECT_EQ(html.find(word), std::string::npos) << word;
  }
  for (const char* word : {"<!DOCTYPE html>", "prefers-color-scheme", "@media print", "<svg", "Before and after",
                           "Wait sites", "Timeline", "Findings", "Communication", "Kernels", "</html>"}) {
    EXPECT_NE(html.find(word), std::string::npos) << word;
  }
}

/// Checks that every opened tag is closed, in order. The content of scripts is skipped.
void expect_balanced(std::string html) {
  for (std::size_t at = 0; (at = html.find("<script", at)) != std::string::npos; ++at) {
    const std::size_t begin = html.find('>', at) + 1;
    html.erase(begin, html.find("</script>", begin) - begin);
  }
  static const std::set<std::string> kVoid = {"meta", "br", "!DOCTYPE"};
  std::vector<std::string> open;
  for (std::size_t i = html.find('<'); i != std::string::npos; i = html.find('<', i + 1)) {
    const std::size_t end = html.find('>', i);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = html.substr(i + 1, end - i - 1);
    const std::string name = tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" />", 1) - (tag[0] == '/' ? 1 : 0));
    if (tag.back() == '/' || kVoid.count(name)) continue;
    if (tag[0] != '/') {
      open.push_back(name);
      continue;
    }
    ASSERT_FALSE(open.empty()) << tag;
    ASSERT_EQ("/" + open.back(), tag);
    open.pop_back();
  }
  EXPECT_TRUE(open.empty());
}

TEST(Reports, HtmlIsWellFormed) {
  expect_balanced(rendered(rich_program(), "html"));
  TraceModel empty = empty_program();
  settle(empty);
  expect_balanced(rendered(empty, "html"));
}

TEST(Reports, HtmlStaysSmallForALargeTrace) {
  TraceModel model = empty_program();
  for (SiteId id = 2; id < 250; ++id) {
    declare_site(model, id, "site number " + std::to_string(id) + std::string(100, '<'), WordMemory::device);
    add_handoff(model, {.site = id, .waiters = 1, .iterations = 3});
  }
  TimeNs start = 1'000'000'000;
  for (std::uint32_t phase = 0; phase < 60; ++phase) {
    store::InterventionRow row{};
    row.old_mode = phase % 2 == 0 ? Mode::poll : Mode::park;
    row.new_mode = phase % 2 == 0 ? Mode::park : Mode::poll;
    row.requested = start;
    row.effective = start + 1000;
    model.interventions.push_back(row);
    start = add_handoff(model, {.waiters = 132,
                                .sms = 132,
                                .iterations = 40,
                                .first_iteration = phase * 40,
                                .start = start,
                                .period = [](std::size_t i) { return TimeNs(700'000 + i * 9'973 % 300'000); }});
  }
  for (int i = 0; i < 1000; ++i) {
    store::KernelRow kernel{};
    kernel.name = "kernel " + std::to_string(i) + std::string(3000, 'k');
    kernel.start = 1'000'000'000 + i * 1000;
    kernel.end = kernel.start + 900;
    model.kernels.push_back(kernel);
  }
  settle(model);
  EXPECT_LT(rendered(model, "html").size(), 1'000'000u);
}

/// A hostile kernel of 1.25 waves, and one of two waves right behind it.
TraceModel pair_program() {
  test_program::Program program;
  program.model.devices = {test_devices::h100()};
  for (int i = 0; i < 20; ++i) {
    const TimeNs at = 1'000'000 + i * 400'000;
    for (const bool second : {false, true}) {
      store::KernelRow& kernel = program.kernel(
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
  EXPECT_EQ(names, (std::vector<std::string_view>{"html", "md", "json", "csv", "perfetto"}));
  EXPECT_THROW(rendered(rich_program(), "pdf"), std::invalid_argument);
}

}  // namespace
}  // namespace wicprof::reports
