// The page: whole, small, and without anything that it would have to load.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/analysis.h"
#include "reports/render.h"
#include "tests/analyzer/program.h"
#include "tests/analyzer/synthetic.h"
#include "tests/reports/rich_program.h"

namespace wicprof::reports {
namespace {

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
  EXPECT_LT(rendered(model, "html").size(), 1'200'000u);
}

}  // namespace
}  // namespace wicprof::reports
