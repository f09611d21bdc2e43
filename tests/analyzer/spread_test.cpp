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

struct Files {
  std::vector<std::string_view> names;

  /// The largest ratio of a row, or its cube where few pairs were measured.
  double largest(const std::string& row) const {
    double ratio = 0;
    int pairs = 0;
    for (const std::string_view name : names) {
      const Row found = results(name).at(row);
      ratio = std::max(ratio, found.value);
      pairs += found.pairs;
    }
    return std::pow(ratio, pairs < calibration::kManyPairs ? 3 : 1);
  }
};

void expect_origin(const calibration::Spread& spread, const std::string& name, const Files& files) {
  EXPECT_NEAR(spread.iterations / files.largest(name + "_iterations"), 1, 0.01) << name;
  EXPECT_NEAR(spread.waits / files.largest(name + "_waits"), 1, 0.01) << name;
  EXPECT_NEAR(spread.latencies / files.largest(name + "_latencies"), 1, 0.01) << name;
  EXPECT_NEAR(spread.iterations / results(spread.origin).at(name + "_iterations").value, 1, 0.01)
      << "the file that the text names";
}

TEST(Spread, IsTheLargestRatioOfTheResultFiles) {
  const Files cpu{{"calibration.vm2.json", "calibration_busy.vm2.json"}};
  expect_origin(calibration::kCpuRuns, "spread_runs", cpu);
  expect_origin(calibration::kCpuPhases, "spread_phases", cpu);
  const Files phases{{"calibration_gpu.h100x2.json", "calibration_gpu.h200x2.json"}};
  Files runs = phases;
  runs.names.push_back("calibration_shipped.h200.json");
  expect_origin(calibration::kGpuRuns, "spread_runs", runs);
  expect_origin(calibration::kGpuPhases, "spread_phases", phases);
}

}  // namespace
}  // namespace wicprof::analyzer
