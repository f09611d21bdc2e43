// The ways of waiting that a benchmark compares, as named on its command line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "protocol/result.h"
#include "protocol/strategy.h"

namespace wicprof::bench {

struct Way {
  std::string name;
  StrategyId strategy;
};

/// The comma-separated `names` for which this build has a strategy: a benchmark's default list.
inline std::string known_names(const std::string& names) {
  std::string known;
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    if (strategy_from_name(name)) known += (known.empty() ? "" : ",") + name;
    begin = end + 1;
  }
  return known;
}

/// Errors: an unknown strategy name; an empty list.
inline Result<std::vector<Way>> ways_from(const std::string& names) {
  std::vector<Way> ways;
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    const std::string name = names.substr(begin, end - begin);
    const auto strategy = strategy_from_name(name);
    if (!strategy) return bad_input("unknown strategy '" + name + "'; --strategies takes comma-separated names");
    ways.push_back({name, *strategy});
    begin = end + 1;
  }
  if (ways.empty()) return bad_input("--strategies names no strategy");
  return Result<std::vector<Way>>(std::move(ways));
}

}  // namespace wicprof::bench
