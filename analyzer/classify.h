// The program's communication model: who signals whom, and how often in an iteration.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/matching.h"
#include "analyzer/trace_model.h"

namespace wicprof::analyzer {

enum class Model { unidirectional, alternating, multiple, probabilistic, unknown };
enum class Pattern { streaming, adjacent, scatter_gather, random, unknown };
std::string_view model_name(Model model);
std::string_view pattern_name(Pattern pattern);

struct Classification {
  Model model = Model::unknown;
  Pattern pattern = Pattern::unknown;
  double model_confidence = 0;  ///< 0 to 1; 0 for unknown
  double pattern_confidence = 0;
  std::vector<std::string> evidence;  ///< in words and numbers; for unknown, the reason
};

Classification classify(const TraceModel& model, const Matching& matching);

}  // namespace wicprof::analyzer
