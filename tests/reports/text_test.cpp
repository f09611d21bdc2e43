// Answers as text: on a screen, in colours, with the verdict first.
#include <gtest/gtest.h>

#include <string>

#include "analyzer/analysis.h"
#include "reports/parts/columns.h"
#include "reports/parts/phrases.h"
#include "reports/parts/verdict.h"
#include "reports/text/answers.h"
#include "tests/analyzer/program.h"
#include "tests/analyzer/synthetic.h"
#include "tests/reports/rich_program.h"

namespace wicprof::reports {
namespace {

TEST(Reports, TextFitsTheScreen) {
  TraceModel model = rich_program();
  model.sites[0].name = std::string(300, 'x');
  model.meta["command"] = std::string(500, 'y');
  model.kernels.edit(0)->name = std::string(400, 'z');
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

TEST(Reports, ComparisonsSayWhatPollingTakesAtEachSite) {
  Comparison comparison;
  comparison.differences.meters.push_back({{}, "GPU 0", 3, 3, 182, 132});
  const std::string without = comparison_text(comparison, {.width = 1'000});
  EXPECT_NE(without.find("traces of `wic-prof run --ab --energy`"), std::string::npos) << without;
  const auto energy = [](Estimate watts) {
    return PollingEnergy{watts, Estimate{watts.value, watts.value, watts.value}};
  };
  comparison.differences.site_energy = {
      {"GPU 0", "halo.ready", energy({50, 45, 55}), energy({}), energy({-50, -55, -45})},
      {"GPU 0", "edge", energy({1, -1, 3}), {}, {}},
      {"GPU 0", "", {}, energy({2, 1, 3}), {}}};
  const std::string text = comparison_text(comparison, {.width = 1'000});
  const auto line = [&](const std::string& with) {
    const std::size_t at = text.find(with);
    return at == std::string::npos ? text : text.substr(at, text.find('\n', at) - at);
  };
  for (const char* part : {"50.0 W (45.0 to 55.0)", "  0.0 W", "-50.0 W (-55.0 to -45.0)", "50 J", "-50 J"})
    EXPECT_NE(line("halo.ready").find(part), std::string::npos) << line("halo.ready");
  EXPECT_NE(line("edge").find("below resolution (-1.0 to 3.0 W)"), std::string::npos) << line("edge");
  EXPECT_NE(line("other sites").find("2.0 W (1.0 to 3.0)"), std::string::npos) << text;
  EXPECT_EQ(text.find("traces of `wic-prof run --ab --energy`"), std::string::npos);
  for (const std::size_t width : {80u, 120u})
    EXPECT_LE(widest_line(comparison_text(comparison, {.width = width})), width);
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

TEST(Verdict, AnInconclusiveMeasurementIsNoProblemAndHidesNone) {
  const TraceModel model = rich_program();
  Analysis analysis = analyze(model);
  const TraceVerdict from_rules = trace_verdict(model, analysis);
  Comparison comparison = compare(model);
  comparison.verdict = analyzer::Verdict::inconclusive;
  comparison.why = "one phase each";
  comparison.settle = "wic-prof run --ab -- app";
  const TraceVerdict with_findings = trace_verdict(model, analysis, &comparison);
  EXPECT_EQ(with_findings.headline, from_rules.headline);
  EXPECT_EQ(with_findings.tone, from_rules.tone);
  EXPECT_NE(with_findings.detail.find("What park brings against poll is open (one phase each): "), std::string::npos)
      << with_findings.detail;
  EXPECT_EQ(with_findings.command, comparison.settle);
  EXPECT_TRUE(with_findings.settles);
  comparison.unit = analyzer::UnitKind::run;  // of two traces, that is what was asked
  EXPECT_EQ(trace_verdict(model, analysis, &comparison).tone, Tone::open);
  comparison.unit = analyzer::UnitKind::phase;
  analysis.findings.clear();
  EXPECT_EQ(trace_verdict(model, analysis, &comparison).tone, Tone::open);
}

TEST(Phrases, APlaceStandsOnce) {
  EXPECT_EQ(name_at("cudaMemcpy in step", "app.cu:7"), "cudaMemcpy in step (app.cu:7)");
  EXPECT_EQ(name_at("cudaMemcpy in app+0x9dfd", "app+0x9dfd"), "cudaMemcpy in app+0x9dfd");
  EXPECT_EQ(name_at("cudaMemcpy", ""), "cudaMemcpy");
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

}  // namespace
}  // namespace wicprof::reports
