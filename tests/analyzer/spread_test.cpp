// The known spread of equal units against the result files that it comes from.
#include "analyzer/compare/spread.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace wicprof::analyzer {
namespace {

struct Row {
  double value = 0;
  int pairs = 0;
};

std::map<std::string, Row> results(std::string_view file) {
  std::ifstream in(std::string(WICPROF_SOURCE) + "/docs/results/" + std::string(file));
  const auto json = nlohmann::json::parse(in);
  std::map<std::string, Row> rows;
  for (const auto& row : json["rows"]) {
    rows[row["name"]] = {row["value"].get<double>(), row["params"].value("pairs", 0)};
  }
  return rows;
}

/// The constant is the largest ratio, or its cube where few pairs were measured.
void expect_origin(const calibration::Spread& spread, const std::string& name) {
  const auto rows = results(spread.origin);
  const auto expect = [&](double constant, const char* what) {
    const Row& row = rows.at(name + "_" + what);
    const double power = row.pairs < calibration::kManyPairs ? 3 : 1;
    EXPECT_NEAR(constant / std::pow(row.value, power), 1, 0.01) << name << "_" << what;
  };
  expect(spread.iterations, "iterations");
  expect(spread.waits, "waits");
  expect(spread.latencies, "latencies");
}

TEST(Spread, IsTheLargestRatioOfTheResultFiles) {
  expect_origin(calibration::kCpuRuns, "spread_runs");
  expect_origin(calibration::kCpuPhases, "spread_phases");
  expect_origin(calibration::kGpuRuns, "spread_runs");
  // Phases of a GPU were not measured: those of one run differ by no more than runs do.
  expect_origin(calibration::kGpuPhases, "spread_runs");
}

}  // namespace
}  // namespace wicprof::analyzer
