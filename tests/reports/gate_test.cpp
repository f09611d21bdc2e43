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
  const GateRun run{"./app 'x'", "2026-01-31T23:59:59Z", 1.5, {"run.1.wicprof"}};
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

}  // namespace
}  // namespace wicprof::reports
