// The program's communication in the WIC paper's two dimensions: the model (who sends to whom, how often in an
// iteration) and the access pattern of what is sent; for the program, for each pair of its parties and for each site.
//
//   traffic.h         signals and waits --> messages between parties
//   rhythm.h          messages in order of time --> what repeats, the model
//   access_pattern.h  places of messages in the data --> the pattern
//
// Nothing depends on names, on numbers of devices, sites or processes, or on how fast anything went: times only give
// the order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/communication/rhythm.h"
#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/matching.h"

namespace wicprof::analyzer {

/// An answer is given from this confidence on; below it, it is `unknown` and the evidence says what it leans to.
inline constexpr double kLeastConfidence = 0.5;

struct CommunicationAnswer {
  Model model = Model::unknown;
  Pattern pattern = Pattern::unknown;
  double model_confidence = 0;  ///< kLeastConfidence to 1; 0 for unknown
  double pattern_confidence = 0;
  std::vector<std::string> evidence;  ///< in words and numbers; for unknown, the reason
  Period period;                      ///< the communication iteration
};

/// Two parties and what goes between them; forth is the way of their first message.
struct PairAnswer : CommunicationAnswer {
  std::string first, second;          ///< as options name devices ("cpu", "simt:0"), or roles of blocks
  std::uint64_t forth = 0, back = 0;  ///< messages
};

struct SiteAnswer : CommunicationAnswer {
  SiteId site = 0;
  std::string name;
  std::uint64_t messages = 0;
};

struct Classification : CommunicationAnswer {
  std::vector<PairAnswer> pairs;  ///< most messages first
  std::vector<SiteAnswer> sites;  ///< by id; those with messages
};

Classification classify(const TraceModel& model, const Matching& matching);

}  // namespace wicprof::analyzer
