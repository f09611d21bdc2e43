// Who sent what to whom: the signals and waits of a trace as messages between parties.
//
// A signal is a message to every party that it released. A wait whose signal is missing also stands for a message, if
// its site has only one sender; so a message is missing only if both of its sides are. Acknowledgements, which return
// buffer space to a producer, are not communication and do not count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/trace/completeness.h"
#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/matching.h"

namespace wicprof::analyzer {

using PartyIndex = std::uint32_t;

/// The place of a message in the program's data, in bytes, as in wic::Payload.
struct Place {
  std::uint64_t offset = 0, span = 0;
  std::uint32_t bytes = 0;
  std::uint32_t pieces = 0;  ///< 0: only `bytes` is known
  bool regular = false;      ///< pieces of one size at one distance
  std::uint64_t end() const { return offset + span; }
};

/// A side of the communication.
struct Party {
  DeviceId device = kHostDevice;
  std::string name;       ///< for people
  std::uint32_t end = 0;  ///< SiteEnd, where one device plays several
};

struct Message {
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  PartyIndex from = 0, to = 0;
  SiteId site = 0;
  std::uint32_t iteration = 0;   ///< the program's number, with any meaning
  TimeNs at = 0;                 ///< time of sending; where unknown, the end of a wait for the message
  store::OptionalTime received;  ///< the end of the first wait that the message ended
  std::uint32_t sender = kNobody,
                receiver = kNobody;  ///< blocks, of several the first; unknown for host threads
  std::uint32_t source = kNobody;    ///< the block or host thread that signals; unknown if the signal is
  std::uint32_t parts = 1;           ///< signals that count as this one transfer
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  std::uint32_t place = kNowhere;  ///< index into Traffic::places
};

/// Signals that do not count as messages.
struct LeftOut {
  std::uint64_t acknowledgements = 0;  ///< at `acknowledging_sites` sites
  std::size_t acknowledging_sites = 0;
  std::uint64_t bare = 0;     ///< signals without payload, in a program whose other signals have one
  std::uint64_t unheard = 0;  ///< signals without a known receiver
  std::uint64_t within = 0;   ///< messages within one party
};

struct Traffic {
  std::vector<Party> parties;
  std::vector<Message> messages;  ///< in order of time
  std::vector<Place> places;      ///< of messages, where known
  LeftOut left_out;
  Completeness completeness;
  double certainty = 1;          ///< how well the source of the messages shows what the program intended, up to 1
  std::uint64_t lost = 0;        ///< records that the trace counts as lost
  std::uint64_t unmatched = 0;   ///< waits without a recorded signal
  std::uint64_t missing = 0;     ///< gaps in the numbers of the rows
  std::vector<SiteId> doubtful;  ///< sites whose signals may be answers or acknowledgements
  bool one_device = false;       ///< no device talks to another one, so parties are roles of blocks

  /// nullptr if unknown.
  const Place* place_of(const Message& message) const {
    return message.place == Message::kNowhere ? nullptr : &places[message.place];
  }
  std::uint32_t add_place(const Place& place) {
    places.push_back(place);
    return static_cast<std::uint32_t>(places.size() - 1);
  }
};

/// Linear in the rows but for sorting. Needs the lists in order of time.
Traffic gather_traffic(const TraceModel& model, const Matching& matching);

}  // namespace wicprof::analyzer
