// The program's communication in the two dimensions of the WIC paper: the model (who sends to whom, and how often per
// iteration) and the access pattern of the data; for the program, for each pair of parties and for each site.
//
//   traffic.h         signals and waits --> messages between parties
//   rhythm.h          messages in order of time --> repetition, model
//   access_pattern.h  places of messages in the data --> pattern
//
// The answer is independent of names, of the numbers of devices, sites and processes, and of speed: times only give the
// order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/communication/rhythm.h"
#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/matching.h"

namespace wicprof::analyzer {

/// Below this confidence the answer is `unknown`, and the evidence names the most likely one.
inline constexpr double kMinConfidence = 0.5;

struct CommunicationAnswer {
  Model model = Model::unknown;
  Pattern pattern = Pattern::unknown;
  double model_confidence = 0;  ///< kMinConfidence to 1; 0 for unknown
  double pattern_confidence = 0;
  std::vector<std::string> evidence;  ///< sentences with figures; for unknown, the reason
  Period period;                      ///< the communication iteration
};

/// Two parties and the messages between them; forth is the direction of their first message.
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
  std::vector<SiteAnswer> sites;  ///< by id; only sites with messages
};

Classification classify(const TraceModel& model, const Matching& matching);

}  // namespace wicprof::analyzer
