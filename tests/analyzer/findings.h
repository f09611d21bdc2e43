// Shared by the tests of rules: what an analysis found.
#pragma once

#include <algorithm>
#include <string_view>

#include "analyzer/analysis.h"

namespace wicprof::analyzer {

/// The result points into `analysis`.
inline const Finding* find(const Analysis& analysis, std::string_view rule) {
  const auto found = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                                  [&](const Finding& f) { return f.rule == rule; });
  return found == analysis.findings.end() ? nullptr : &*found;
}

inline bool refused(const Analysis& analysis, std::string_view rule) {
  return std::any_of(analysis.refusals.begin(), analysis.refusals.end(),
                     [&](const Refusal& r) { return r.rule == rule && !r.reason.empty(); });
}

}  // namespace wicprof::analyzer
