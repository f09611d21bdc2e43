// Messages of MPI that have been sent, and fit none of the receives that wait.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/stuck/mpi_ranks.h"

namespace wicprof::analyzer {

/// A receive that has not ended, of a sender and a tag that it names; ranks in MPI_COMM_WORLD.
struct Receive {
  std::int32_t by = 0, from = 0, tag = 0;
  CommunicatorId communicator = 0;
};
/// Those for which a rank waits. Without receives of any sender or any tag, which take whatever comes.
std::vector<Receive> receives_of(const MpiJob& job, const RankWait& wait);

/// A message that no call has received.
struct WaitingMessage {
  std::int32_t from = 0, tag = 0;
  std::uint32_t count = 0;    ///< messages of that tag; 0: only the one whose send has not ended
  bool send_is_open = false;  ///< a send has not ended
};
/// Messages to the rank of a receive, on its communicator, from another sender or with another tag, that no call has
/// received; those from its sender first. Empty where one that fits has been sent: then the receive is about to end.
std::vector<WaitingMessage> misfits_of(const StuckView& view, const MpiJob& job, const Receive& receive);
/// "rank 1 has sent rank 2 a message with tag 6 that no call has received"
std::string message_text(const WaitingMessage& message, std::int32_t to);

}  // namespace wicprof::analyzer
