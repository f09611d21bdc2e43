// The known spread of equal units against the result files that it comes from.
#include "analyzer/compare/spread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

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

/// A constant is the largest ratio of `files`, or its cube where few pairs were measured.
void expect_origin(const calibration::Spread& spread, const std::string& name,
                   const std::vector<std::string_view>& files) {
  std::map<std::string, double> largest;
  for (const std::string_view file : files) {
    for (const auto& [row, ratio] : results(file)) {
      const double power = ratio.pairs < calibration::kManyPairs ? 3 : 1;
      largest[row] = std::max(largest[row], std::pow(ratio.value, power));
    }
  }
  EXPECT_NEAR(spread.iterations / largest.at(name + "_iterations"), 1, 0.01) << name;
  EXPECT_NEAR(spread.waits / largest.at(name + "_waits"), 1, 0.01) << name;
  EXPECT_NEAR(spread.latencies / largest.at(name + "_latencies"), 1, 0.01) << name;
  EXPECT_NE(std::find(files.begin(), files.end(), spread.origin), files.end()) << "the file that the text names";
}

TEST(Spread, IsTheLargestRatioOfTheResultFiles) {
  const std::vector<std::string_view> cpu{"calibration.vm2.json", "calibration_busy.vm2.json"};
  expect_origin(calibration::kCpuRuns, "spread_runs", cpu);
  expect_origin(calibration::kCpuPhases, "spread_phases", cpu);
  const std::vector<std::string_view> gpu{"calibration_shipped.h200.json"};
  expect_origin(calibration::kGpuRuns, "spread_runs", gpu);
  // Phases of a GPU were not measured: those of one run differ by no more than runs do.
  expect_origin(calibration::kGpuPhases, "spread_runs", gpu);
}

}  // namespace
}  // namespace wicprof::analyzer
