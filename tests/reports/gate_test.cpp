#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "reports/gate_reports.h"
#include "tests/analyzer/synthetic.h"

namespace wicprof::reports {
namespace {

using namespace synthetic;

TEST(GateReports, EscapeSiteNames) {
  GateConfig config;
  config.every_site.wait_share = 0.1;
  TraceModel model = empty_program();
  model.sites[0].name = "a<b>&\"c\"|d\xff\x01\n";
  add_handoff(model, {});
  settle(model);
  const GateSide side{"it", {figures_of(model, analyze(model), {})}};
  const GateResult result = judge_runs(config, {side}, {});
  ASSERT_EQ(result.state, CheckState::failed);
  const GateRun run{"app", "./app 'x'", "2026-01-31T23:59:59Z", 1.5, {"run.1.wicprof"}};
  const std::vector<GateSide> sides{side};
  std::map<std::string_view, std::string> reports;
  for (const GateReport& report : kGateReports) reports[report.file] = report.render({run, config, sides, result});
  EXPECT_TRUE(nlohmann::json::accept(reports["result.json"]));
  const std::string& junit = reports["junit.xml"];
  EXPECT_NE(junit.find("wait_share at a&lt;b>&amp;"), std::string::npos) << junit;
  EXPECT_EQ(junit.find('\xff'), std::string::npos);
  EXPECT_NE(junit.find("failures=\"1\""), std::string::npos) << junit;
  EXPECT_NE(reports["summary.md"].find("\\|d"), std::string::npos) << reports["summary.md"];
}

// XML 1.0 has no way to write these characters, not even in escaped form.
TEST(GateReports, JunitHasOnlyCharactersOfXml) {
  GateConfig config;
  config.every_site.wait_share = 0.1;
  TraceModel model = empty_program();
  model.sites[0].name =
      "a\xef\xbf\xbe"
      "b\xef\xbf\xbf"
      "c\xed\xa0\x80"
      "d\x0b\x1b"
      "e";
  add_handoff(model, {});
  settle(model);
  const GateSide side{"it", {figures_of(model, analyze(model), {})}};
  const GateResult result = judge_runs(config, {side}, {});
  const GateRun run{"app\x01", "./app \xef\xbf\xbf\x01", "2026-01-31T23:59:59Z\x02", 1.5, {"run.1.wicprof"}};
  const std::vector<GateSide> sides{side};
  for (const GateReport& report : kGateReports) {
    if (std::string_view(report.file) != "junit.xml") continue;
    const std::string junit = report.render({run, config, sides, result});
    EXPECT_NE(junit.find("a\xef\xbf\xbd"
                         "b\xef\xbf\xbd"
                         "c"),
              std::string::npos)
        << junit;
    for (const char* refused : {"\xef\xbf\xbe", "\xef\xbf\xbf", "\xed\xa0\x80"})
      EXPECT_EQ(junit.find(refused), std::string::npos);
    for (const char c : junit)
      EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t' || c == '\r');
    for (const char* escaped : {"&#", "&#x"}) EXPECT_EQ(junit.find(escaped), std::string::npos) << junit;
  }
}

}  // namespace
}  // namespace wicprof::reports
