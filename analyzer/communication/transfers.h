// Messages that belong together as one transfer, where they do not say what they carry.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analyzer/communication/traffic.h"

namespace wicprof::analyzer {

/// What a message was made from.
struct Origin {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t signal = kNone;        ///< index into TraceModel::signals; none where only a wait is known
  std::optional<std::uint32_t> value;  ///< a host's wait has none
};

/// Words that are set to one value for one iteration are parts of one transfer (a flag for each block, say), unless one
/// waiter waits several times there. `origins` are the messages'; `receiver_of` tells the party that an edge released.
/// The answer is in order of time. Linear where messages come nearly in that order.
std::vector<Message> merge_parts(const TraceModel& model, const Matching& matching,
                                 const std::vector<Message>& messages, std::vector<Origin> origins,
                                 const std::function<PartyIndex(const WakeEdge&)>& receiver_of);

}  // namespace wicprof::analyzer
