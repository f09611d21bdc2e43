// Who sent what to whom: the signals and waits of a trace as messages between parties, with what is known of each.
//
// A signal is a message to everybody whom it released. A wait whose signal is missing stands for a message as well,
// where its site has one sender only: so a message is missing only when both of its sides are. Acknowledgements that
// give room back to a producer are no communication and are left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/trace/completeness.h"
#include "analyzer/trace/trace_model.h"
#include "analyzer/waits/matching.h"

namespace wicprof::analyzer {

using PartyIndex = std::uint32_t;

/// Where in the program's data a message lies, in bytes; as wic::Payload has it.
struct Place {
  std::uint64_t offset = 0, span = 0;
  std::uint32_t bytes = 0;
  std::uint32_t pieces = 0;  ///< 0 = the amount is known, the place is not
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
  std::uint32_t iteration = 0;   ///< as the program counts it, which may be anything
  TimeNs at = 0;                 ///< when it was sent; when a wait for it ended, where that is not known
  store::OptionalTime received;  ///< the end of the first wait that it ended
  std::uint32_t sender = kNobody,
                receiver = kNobody;  ///< blocks, or the first one of several; not known of host threads
  std::uint32_t parts = 1;           ///< signals that are taken as this one transfer
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  std::uint32_t place = kNowhere;  ///< index into Traffic::places
};

/// What was left out of the messages, for the evidence.
struct LeftOut {
  std::uint64_t room = 0;     ///< acknowledgements, at `room_sites` sites
  std::uint64_t bare = 0;     ///< signals that announce nothing, in a program whose others announce data
  std::uint64_t unheard = 0;  ///< signals of which no receiver is known
  std::uint64_t within = 0;   ///< messages within one party
  std::size_t room_sites = 0;
};

struct Traffic {
  std::vector<Party> parties;
  std::vector<Message> messages;  ///< in order of time
  std::vector<Place> places;      ///< of messages, as far as known
  LeftOut left_out;
  Completeness there;
  double sure = 1;              ///< how much what the messages come from says of what the program meant
  std::uint64_t lost = 0;       ///< records that the trace counts as lost
  std::uint64_t unmatched = 0;  ///< waits without a recorded signal
  std::uint64_t missing = 0;    ///< rows that are missing between others
  bool doubtful = false;        ///< some signals are answers or acknowledgements, and nothing tells which
  bool one_device = false;      ///< parties are roles of blocks, since nobody talks to another device

  /// nullptr where it is not known.
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
