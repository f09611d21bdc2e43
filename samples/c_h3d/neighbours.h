// A rank's view of the ring: its own outbox, its neighbours' outboxes, and the wait sites of all three ranks.
#pragma once

#include "c_h3d/outbox.h"
#include "wic/group.h"
#include "wic/payload.h"

namespace sample::h3d {

/// The sites at which one rank waits, by class of message.
struct Sites {
  wic::SiteId by_class[kMessageClasses];

  WIC_DEVICE wic::SiteId of(std::uint32_t message) const {
    return by_class[static_cast<std::uint32_t>(class_of(message))];
  }
};

struct Neighbour {
  Outbox outbox;
  Sites sites;  ///< where the neighbour waits
};

/// Message m is the one this rank sends in direction m; the message received from direction m is the neighbour's
/// opposite message. In a ring of two, both neighbours are the same rank.
struct Neighbours {
  Outbox mine;
  Sites sites;
  Neighbour left, right;
  /// This rank's position in the domain, for the messages' payload descriptions in the trace.
  std::uint32_t begin_x = 0, nx = 0, length_x = 0;

  WIC_DEVICE const Neighbour& to(std::uint32_t message) const { return side_of(message) == 0 ? left : right; }

  WIC_DEVICE Cell* outgoing(std::uint32_t message, std::uint32_t iteration) const {
    return mine.buffer(message, iteration);
  }
  WIC_DEVICE std::uint32_t* outgoing_word(std::uint32_t message, std::uint32_t iteration) const {
    return &mine.flag(message, iteration)->word;
  }
  /// The positions of an outgoing message's cells in the whole domain, x running fastest. A message is one layer across
  /// x, so each cell is a separate piece.
  WIC_DEVICE wic::Payload outgoing_payload(std::uint32_t message) const {
    const Direction d = direction_of(message);
    const std::uint64_t n = mine.n, row = length_x * sizeof(Cell), plane = n * row;
    const std::uint64_t first =
        ((d.z > 0 ? n - 1 : 0) * n + (d.y > 0 ? n - 1 : 0)) * row + (begin_x + (d.x > 0 ? nx - 1 : 0)) * sizeof(Cell);
    const bool along_y = d.y == 0, along_z = d.z == 0;
    const std::uint64_t cells = (along_y ? n : 1) * (along_z ? n : 1);
    return wic::Payload::strided(first, sizeof(Cell), along_y ? row : plane, static_cast<std::uint32_t>(cells));
  }
  /// The site where the receiver of an outgoing message waits.
  WIC_DEVICE wic::SiteId outgoing_site(std::uint32_t message) const { return to(message).sites.of(message); }

  WIC_DEVICE const Cell* incoming(std::uint32_t message, std::uint32_t iteration) const {
    return to(message).outbox.buffer(opposite_of(message), iteration);
  }
  WIC_DEVICE const std::uint32_t* incoming_word(std::uint32_t message, std::uint32_t iteration) const {
    return &to(message).outbox.flag(opposite_of(message), iteration)->word;
  }
};

}  // namespace sample::h3d
