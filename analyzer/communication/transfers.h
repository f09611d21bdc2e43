// Groups messages without payloads into transfers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analyzer/communication/traffic.h"

namespace wicprof::analyzer {

/// The record behind a message.
struct Origin {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t signal = kNone;        ///< index into TraceModel::signals; kNone if only a wait is known
  std::optional<std::uint32_t> value;  ///< empty for a host thread's wait
};

/// Words that are set to one value in one iteration are parts of one transfer (for example one flag per block), unless
/// one waiter waits several times there. `origins` has one entry per message; `receiver_of` returns the party that an
/// edge releases. The result is in order of time. Linear if the messages are nearly in that order.
std::vector<Message> merge_parts(const TraceModel& model, const Matching& matching, std::vector<Message> messages,
                                 std::vector<Origin> origins,
                                 const std::function<PartyIndex(const WakeEdge&)>& receiver_of);

}  // namespace wicprof::analyzer
