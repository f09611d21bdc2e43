// What repeats in the messages between two sides, and which communication model that is.
//
// The models are those of the WIC paper (USENIX ATC 2025), by the transfers of one communication iteration:
//   unidirectional  (D0->D1)^N                       one side always produces, in whatever amounts
//   alternating     (D0->D1, D1->D0)^N               one transfer each way
//   multiple        ((D0->D1)^n0, (D1->D0)^n1)^N     the same counts every iteration, more than one of them
//   probabilistic   ((D0->D1)^(e n0), (D1->D0)^(e' n1))^N     direction and count vary
//
// An iteration is what the program numbers as one, where its numbers follow the messages in time; where they do not,
// the shortest stretch of messages that repeats with the same counts each way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/trace/completeness.h"
#include "protocol/time.h"

namespace wicprof::analyzer {

enum class Model { unidirectional, alternating, multiple, probabilistic, unknown };
enum class Pattern { streaming, adjacent, scatter_gather, random, unknown };
std::string_view model_name(Model model);
std::string_view pattern_name(Pattern pattern);

/// One message, in order of time.
struct Step {
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  bool back = false;
  std::uint32_t iteration = 0;
  TimeNs at = 0;
  TimeNs received = 0;                                 ///< 0 = not known
  std::uint32_t sender = kNobody, receiver = kNobody;  ///< blocks, where they are known
};

/// The communication iteration that was found.
struct Period {
  std::string what;         ///< "the program's iteration", "2 of the program's iterations", "3 transfers"; empty = none
  TimeNs ns = 0;            ///< median distance of two begins; 0 = not known
  std::uint64_t count = 0;  ///< how many were seen
};

struct Rhythm {
  Model model = Model::unknown;
  double confidence = 0;  ///< of the shape alone; what was lost is not in it yet, the number of iterations is
  std::string words;      ///< what was found, or why nothing was
  Period period;
  bool iterations_known = false;    ///< false: `unit` counts messages
  std::vector<std::uint32_t> unit;  ///< of each step: the number of its iteration, 0 and up in order of time
};

/// Linear but for sorting.
Rhythm find_rhythm(const std::vector<Step>& steps, const Completeness& there);

}  // namespace wicprof::analyzer
